"""Styles for a student's page, beside the style sheet of all pages."""

from __future__ import annotations

_SHEET = """
.hero.mark{align-items:start;padding:var(--s5);margin:var(--s4) 0 var(--s5)}
@media(min-width:861px){.hero.mark{grid-template-columns:minmax(0,300px) minmax(0,1fr)}}
.mark .big b.n{color:var(--ink);font-variant-numeric:tabular-nums}.mark .big{color:var(--ink-2)}
.mark .bar{display:flex;height:8px}.mark>div>.bar{height:10px}.mark>div>.sub{margin-top:10px}
.pts{list-style:none;margin:0;padding:0;display:grid;gap:var(--s4)}
.pts li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:2px var(--s3)}
.pts .bar,.pts li>.sub{grid-column:1/-1}.pn{font-weight:600}
.call{margin:var(--s4) 0}section>.box+.box{margin-top:var(--s3)}
main>section{margin-top:var(--s6)}.file{margin:var(--s4) 0 var(--s2)}
.fold{margin-top:var(--s4)}.fold .in{padding:0 var(--s5) var(--s5)}
.fold .in>:first-child{margin-top:0}.fold ul{padding-left:1.2em}
.sec-h .counts{margin:0}section>.lab{margin:var(--s4) 0 4px}
.dots{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s4);list-style:none;
padding:var(--s3) var(--s5);font-size:var(--t-sm)}
.fold .dots{padding:0;margin:var(--s2) 0}.fold h3{margin-top:var(--s4)}
.end{margin-top:var(--s6)}
@media print{.hero.mark{grid-template-columns:3fr 4fr;padding:14px}.pts{gap:8px}
.file+ul{columns:2}.dots{break-inside:avoid}}
@media(max-width:520px){.hero.mark{padding:var(--s4)}.fold .in{padding:0 var(--s4) var(--s4)}}
"""

STYLE = _SHEET.replace("\n", "")
