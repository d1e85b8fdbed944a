r"""The one style sheet, put into every page, for pages must open from a mail attachment.

Tokens first (space, type, surfaces, verdicts, the board; light, dark and print), then the parts
that pages share; what only cards and boards need is left out of pages without them. No verdict is
told by color alone: each has its sign and its word. Text keeps a contrast of at least 4.5 to 1.
All is ASCII: a page without other signs is written faster.
"""

from __future__ import annotations

_BASE = r"""
:root{color-scheme:light dark;--s1:4px;--s2:8px;--s3:12px;--s4:16px;--s5:24px;--s6:32px;
--s7:48px;--sans:Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",
Arial,sans-serif;--mono:"JetBrains Mono",ui-monospace,SFMono-Regular,Menlo,Consolas,
"Noto Sans Mono",monospace;--t-xs:12px;--t-sm:13px;--t-md:15px;--t-lg:18px;--t-xl:24px;
--t-2xl:40px;--bg:#f7f6f3;--card:#fff;--sunk:#f2f0ec;--line:#e5e1da;--line-2:#cfc9bf;
--ink:#1c1b19;--ink-2:#57534c;--ink-3:#6b665e;--link:#1d4fbf;--focus:#1d4fbf;--accent:#3a5fc8;
--fail:#b3261e;--fail-t:#fdecea;--fail-s:#d4382e;--pass:#146c3c;--pass-t:#e6f4eb;
--pass-s:#3f9e68;--warn:#805300;--warn-t:#fdf3dc;--warn-s:#c98a12;--mute-s:#a9a39a;
--info-t:#eaeffc;--wood-1:#ecc98f;--wood-2:#dcb273;--grain:#b98a48;--grid:#5b4320;
--coord:#513a18;--mark-ok:#0f7a3d;--mark-no:#c8281e;--mark-q:#1659d6;--r1:6px;--r2:10px;
--r3:14px;--shadow:0 1px 2px #1c1b190d,0 4px 16px #1c1b190a}
@media(prefers-color-scheme:dark){:root{--bg:#131416;--card:#1b1d20;--sunk:#232629;
--line:#2e3135;--line-2:#464a50;--ink:#eceae6;--ink-2:#b9b5ad;--ink-3:#a09c94;--link:#93b4ff;
--focus:#93b4ff;--accent:#7f9ff0;--fail:#ff9a90;--fail-t:#3a1c1a;--fail-s:#d03c32;
--pass:#7fd6a2;--pass-t:#16301f;--pass-s:#3f9e68;--warn:#f0c268;--warn-t:#33280f;
--warn-s:#c08a22;--mute-s:#6d7178;--info-t:#1d2740;--wood-1:#c79a5b;--wood-2:#b28347;
--grain:#8a6128;--grid:#382612;--coord:#2b1c0b;--shadow:none}}*{box-sizing:border-box}
html{scroll-padding-top:72px;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:var(--t-md)/1.55 var(--sans);
font-feature-settings:"tnum","cv05"}h1,h2,h3,p,ul,ol,dl,figure{margin:0}
h1{font-size:var(--t-xl);line-height:1.25;letter-spacing:-.018em;font-weight:680;
overflow-wrap:anywhere}h2{font-size:var(--t-lg);line-height:1.35;letter-spacing:-.012em;
font-weight:650}h3{font-size:var(--t-md);line-height:1.4;font-weight:620}a{color:var(--link);
text-underline-offset:3px;text-decoration-thickness:1px}a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px;border-radius:4px}
code,kbd,pre,.mono{font-family:var(--mono);font-size:.92em;font-feature-settings:"zero",
"calt" 0}code{background:var(--sunk);border-radius:4px;padding:1px 5px;overflow-wrap:anywhere}
kbd{border:1px solid var(--line-2);border-bottom-width:2px;border-radius:4px;padding:0 5px;
font-size:var(--t-xs);background:var(--card)}.sub{color:var(--ink-2);font-size:var(--t-sm)}
.num{text-align:right;font-variant-numeric:tabular-nums}
.nw{white-space:nowrap}.vh{position:absolute;width:1px;height:1px;overflow:hidden;
clip-path:inset(50%);white-space:nowrap}.skip{position:absolute;left:-999px}
.skip:focus{left:8px;top:8px;background:var(--card);padding:8px 12px;z-index:9}
html:not(.js) .js-only,.po{display:none!important}[hidden]{display:none!important}
.top{position:sticky;top:0;z-index:5;background:color-mix(in srgb,var(--bg) 88%,transparent);
backdrop-filter:blur(10px);border-bottom:1px solid var(--line)}.top>div{max-width:1280px;
margin:auto;padding:0 var(--s5);min-height:52px;display:flex;align-items:center;gap:var(--s4)}
.logo{width:22px;height:22px;flex:none}.crumbs{display:flex;gap:var(--s2);align-items:center;
min-width:0;font-size:var(--t-sm);color:var(--ink-2);flex:1;white-space:nowrap;overflow:hidden}
.crumbs a{color:inherit}.crumbs b{color:var(--ink);font-weight:600;overflow:hidden;
text-overflow:ellipsis}.page{max-width:1280px;margin:auto;padding:var(--s5) var(--s5) var(--s7)}
.stack>*+*{margin-top:var(--s4)}section+section{margin-top:var(--s6)}
section>h2+*,.sec-h+*,.po+*{margin-top:var(--s3)}.sec-h{display:flex;flex-wrap:wrap;
gap:var(--s1) var(--s3);align-items:baseline}.foot{border-top:1px solid var(--line);
margin-top:var(--s7);padding-top:var(--s4);color:var(--ink-2);font-size:var(--t-sm);
display:flex;gap:var(--s2) var(--s5);flex-wrap:wrap}.card{background:var(--card);
border:1px solid var(--line);border-radius:var(--r3);box-shadow:var(--shadow)}
.pad{padding:var(--s4) var(--s5)}.pill{display:inline-flex;align-items:center;gap:6px;
border-radius:99px;padding:2px 10px 2px 8px;font-size:var(--t-sm);font-weight:600;
white-space:nowrap;background:var(--sunk);color:var(--ink-2)}.pill.f{background:var(--fail-t);
color:var(--fail)}.pill.p{background:var(--pass-t);color:var(--pass)}
.pill.w{background:var(--warn-t);color:var(--warn)}
.btn{font:inherit;font-size:var(--t-sm);font-weight:550;color:var(--ink);background:var(--card);
border:1px solid var(--line-2);border-radius:var(--r1);padding:5px 11px;min-height:32px;
cursor:pointer;display:inline-flex;align-items:center;gap:6px;text-decoration:none;
white-space:nowrap}.btn:hover{background:var(--sunk)}
.btn[aria-pressed=true]{background:var(--ink);color:var(--bg);border-color:var(--ink)}
.btns{display:flex;flex-wrap:wrap;gap:var(--s2)}.dot{display:inline-grid;place-items:center;
width:16px;height:16px;border-radius:50%;flex:none;font:700 10px/1 var(--sans);color:#fff;
background:var(--mute-s)}.dot.f{background:var(--fail-s)}.dot.f:before{content:"\2715"}
.dot.p{background:none;color:var(--pass)}.dot.p:before{content:"\2713";font-size:13px}
.dot.x{background:none;border:2px solid var(--mute-s)}
.dot.u{background:var(--warn-t);color:var(--warn);box-shadow:inset 0 0 0 1px var(--warn-s)}
.dot.u:before{content:"\2191"}.bar{display:flex;gap:2px;height:8px;border-radius:4px;
overflow:hidden;background:var(--sunk);min-width:48px}.bar i{display:block}
.bar .f{background:var(--fail-s)}.bar .p{background:var(--pass-s)}
.bar .n{background:repeating-linear-gradient(45deg,var(--mute-s) 0 3px,transparent 3px 6px)}
.bar .a{background:var(--accent)}.call{border-radius:var(--r3);padding:var(--s4) var(--s5);
background:var(--info-t);border:1px solid color-mix(in srgb,var(--accent) 30%,transparent)}
.call h2,.call h3{margin-bottom:2px}details>summary{cursor:pointer;list-style:none;display:flex;
align-items:center;gap:var(--s2);padding:var(--s3) var(--s5);font-weight:600}
details>summary::-webkit-details-marker{display:none}
details>summary:before{content:"";width:7px;height:7px;border:solid var(--ink-2);
border-width:0 2px 2px 0;transform:rotate(-45deg);margin-right:4px;flex:none;
transition:transform .12s}details[open]>summary:before{transform:rotate(45deg)}
summary .sub{font-weight:400}.inp{font:inherit;font-size:var(--t-sm);color:var(--ink);
background:var(--card);border:1px solid var(--line-2);border-radius:var(--r1);padding:6px 11px;
min-height:36px;width:260px;max-width:100%}.inp::placeholder{color:var(--ink-3);opacity:1}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-size:var(--t-xs);font-weight:600;color:var(--ink-2);white-space:nowrap}
th,td{padding:9px var(--s3);border-bottom:1px solid var(--line);vertical-align:middle}
th.num{text-align:right}tbody tr:last-child>*{border-bottom:0}
tbody tr:hover{background:color-mix(in srgb,var(--sunk) 60%,transparent)}
th button{font:inherit;color:inherit;background:none;border:0;padding:4px 0;cursor:pointer}
th button:after{content:"\2195";opacity:.55;margin-left:4px}
th[aria-sort=ascending] button:after{content:"\2191";opacity:1}
th[aria-sort=descending] button:after{content:"\2193";opacity:1}
.scroll{overflow-x:auto;border-radius:var(--r3)}.ev dt,.lab{font-size:var(--t-xs);
font-weight:600;color:var(--ink-2);display:flex;gap:6px;align-items:center}
body{overflow-wrap:anywhere}nav.parts{display:flex;gap:var(--s3);flex-wrap:wrap;
margin:var(--s4) 0;font-size:var(--t-sm)}pre{margin:0;white-space:pre-wrap;
overflow-wrap:anywhere}mark{color:inherit;background:color-mix(in srgb,currentColor 10%,
transparent);border-bottom:2px solid;border-radius:2px}dl.facts{display:grid;
grid-template-columns:max-content minmax(0,1fr);gap:2px var(--s4);font-size:var(--t-sm)}
h1+dl.facts{margin-top:var(--s2)}dl.facts dt{color:var(--ink-2)}
dl.facts dd{margin:0;overflow-wrap:anywhere}
.v{font-weight:600;white-space:nowrap}.v.FAILED,.v.errors{color:var(--fail)}
.v.passed,.v.PASSED{color:var(--pass)}.v.failed,.v.ignored{color:var(--ink-2)}
.v.notrun,.v.notjudged,.v.flaky{color:var(--warn)}.sum{margin:var(--s4) 0}
.big{font-size:var(--t-lg);margin-bottom:var(--s2)}
.big b{font-size:var(--t-2xl);line-height:1;font-weight:690;letter-spacing:-.03em;
color:var(--fail)}.big b.p{color:var(--pass)}.bar.big-bar{height:12px;margin-bottom:10px}
.bar .w{background:var(--warn-s)}.bar .x{background:var(--mute-s)}
.counts{display:flex;flex-wrap:wrap;gap:4px var(--s4);list-style:none;padding:0;
font-size:var(--t-sm);color:var(--ink-2)}.box{border-radius:var(--r3);
padding:var(--s4) var(--s5);margin:var(--s4) 0;background:var(--fail-t);
border:1px solid color-mix(in srgb,var(--fail-s) 35%,transparent);overflow-wrap:anywhere}
.box.warn,.box.unsafe{background:var(--warn-t);border-color:color-mix(in srgb,var(--warn-s) 45%,
transparent)}.box.unsafe{background:var(--fail-t);border-color:var(--fail-s)}
.box.odd{background:var(--info-t);border-color:color-mix(in srgb,var(--accent) 30%,transparent)}
.box.calm{background:var(--pass-t);border-color:color-mix(in srgb,var(--pass-s) 35%,
transparent)}.box h2{font-size:var(--t-md);margin-bottom:var(--s1)}.box ul{padding-left:1.2em}
.box>*+*{margin-top:var(--s1)}.box pre{background:var(--card);border-radius:var(--r1);
padding:var(--s2) var(--s3);max-height:24rem;overflow:auto;font-size:var(--t-sm)}
.box code{background:color-mix(in srgb,var(--card) 70%,transparent)}
.lay{display:grid;grid-template-columns:248px minmax(0,1fr);gap:var(--s6);align-items:start}
.tools{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s3);align-items:center;
margin:var(--s3) 0}.t code,.ft code{background:none;padding:0}.t td,.t th{padding:6px var(--s3);
vertical-align:top}.t code{white-space:pre-wrap}.t td:first-child,
.t th:first-child{text-align:right}.t td+td{overflow-wrap:anywhere}
.fn{display:flex;gap:10px;align-items:center;text-decoration:none;color:var(--ink);
padding:3px 0;overflow-wrap:anywhere}.fn b{font-weight:570}
.fn:hover b{text-decoration:underline}.fn>span+span{min-width:0}
.tb2{display:grid;grid-template-columns:minmax(80px,200px) auto;gap:12px;align-items:center;
justify-content:start}.fc{color:var(--fail)}
.fl>summary{padding:3px 0;font-weight:400}.fl ul{list-style:none;padding:6px 0 0 20px;columns:2;
max-width:640px}.fl li a{display:inline-block;padding:3px 0}.fl li{break-inside:avoid;
overflow-wrap:anywhere}.hero{display:grid;
grid-template-columns:minmax(0,
1fr) minmax(0,440px);gap:var(--s5) var(--s7);align-items:end;margin-bottom:var(--s5)}
.hero .sub{overflow-wrap:anywhere}.hero .sum{margin:0}
.gps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(320px,100%),1fr));
gap:var(--s4)}.gp{padding:var(--s4);display:flex;flex-direction:column;gap:var(--s2);
min-width:0;overflow-wrap:anywhere}.gp .cn{display:flex;gap:8px;align-items:baseline}
.gp .cn b{font-size:28px;line-height:1;font-weight:680;letter-spacing:-.02em;color:var(--fail)}
.gp pre{font-size:var(--t-sm);padding:var(--s2) var(--s3);border-radius:var(--r1);
max-height:9rem;overflow:auto}.gp .exg{white-space:normal;align-self:auto}
.since{margin-top:var(--s2)}.tl{display:inline-block;height:4px;border-radius:2px;
background:var(--mute-s);margin-right:10px;vertical-align:middle;print-color-adjust:exact}.okc{
background:var(--pass-t);color:var(--pass)}
.noc{background:var(--fail-t);color:var(--fail)}.log{line-height:1.5;font-size:var(--t-sm);
padding:var(--s4);background:var(--card);border:1px solid var(--line);border-radius:var(--r2);
margin:var(--s3) 0}.log b,.log a{font-weight:700}.log i{color:var(--ink-2);font-style:normal}
.log .r{color:var(--link)}.log .e{color:var(--fail);font-weight:700}.log a{color:inherit}
.log[data-show=c] .r,.log[data-show=r] .c{display:none}
.log .f{color:var(--fail)}.log .p{color:var(--pass)}
.log :target{outline:2px solid var(--focus);outline-offset:2px}
:target{scroll-margin-top:76px}main{min-width:0}main>h2{margin:var(--s6) 0 var(--s3)}
main:focus{outline:none}.toc{position:sticky;top:76px;max-height:calc(100vh - 92px);
overflow:auto;display:grid;gap:var(--s5);font-size:var(--t-sm);padding:2px}
.toc ul{list-style:none;padding:0;margin-top:6px}.toc li a{display:flex;gap:10px;
padding:7px 8px;margin:0;border-radius:8px;text-decoration:none;color:var(--ink);
line-height:1.35}.toc li a:hover{background:var(--sunk)}.toc li a>span+span{min-width:0;
overflow-wrap:anywhere}.toc li .dot{margin-top:1px}.toc b{font-weight:550;display:block}
.toc small{color:var(--ink-2);font-size:12px;overflow-wrap:anywhere}
.grid{display:flex;flex-wrap:wrap;gap:2px;margin-top:8px;font-size:12px;line-height:1}
.grid>*{width:24px;height:24px;display:grid;place-items:center;border-radius:5px;
background:var(--card);border:1px solid var(--line);font-style:normal;text-decoration:none;
color:var(--pass)}.grid .f{background:var(--fail-s);border-color:var(--fail-s);color:#fff}
.grid .x{color:var(--ink-2)}.grid .w{background:var(--warn-t);border-color:var(--warn-s);
color:var(--warn)}.plot-t{width:100%;height:36px;display:block;margin-top:6px}
.say .plot-t{height:24px}
.cmd{display:flex;align-items:flex-start;gap:var(--s2);background:var(--sunk);
border-radius:var(--r2);padding:8px 8px 8px 14px}.cmd pre{margin:0;flex:1;min-width:0;
white-space:pre-wrap;overflow-wrap:anywhere;font-size:var(--t-sm);line-height:1.6;padding:4px 0}
.cmd pre b{color:var(--ink-3);font-weight:400;user-select:none}
.tf{stroke:var(--fail-s)}.tp{stroke:var(--mute-s)}
"""

