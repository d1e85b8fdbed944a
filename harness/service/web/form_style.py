"""What pages of the service need beside the reports' style: forms."""

from __future__ import annotations

OWN_STYLE = """
form.card,.panel{padding:var(--s4) var(--s5)}.panel{background:var(--card);
border:1px solid var(--line);border-radius:var(--r3);box-shadow:var(--shadow)}
.panel>*+*{margin-top:var(--s2)}.field{display:grid;gap:var(--s1);margin:0 0 var(--s3)}
.field label{font-weight:600;font-size:var(--t-sm)}
.field input,.field select,.field textarea{font:inherit;color:inherit;background:var(--bg);
border:1px solid var(--line-2);border-radius:var(--r1);padding:8px 10px;width:100%;max-width:34em}
form .btn,button.main{min-height:40px}.inline{display:inline}
.tbl{width:100%;border-collapse:collapse}.tbl th,.tbl td{padding:8px 12px;text-align:left;
border-top:1px solid var(--line);vertical-align:top}.tbl th{font-size:var(--t-sm);border-top:0}
.rights{border:0;padding:0;margin:0 0 var(--s3)}.rights label{display:flex;gap:var(--s2);
align-items:center;min-height:28px}.rights legend{font-weight:600;font-size:var(--t-sm)}
.rights legend{padding:0}.rights input{flex:none;margin:0}
.staff{display:grid;gap:var(--s4)}.staff>*{margin:0}.staff h3{margin-bottom:var(--s2)}
.drawn{display:grid;gap:var(--s5);margin-bottom:var(--s4);
grid-template-columns:repeat(auto-fit,minmax(min(300px,100%),1fr))}
.words{white-space:pre-wrap;overflow-wrap:anywhere}.said+.said{border-top:1px solid var(--line)}
.scroll{overflow-x:auto}.served{display:grid;gap:var(--s5);
grid-template-columns:minmax(0,1fr)}.served li a,.served td a,.served p>a{display:inline-block;
min-height:24px}.served li{margin:var(--s1) 0;overflow-wrap:anywhere}
input[type=checkbox]{width:24px;height:24px}
.tick{display:flex;gap:var(--s2);align-items:center;min-height:28px;margin:0 0 var(--s3)}
.untaken{padding:var(--s3) var(--s4);border:1px solid var(--fail-s);
border-radius:var(--r2);background:var(--fail-t);scroll-margin:80px}
form .untaken,form.card>p{margin-bottom:var(--s3)}
nav a{display:inline-block;min-height:24px;min-width:24px}
.trail a{overflow:hidden;text-overflow:ellipsis}
#problem:empty,#interrupted:empty{display:none}
@media screen and (max-width:860px){.tbl td:empty{display:none}.tbl td{border:0;padding:2px 0}}
.over{outline:3px dashed var(--accent);outline-offset:3px}#dropped:empty{display:none}
.position{display:grid;gap:var(--s4);grid-template-columns:minmax(0,260px) minmax(0,1fr)}
.position>div>*+*{margin-top:var(--s2)}.position .board{max-width:260px}
article.panel summary{padding-left:0}.setup{margin:var(--s2) 0;max-height:16em;overflow:auto}
article.panel .inline{display:inline-block;margin-top:var(--s2)}
form.card ul{margin-bottom:var(--s3)}
.tbl td input:not([type=checkbox]){font:inherit;color:inherit;background:var(--bg);max-width:12em;
border:1px solid var(--line-2);border-radius:var(--r1);padding:4px 8px;min-height:32px}
form.card h2{margin-bottom:var(--s2)}form.card h2+p{margin-bottom:var(--s3)}
@media(max-width:520px){.head{position:static}.head>div{flex-wrap:wrap;justify-content:flex-end}
.head .trail{order:1;flex:1 0 100%;flex-wrap:wrap;padding-bottom:var(--s2)}.trail>*{max-width:100%}
.position{grid-template-columns:minmax(0,1fr)}.who{max-width:6em;
overflow:hidden;text-overflow:ellipsis;white-space:nowrap}}
"""
