"""What the pages of grading add to the style sheet of all pages."""

from __future__ import annotations

_SHEET = """
.file{margin-top:1.6rem}dl+h3,ul+h3{margin-top:1rem}
.why{margin:.3rem 0 0;grid-column:1/-1}
.total{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;align-items:baseline;margin:.4rem 0 1rem}
.total b{font-size:2.6rem;line-height:1.1;font-variant-numeric:tabular-nums}
.total b small{font-size:1.2rem}
.facts{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0;padding:0;list-style:none}
.facts li{flex:1 1 7rem;background:var(--sunk);border-radius:.4rem;padding:.5rem .8rem;
color:var(--ink-2);font-size:.85rem}
.facts b{display:block;color:var(--ink);font-size:1.5rem;line-height:1.2;
font-variant-numeric:tabular-nums}
.facts .hot b{color:var(--fail)}
td.num,th.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.place{white-space:nowrap}
@media(min-width:44.01rem){td:first-child,th:first-child{min-width:8rem}}
td>svg.plot{margin-top:.35em}
.box.unsafe h2{color:var(--fail)}details{margin:var(--s3) 0}
.dots{display:flex;flex-wrap:wrap;gap:.3rem;margin:.6rem 0;padding:0;list-style:none}
.dots li{border:1px solid var(--line);border-radius:.3rem;padding:0 .45rem;font-size:.85rem}
.wide{overflow-x:auto}
.wide svg{max-width:none}
svg.plot{color:var(--ink-2);font:11px system-ui,sans-serif}
.plot text{fill:currentColor}.plot .ink{fill:var(--ink)}
.plot .axis{stroke:var(--line);fill:none}.plot .zero{stroke:var(--ink-2);fill:none}
.plot .amount{fill:var(--link)}.plot .rest{fill:var(--line)}
.plot .mid{stroke:var(--fail);stroke-width:2;fill:none}
.plot .span{stroke:var(--ink-2);stroke-width:2;fill:none}.plot .pt{fill:var(--link)}
.plot .hit{fill:transparent}.plot .hit:hover{fill:var(--link);fill-opacity:.25}
.m-passed{stroke:#9ec9ae}.m-failed{stroke:#a61b1b}.m-lost{stroke:#dda59d}.m-unsure{stroke:#8d6cb8}
@media(prefers-color-scheme:dark){.m-passed{stroke:#2c5a3d}.m-failed{stroke:#ff9d92}
.m-lost{stroke:#8c4640}.m-unsure{stroke:#cfa9f5}}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;
font-size:.85rem;color:var(--ink-2);margin:.4rem 0}
.key svg{display:inline;vertical-align:middle}
@media(max-width:860px){td.num{display:inline-block;margin-right:.9rem}}
@media print{.wide{overflow:visible}.wide svg{max-width:100%}
.m-passed{stroke:#cfe4d6}}
"""

STYLE = _SHEET.replace("\n", "")