_CARDS = r"""
.ev{display:grid;grid-template-columns:1fr 1fr;border:1px solid var(--line);
border-radius:var(--r2);overflow:hidden}.ev>div{padding:10px 14px 12px;min-width:0}
.ev>div+div{border-left:1px solid var(--line)}.ev dd{margin:2px 0 0}
.ev dd b{font-size:17px;font-weight:640;display:block;line-height:1.35;letter-spacing:-.01em}
.ev .e{background:var(--pass-t)}.ev .e b{color:var(--pass)}
.ev .g{background:var(--fail-t)}.ev .g b{color:var(--fail)}
.ev code{background:none;padding:0;color:var(--ink-2);font-size:var(--t-sm)}
.test{overflow:clip}.test+.test{margin-top:var(--s5)}
.test:not([open])+.test:not([open]){margin-top:var(--s2)}
.test .body{display:grid;grid-template-columns:minmax(0,400px) minmax(0,1fr);
gap:var(--s5);padding:var(--s5)}
.test .say>*+*{margin-top:var(--s4)}.test .lab+*{margin-top:3px}
.test:target{border-color:var(--accent);box-shadow:0 0 0 2px var(--accent)}
svg.board{display:block;width:100%;height:auto;border-radius:var(--r2);print-color-adjust:exact;
-webkit-print-color-adjust:exact;box-shadow:0 1px 2px #0003,0 6px 18px #0000001f}
.board .gr{stroke:var(--grid);stroke-width:.9;fill:none;stroke-linecap:square}
.board .st{fill:var(--grid)}.board text{font-family:var(--sans);font-weight:600;
fill:var(--coord);text-anchor:middle}.co{font-size:min(var(--u)*3.36,9.8px)}
.board .co text{dominant-baseline:central}.w1{stop-color:var(--wood-1)}
.w2{stop-color:var(--wood-2)}
.gn{stroke:var(--grain)}.tb{fill:#14161b;opacity:.2}
.tw{fill:#fff;opacity:.4}.qb{fill:#16181d;stroke:#fff8;stroke-width:.6}
.qw{fill:#fff;stroke:#3a2a12;stroke-width:.7}.qn{fill:none;stroke:var(--coord);stroke-width:1.5}
.mk circle{stroke:#fff;stroke-width:1.4}.mk .ok{fill:var(--mark-ok)}
.mk .no{fill:var(--mark-no)}.mk .mi{fill:#f3fbf5;stroke:var(--mark-ok);stroke-width:2.4;
stroke-dasharray:3.6 2.4}.mk path{fill:none;stroke:#fff;stroke-width:2.1;stroke-linecap:round;
stroke-linejoin:round}.mk path.g{stroke:var(--mark-ok)}.mk .q{fill:none;stroke:#fff;
stroke-width:4.6}.mk .q2{fill:none;stroke:var(--mark-q);stroke-width:2.6}.mk .box{fill:none;
stroke:#fff;stroke-width:3.6}.mk .box2{fill:none;stroke:var(--mark-no);stroke-width:2;
stroke-dasharray:4 2.5}.lm{fill:none;stroke-width:1.7}.leg{display:flex;flex-wrap:wrap;
gap:4px var(--s4);list-style:none;padding:0;margin-top:var(--s3);font-size:var(--t-sm);
color:var(--ink-2)}.leg li{display:flex;gap:6px;align-items:center}.leg svg{width:18px;
height:18px;flex:none;border-radius:4px}.step{display:flex;align-items:center;gap:4px;
margin-top:var(--s3)}.step button{width:32px;padding:0;justify-content:center}
.step input{flex:1;min-width:150px;accent-color:var(--accent);height:32px;margin:0 4px}
.step output{font-size:var(--t-sm);flex:1 1 150px;color:var(--ink-2);
font-variant-numeric:tabular-nums}.cnt{font-size:14px}.cnt td,.cnt th{padding:5px 0 5px 12px}
.cnt th:first-child{padding-left:0}.cnt tbody th{font-weight:500;color:var(--ink);
font-size:14px}.cnt tfoot th{color:var(--ink);font-size:14px}.cnt tfoot>*>*{
border-top:1.5px solid var(--line-2);border-bottom:0;
font-weight:650}.test>summary{align-items:flex-start;padding:var(--s4) var(--s5);
font-weight:400}.test>summary:before{margin-top:8px}
.test[open]>summary{border-bottom:1px solid var(--line)}
.test>summary>span{flex:1;min-width:0}.test>summary>.dot{flex:none;margin-top:4px}
.test h3{font-size:var(--t-lg);line-height:1.35;font-weight:650;overflow-wrap:anywhere}
.test .meta{display:flex;flex-wrap:wrap;gap:2px var(--s3);margin-top:3px;font-size:var(--t-sm);
color:var(--ink-2);align-items:center}.test{content-visibility:auto;
contain-intrinsic-size:auto 64px}.test[open]{contain-intrinsic-size:auto 560px}
.test .body.bare{grid-template-columns:minmax(0,1fr)}
.test .body{scroll-margin-top:160px}.test:has(>:target){border-color:var(--accent);
box-shadow:0 0 0 2px var(--accent)}.test .say{min-width:0}.test .say p{overflow-wrap:anywhere}
.test .say>pre{font-size:var(--t-sm)}.ev dd pre{font-size:15px;font-weight:600;line-height:1.45;
max-height:20rem;overflow:auto}.ev .e pre{color:var(--pass)}.ev .g pre{color:var(--fail)}
.ev .o pre{color:var(--ink)}.ev dd i{font-style:normal;font-weight:400}
.ev.one{grid-template-columns:1fr}.ev dd b+pre{font-size:var(--t-sm);font-weight:400}
.pat{margin-top:4px;font-size:var(--t-sm)}.pat>summary{padding:0;font-weight:400;
color:var(--ink-2)}.exg{font-size:var(--t-sm);white-space:nowrap;align-self:center}
.exg .okc,.exg .noc{padding:2px 6px;border-radius:var(--r1)}.test[open] .exg{display:none}
.test>summary>.exg{flex:none}
figcaption{font-size:var(--t-sm);color:var(--ink-2);
margin-top:var(--s2);overflow-wrap:anywhere}.board .lb{font-size:9px}.board .lbk{fill:#fff}
.board .lbw{fill:#16181d}.board .cover{fill:var(--wood-1)}
.step{flex-wrap:wrap}.step button[data-numbers]{width:auto;padding:0 10px}
"""

