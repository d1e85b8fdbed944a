"""The one style sheet, put into every page, for pages must open from a mail attachment.

No verdict is told by color alone: each has its sign and its word. Colors keep a contrast of at
least 4.5 to 1 in both schemes.
"""

from __future__ import annotations

_SHEET = """
:root{color-scheme:light dark;--bg:#fff;--soft:#f4f4f1;--ink:#1c1b18;--dim:#5f5d57;--line:#d9d7d0;
--link:#0b57b0;--bad:#a61b1b;--badbg:#fdeeec;--good:#17612f;--odd:#6a3d9a;--warn:#7a4f00;--warnbg:#fff4dc;
--mark:#ffd9d2}
@media(prefers-color-scheme:dark){:root{--bg:#16181b;--soft:#202327;--ink:#e8e6e1;--dim:#a5a39d;
--line:#3a3e44;--link:#8ab8ff;--bad:#ff9d92;--badbg:#34201f;--good:#84d49c;--odd:#cfa9f5;--warn:#f0c46b;
--warnbg:#332a17;--mark:#7a2a22}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;padding:1rem;max-width:72rem;background:var(--bg);color:var(--ink);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}
h1{font-size:1.4rem;line-height:1.25;margin:.2em 0 .6em}
h2{font-size:1.15rem;margin:1.8em 0 .6em}
h3{font-size:1rem;margin:0;display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:baseline}
h4{font-size:.85rem;margin:0 0 .2rem;color:var(--dim);font-weight:600}
nav{font-size:.9rem;display:flex;gap:1rem;flex-wrap:wrap}
code,pre{font:.88rem/1.45 ui-monospace,"DejaVu Sans Mono",monospace}
pre{margin:0;padding:.5rem .7rem;background:var(--soft);border-radius:.4rem;white-space:pre-wrap}
mark{background:var(--mark);color:inherit;border-bottom:2px solid var(--bad);border-radius:.15rem}
small,.dim{color:var(--dim);font-size:.85rem;font-weight:400}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0;font-size:.9rem}
dt{color:var(--dim)}dd{margin:0}
.v{font-weight:600;white-space:nowrap}
.FAILED,.errors{color:var(--bad)}.PASSED{color:var(--good)}.failed,.ignored{color:var(--dim)}
.passed{color:var(--good);font-weight:400}.notrun,.notjudged{color:var(--warn)}.flaky{color:var(--odd)}
.sum{font-size:1.05rem;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.8rem 0;padding:0;
list-style:none}
.box{border:1px solid var(--line);border-left:.35rem solid var(--bad);border-radius:.4rem;
padding:.7rem .9rem;margin:.8rem 0;background:var(--badbg)}
.box.warn{border-left-color:var(--warn);background:var(--warnbg)}
.box h3{margin-bottom:.3rem}.box ul{margin:.3rem 0;padding-left:1.2rem}.box p{margin:.3rem 0}
.box pre{background:var(--bg)}
.card{border:1px solid var(--line);border-left:.35rem solid var(--line);border-radius:.4rem;
padding:.8rem .9rem;margin:.9rem 0;break-inside:avoid}
.is-FAILED{border-left-color:var(--bad)}.is-PASSED{border-left-color:var(--good)}
.is-flaky{border-left-color:var(--odd)}
.card>p,.card>pre{margin:.4rem 0}
.row{display:flex;flex-wrap:wrap;gap:.8rem 1.2rem;margin-top:.6rem;align-items:flex-start}
.both{flex:1 1 18rem;min-width:0;display:grid;gap:.6rem 1rem;grid-template-columns:1fr 1fr}
.both div{min-width:0}.both pre,.box pre{max-height:24rem;overflow:auto}
.both p{grid-column:1/-1;margin:0}
figure{margin:0;max-width:100%}
figcaption{font-size:.85rem;color:var(--dim);width:0;min-width:100%;margin-top:.2rem}
svg{max-width:100%;height:auto;display:block}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{padding:.3rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-size:.8rem;color:var(--dim)}
.n th+th,.n td+td{text-align:right;font-variant-numeric:tabular-nums}
.t td:first-child,.t th:first-child{text-align:right}.t code{white-space:pre-wrap}
tfoot td{font-weight:600}
.log{line-height:1.45}.log b{font-weight:700}.log i{color:var(--dim);font-style:normal}
.log .e{color:var(--bad);font-weight:700}.log :target{outline:2px solid var(--link);
outline-offset:2px}:target{scroll-margin-top:1rem}
footer{margin-top:2rem;padding-top:.5rem;border-top:1px solid var(--line);font-size:.8rem;
color:var(--dim)}
@media(max-width:44rem){
.both{grid-template-columns:1fr}
table,tbody,tfoot,tr,td{display:block}thead{display:none}
tr{border-bottom:1px solid var(--line);padding:.45rem 0}
td,.n td+td,.t td:first-child{border:0;padding:.05rem 0;text-align:left}
td[data-l]::before{content:attr(data-l) " ";color:var(--dim);font-size:.8rem}
.n td+td{display:inline-block;margin-right:.9rem}.n td.z{display:none}
.t td{display:inline;margin-right:.7rem}.t td:nth-child(n+4){display:block}
}
@media print{.both pre,.box pre{max-height:none}
body{max-width:none;font-size:11pt}nav{display:none}}
"""

STYLE = _SHEET.replace("\n", "")