# What hangs on the width, on paper: it comes after what it changes.
_LATE = r"""
@media(max-width:860px){.test .body{grid-template-columns:minmax(0,1fr)}
.test .body>figure{max-width:440px}}@media(max-width:520px){.page,
.top>div{padding-left:var(--s4);padding-right:var(--s4)}
.pad,.call{padding:var(--s3) var(--s4)}.test .body,details>summary{padding-left:var(--s4);
padding-right:var(--s4)}
.test .body{padding-top:var(--s4);gap:var(--s4)}.ev dd b{font-size:16px}
.ev>div{padding:8px 12px 10px}h1{font-size:21px}.inp{width:100%}
}@media(hover:none){.kb{display:none}}@media(pointer:coarse){.btn{min-height:40px}
.step button{width:40px}}@page{margin:12mm 11mm}@media print{:root{--bg:#fff;--card:#fff;
--sunk:#f4f4f4;--line:#ccc;--ink:#000;--ink-2:#333;--ink-3:#444;--link:#000;--shadow:none;--fail:#8c1a14;--pass:#0d4f2b;
--wood-1:#f4e2c3;--wood-2:#eed7b0;--grid:#555}body{font-size:10.5pt}.top,.js-only,.btn,.step,
.noprint,.skip{display:none!important}.page{max-width:none;padding:0}
.call,figure,tr,.box,.gp{break-inside:avoid}h2,h3,.sec-h{break-after:avoid}
.hero{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}details>summary:before,
th button:after{display:none}.gps{grid-template-columns:repeat(3,minmax(0,1fr));gap:10px}
.gp{padding:10px}
.ev,.pill,.dot,.bar,.call{print-color-adjust:exact;-webkit-print-color-adjust:exact}
details::details-content{content-visibility:visible;height:auto}
}@media(min-width:1181px){.test .body.large{grid-template-columns:minmax(0,500px) minmax(0,1fr)}
}
@media(min-width:1041px) and (max-width:1180px){.lay .test .body{grid-template-columns:minmax(0,
340px) minmax(0,1fr)}}@media(max-width:1040px){.lay{grid-template-columns:minmax(0,1fr)}
.toc{position:static;max-height:none;order:2}.toc>:first-child{display:none}
}@media screen and (max-width:860px){.hero{grid-template-columns:minmax(0,1fr)}
table,tbody,tfoot,tr,td{display:block}thead{display:none}
tr{padding:10px 0;border-bottom:1px solid var(--line)}
.card tr{padding:10px 14px}tr[hidden]{display:none}
td{border:0;padding:0;text-align:left!important}.tb2{grid-template-columns:minmax(0,1fr) auto}
.t td{display:inline;margin-right:.7rem}.t td:nth-child(n+4){display:block}
td[data-l]:before{content:attr(data-l) " ";color:var(--ink-2);font-size:var(--t-xs)}
.cnt{display:table}.cnt thead{display:table-header-group}.cnt tbody{display:table-row-group}
.cnt tfoot{display:table-footer-group}.cnt tr{display:table-row}
.cnt td{display:table-cell;padding:5px 0 5px 12px;text-align:right!important;
border-bottom:1px solid var(--line)}
}@media(max-width:520px){.ev{grid-template-columns:1fr}
.ev>div+div{border-left:0;border-top:1px solid var(--line)}
.test>summary{padding:var(--s3) var(--s4)}.exg{display:none}.box{padding:var(--s3) var(--s4)}
}.far{content-visibility:auto;contain-intrinsic-size:auto var(--h)}
@media print{.lay{display:block}.toc{display:none}.far{content-visibility:visible}
.box pre,.gp pre{max-height:none}}
"""

# Of cards on paper: two columns, a small board beside the text. No card is cut, and what they have
# in common, what marks mean and how a score is counted, is said once.
_CARDS_ON_PAPER = r"""
@media print{section:has(>.test){columns:300px 2;column-gap:14px}.sec-h,section>.box,
section>.card:not(.test){column-span:all}
.po{display:flex!important;column-span:all;margin:0 0 8px}
.test,.test p,.test pre,.test .leg,.test figcaption,.test .meta,.test .ev dt,.test .lab{
font-size:9pt;line-height:1.33}.test,.test+.test,.test:not([open])+.test:not([open]){
margin:0 0 9px;overflow:visible}
.test>summary{padding:6px 10px 0!important;border:0!important;gap:6px}
.test .exg,.say>div:has(>.cnt,>.plot-t){display:none!important}
.test>summary>.dot{margin-top:0}.test h3{font-size:10pt!important;line-height:1.25}
.test .meta{margin-top:1px}.test .pill{font-size:9pt;padding:0 6px}.test .meta code{padding:0;
background:none}.test .body{display:block!important;padding:5px 10px 7px!important}
.test .body:after{content:"";display:block;clear:both}.test .body>figure{float:left;width:128px;
max-width:none;margin:2px 10px 2px 0}.test .body.large>figure{float:none;
width:236px;margin:0 auto 8px}.test .co{font-size:min(var(--u)*7.2,9.2px)}
.test .large .co{font-size:11.5px}.board{box-shadow:none!important}
.test .say>*+*{margin-top:5px}.test .ev{grid-template-columns:1fr}
.test .ev>div{padding:2px 7px 3px}.test .ev>div+div{border-left:0;border-top:1px solid var(--line)}
.test .ev dt,.test .ev dd,.test .ev dd b{display:inline;font-size:9pt;line-height:1.33}
.test .ev dt{margin-right:4px}.test .ev dd pre{display:inline-block;margin-left:5px;
overflow:visible;line-height:1.33;max-height:none}
.leg,.test .leg{margin-top:4px;gap:0 8px}.test .leg svg{width:12px;height:12px}
.test figcaption{margin-top:3px}.test .leg .o{display:none}
.say>div:has(>.lab+p)>*{display:inline}.say>div:has(>.lab+p)>.lab:after{content:": "}
.test{break-inside:avoid;content-visibility:visible}.test .cmd{padding:0;background:none}}
"""

# Of pages with a matrix: a cell for each pair of two things; a phone scrolls it, it stays a table.
_MATRIX = r"""
table.mx{display:table;width:auto;border-collapse:separate;border-spacing:2px;
padding:8px 12px 12px;font-size:12px;font-variant-numeric:tabular-nums}
.mx thead{display:table-header-group}.mx tbody{display:table-row-group}
.mx tr{display:table-row}.mx tr[hidden]{display:none}.mx th,.mx td{display:table-cell;padding:0;
border:0;height:24px}.mx tr:hover{background:none}.mx tbody td{min-width:24px;
text-align:center!important;border-radius:4px;color:var(--ink-2);background:var(--sunk)}
.mx tbody td.p{background:color-mix(in srgb,var(--pass-s) 26%,var(--card))}
.mx tbody td.f{background:var(--fail-s)}.mx .f a{display:block;line-height:24px;color:#fff;
text-decoration:none;font-weight:700;font-size:12px;border-radius:4px}
.mx .f a:hover,.mx .f a:focus-visible{outline:2px solid var(--ink);outline-offset:1px}
.mx .f a:before{content:"\2715"}.mx .c0{position:sticky;left:0;background:var(--card);
padding-right:10px;z-index:1;text-align:left}.mx .c0 a{color:var(--ink);font-weight:500;
text-decoration-color:var(--line-2)}
.mx td{print-color-adjust:exact;-webkit-print-color-adjust:exact}
@media print{.scroll{overflow:visible}.mx tbody td{min-width:0}}
"""

STYLE = (_BASE + _CARDS + _LATE + _CARDS_ON_PAPER).replace("\n", "")
PLAIN = (_BASE + _LATE).replace("\n", "")  # of pages without cards
MATRIX = _MATRIX.replace("\n", "")
