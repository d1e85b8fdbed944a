"""What the sections about a class share: facts computed once, addresses, styles, and the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from harness.grading.attempts.units import TestResult, own, tests
from harness.grading.exports.showing import CaseSummary
from harness.grading.marks.findings import likes
from harness.grading.records import ClassResult, Graded, decimal
from harness.records import Verdict
from harness.report.html.page_names import MATRIX, link
from harness.report.html.parts import choices
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import number_of, one_line

_NAMES = 60  # characters

PAGE = "class.html"


def format_students(one: Graded) -> str:
    """Return the names of a submission's students, cut short; its key if there are none."""
    names = (student.name or student.key for student in one.submission.students)
    return one_line(", ".join(names) or one.submission.key, _NAMES)


def evidence(one: Graded, anchor: str = "") -> str:
    """Return the address of the evidence about a submission, or of a place in it."""
    return f"evidence/{link(one.submission.key)}{anchor and '#'}{anchor}"


def link_names(one: Graded, anchor: str = "") -> Markup:
    """Return the names of a submission's students, linked to the evidence."""
    return Markup('<a href="%s">%s</a>') % (evidence(one, anchor), format_students(one))


def file_anchor(one: Graded, kind: str, case: str) -> str:
    """Return the name of the place that is about a case file, in the evidence; "": none is."""
    for number, attempt in enumerate(one.attempts, 1):
        if (attempt.kind, attempt.case) == (kind, case):
            return f"f{number}"
    return ""


def test_anchor(one: Graded, key: tuple[str, str, int], verdict: Verdict) -> str:
    """Return the name of the place that is about a test with such a verdict.

    A test without an answer has no place of its own; its command has one.
    """
    kind, case, line = key
    what = "L" if verdict in (Verdict.NOT_RUN, Verdict.PASSED) else "T"
    return f"{file_anchor(one, kind, case)}{what}{line}"


class Places:
    """The names of places on the page about a class: tests, lines of case files, submissions."""

    def __init__(self, result: ClassResult) -> None:
        tests = [(item.kind, item.case, item.line) for item in result.items]
        self._tests = _number(tests)
        self._files = _number((kind, case) for kind, case, _ in tests)
        self._submissions = _number(one.submission.key for one in result.graded)

    def test(self, key: tuple[str, str, int]) -> str:
        """Return the name of a test's row among those on trial; "" if it is not there."""
        number = self._tests.get(key)
        return f"t{number}" if number else ""

    def line(self, kind: str, case: str, line: int) -> str:
        """Return the name of a line of a case file."""
        return f"c{self._files[kind, case]}L{line}"

    def submission(self, key: str) -> str:
        """Return the name of a submission's row."""
        return f"s{self._submissions[key]}"


def _number(things: Iterable[object]) -> Mapping[object, int]:
    return {thing: number for number, thing in enumerate(dict.fromkeys(things), 1)}


# --- Facts that all sections about a class use, computed once ------------------------------------


class ClassOverview:
    """A class.

    Attributes: ``result``; ``seen``, the result of the case files, by submission; ``graded`` and
    ``tests``, by submission as well; ``ordered``, from the highest mark to the lowest, then those
    that have none yet; ``places``, on the page.
    """

    def __init__(self, result: ClassResult, seen: Mapping[str, Sequence[CaseSummary]]) -> None:
        self.result, self.seen = result, seen
        self.graded: Mapping[str, Graded] = {one.submission.key: one for one in result.graded}
        self.tests: Mapping[str, Sequence[TestResult]] = {
            key: tuple(tests(own(one.attempts))) for key, one in self.graded.items()
        }
        self.ordered = order_by_mark(result)
        self.places = Places(result)


def order_by_mark(result: ClassResult) -> list[Graded]:
    """Return submissions from the highest mark to the lowest, then those that have none yet."""
    return sorted(result.graded, key=lambda one: (one.marks.withheld, -one.marks.total))


# --- Styles for the teacher's pages, beside the style sheet of all pages -------------------------


_BOTH = r"""
.page,.top>div{max-width:1160px}.box.unsafe h2{color:var(--fail)}
section>details.card+details.card{margin-top:var(--s2)}details>.log{border:0;margin:0;
border-top:1px solid var(--line);border-radius:0 0 var(--r3) var(--r3);overflow:auto}
.log b a{text-decoration:none}.log b a:hover{text-decoration:underline}
"""

_CLASS = r"""
.hero.cl{display:flex;flex-wrap:wrap;gap:var(--s3) var(--s5);
align-items:end;justify-content:space-between;margin-bottom:0}.jump{display:flex;flex-wrap:wrap;
gap:4px 20px;margin:16px 0 24px}.dot.w{background:var(--warn-s);color:#1c1b19}
.dot.w:before{content:"!"}.look{list-style:none;padding:0}.look>li{display:grid;
grid-template-columns:16px minmax(0,1fr);gap:2px 14px;padding:14px var(--s5)}
.look>li+li{border-top:1px solid var(--line)}.look>li>.dot{margin-top:3px}
.look ul{padding-left:1.1em}.look .sub{overflow-wrap:anywhere}.look table{margin-top:var(--s2)}
.look td:first-child,.look th:first-child{padding-left:0}
.two{display:grid;grid-template-columns:minmax(0,1.4fr) minmax(0,1fr);gap:var(--s4)}
.stat{display:flex;gap:var(--s3) var(--s6);flex-wrap:wrap}.stat p{display:flex;
flex-direction:column}.stat b{font-size:28px;line-height:1.15;font-weight:670;
letter-spacing:-.02em;font-variant-numeric:tabular-nums}.hist{margin:28px 12px 2px}
.hbs{position:relative;display:grid;grid-template-columns:repeat(10,minmax(0,1fr));gap:3px;
height:150px;border-bottom:1.5px solid var(--line-2)}.hb{display:flex;flex-direction:column;
justify-content:flex-end;align-items:center;font-size:12px;font-weight:600;min-width:0}
.hb i{width:100%;background:var(--accent);border-radius:4px 4px 0 0;flex:none;
print-color-adjust:exact;-webkit-print-color-adjust:exact}.hax{display:flex;
justify-content:space-between;font-size:12px;color:var(--ink-2);margin:5px -12px 0}
.hax span{width:24px;text-align:center}.med{position:absolute;top:-14px;bottom:0;
border-left:1.5px dashed var(--ink-2)}.med em{white-space:nowrap;position:absolute;left:6px;
top:-5px;
font:12px var(--sans);color:var(--ink-2)}.med em.l{left:auto;right:6px}
.pts{display:flex;flex-direction:column;gap:var(--s4)}.pt{display:grid;
grid-template-columns:minmax(0,1fr) auto;gap:4px 12px;align-items:baseline}
.pt .bar{grid-column:1/-1}.pt>.sub{grid-row:3;grid-column:1/-1}.pt>.num{grid-row:1;grid-column:2}
.wrs{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:var(--s4)}
.wr{display:grid;grid-template-columns:168px minmax(0,1fr);gap:var(--s4);padding:var(--s4);
align-items:start;overflow-wrap:anywhere}.wr .sec-h{margin:0;
flex-wrap:nowrap;justify-content:space-between;gap:var(--s3)}.wr .pill{flex:none}
.wr>div{min-width:0}.wr>div>*+*{margin-top:8px}.exg{display:flex;flex-wrap:wrap;gap:4px 8px;
align-items:center;font-size:14px;white-space:normal}.exg .sub{font-family:var(--sans)}.exg .okc,
.exg .noc{padding:1px 8px;border-radius:6px;min-width:0}blockquote{margin:0;padding-left:12px;
border-left:3px solid var(--accent);font-size:14px}blockquote .sub{margin-top:2px}
.wr.hard{grid-template-columns:minmax(0,1fr)}.wr .co{font-size:min(var(--u)*7.2,9.2px)}
.wrs+details{margin-top:var(--s4)}.more-w{list-style:none}.more-w li+li{margin-top:var(--s2)}
.nmc{font-size:14px;white-space:normal}.nmc a{font-weight:560;color:var(--ink);
text-decoration:none}.nmc a:hover{text-decoration:underline}.st .sh{display:inline-block;
height:6px;margin:0 0 1px 10px;
vertical-align:middle}
.st td{vertical-align:top}
.st th.nmc{vertical-align:top;min-width:156px;max-width:240px;overflow-wrap:anywhere}
.st td.num{white-space:nowrap}.st .pill{margin:0 0 2px}
tr:target{background:var(--info-t)}table.mx{--w:30px}table.mx.nar{--w:24px}
.mx tbody td{min-width:var(--w)}.mx thead th{vertical-align:bottom;height:112px}.mx thead a{
display:block;width:var(--w);height:108px;position:relative;color:var(--ink-2);
text-decoration:none}.mx thead a span{position:absolute;left:calc(var(--w)/2 + 2px);bottom:0;
transform-origin:0 100%;transform:rotate(-60deg);white-space:nowrap;font-weight:500}
.mx thead a:hover{color:var(--ink);text-decoration:underline}.mx .c0{min-width:150px;
max-width:200px}.mx tbody .c0 a{display:flex;gap:8px;justify-content:space-between;
align-items:center;line-height:24px}.mx .c0 a span{overflow:hidden;text-overflow:ellipsis;
white-space:nowrap}.mx .c0 b{font-weight:500;color:var(--ink-2)}.mx .c0 small{color:var(--ink-2);
font-size:12px;white-space:nowrap}.mx .gh th{padding-top:10px;height:34px;font-size:13px;
font-weight:650;color:var(--ink);white-space:nowrap;max-width:none}.ts tbody td{
background:color-mix(in srgb,var(--pass-s) 26%,var(--card))}.ts td a{display:block;height:24px;
font-size:0;line-height:24px;background:var(--fail-s);color:#fff;text-decoration:none;
font-weight:700;
border-radius:4px}.ts td a:before{content:"\2715";font-size:12px}.ts .n a{background:var(--sunk);
color:var(--ink-2)}.ts .u a,.k.u{background:var(--warn-t);color:var(--warn)}
.ts .n a:before,.k.n:before{content:"\2013"}.ts .u a:before,.k.u:before{content:"?"}
.ts td a:hover,.ts td a:focus-visible{outline:2px solid var(--ink);outline-offset:1px}
.ts tbody .o,.ts .gh td{background:none}
.ts td{print-color-adjust:exact}.k{width:20px;height:16px;border-radius:4px;
font:700 10px/16px var(--sans);text-align:center;color:var(--ink-2);background:var(--sunk);
print-color-adjust:exact;-webkit-print-color-adjust:exact}
.k.p{background:color-mix(in srgb,var(--pass-s) 26%,var(--card))}.k.f{background:var(--fail-s);
color:#fff}.k.f:before{content:"\2715"}.leg{display:flex;flex-wrap:wrap;gap:4px var(--s4);
list-style:none;padding:0;font-size:var(--t-sm);color:var(--ink-2)}.leg li{display:flex;gap:6px;
align-items:center}section>.leg{margin:6px 0 10px}.scroll:has(.mx){scroll-padding-left:220px}
.tr th[scope=row]{font-weight:500;font-size:13px;white-space:normal;min-width:132px;
vertical-align:top}.tr th code{display:block;background:none;padding:0;color:var(--ink-2)}
.tr td{vertical-align:top}.sh{display:block;
width:72px;height:8px;border-radius:4px;margin:4px 0;
background:linear-gradient(90deg,var(--accent) calc(var(--v)*1%),var(--sunk) 0);
print-color-adjust:exact;-webkit-print-color-adjust:exact}.in{display:block;position:relative;
width:110px;height:16px;background:linear-gradient(var(--line-2) 0 0) 50%/100% 1px no-repeat,
linear-gradient(var(--line-2) 0 0) 50%/1px 100% no-repeat}.in:before{content:"";
position:absolute;top:7px;height:2px;left:calc(var(--a)*1%);
width:calc((var(--b) - var(--a))*1%);background:var(--accent)}.in:after{content:"";
position:absolute;width:8px;height:8px;border-radius:50%;background:var(--accent);top:4px;
left:calc(var(--c)*1% - 4px)}section>dl.facts+details{margin-top:var(--s3)}
@media(max-width:980px){.wrs,.two{grid-template-columns:minmax(0,1fr)}}
@media(max-width:860px){.mx .c0,.mx .gh th{min-width:96px;max-width:112px}
.mx .c0 a b{display:none}.scroll:has(.mx){scroll-padding-left:124px}
.st th.nmc,.tr th[scope=row]{display:block;border:0;padding:0;max-width:none}
.st td.num{display:inline-block;margin-right:.9rem}.st td:empty{display:none}
.sh,.in{display:inline-block;vertical-align:middle;margin-right:8px}}
@media(max-width:520px){.wr{grid-template-columns:112px minmax(0,1fr);gap:8px 14px}
.wr .sec-h{flex-wrap:wrap}
.wr.hard{grid-template-columns:minmax(0,1fr)}.wr figure{grid-row:span 2}
.wr:not(.hard)>div{display:contents}.wr>div>*+*{margin-top:0}
.wr:not(.hard)>div>p,.wr:not(.hard)>div>blockquote{grid-column:1/-1}
.look>li{padding:12px var(--s4)}.hist{margin-left:4px;margin-right:4px}.hax{margin:5px -4px 0}
.hax span:nth-child(even){display:none}}
@media print{table.mx{--w:20px}}
"""

_EVIDENCE = r"""
.ev-head{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);justify-content:space-between;
align-items:end;margin-bottom:var(--s5)}.ev-head .sub{overflow-wrap:anywhere}
.ev-head .btn{white-space:normal}.pager{display:flex;
gap:var(--s2)}
.att>*+*{margin-top:var(--s3)}.att .test+.test{margin-top:var(--s2)}
.att>details>details{margin:var(--s3) var(--s5)}.att>details>p{padding:var(--s3)
var(--s5)}.ok>.att{border-top:1px solid var(--line)}details.ok{margin-top:var(--s2)}
.ok>summary .dot{margin-top:3px}.ok>summary>span+span{min-width:0}
.two-runs td,.two-runs th{vertical-align:top}
@media(max-width:860px){.two-runs td{display:inline-block;margin-right:.9rem}
.two-runs th[scope=row]{display:block;border:0;padding:0}}
"""

CLASS = MATRIX + (_BOTH + _CLASS).replace("\n", "")
EVIDENCE = (_BOTH + _EVIDENCE).replace("\n", "")


# --- The table of submissions: sorted by mark, with flags, and with a filter by name and flag ----


_REMARK = 160  # characters

_SECTION = Markup(
    '<section aria-labelledby="subs"><h2 id="subs">Submissions</h2>%s<div class="card">'
    '<table class="st"><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div></section>\n'
)
_FILTER = Markup(
    '<div class="tools js-only" role="search"><input class="inp" type="search" data-filter '
    'aria-label="Filter submissions" placeholder="Filter by name, flag, mistake">'
    '<span class="btns" role="group" aria-label="Show">%s</span>'
    '<span class="sub" id="shown" role="status">%s of %s</span></div>'
)
_HEAD = Markup('<th scope="col"%s%s><button type="button">%s</button></th>')
_ROW = Markup(
    '<tr id="%s" data-v="%s"><th scope="row" class="nmc">%s</th>'
    '<td class="num" data-l="mark" data-k="%s"><b>%s</b>%s</td>%s'
    '<td class="num" data-l="failed">%s</td><td data-k="%s">%s</td>'
    '<td data-l="feedback">%s</td></tr>\n'
)
_MARK_BAR = Markup('<i class="sh" style="--v:%s"></i>')


def section(known: ClassOverview) -> Markup:
    """Return the section; nothing of a class without submissions."""
    if not known.graded:
        return NOTHING
    table = _Table(known)
    rows = [(one, table.kinds(one)) for one in known.ordered]
    body = join_markup(table.row(one, kinds) for one, kinds in rows)
    return _SECTION % (_filter([kinds for _, kinds in rows]), table.heads(), body)


def _filter(rows: Sequence[Sequence[str]]) -> Markup:
    names = (("all", "All"), ("flag", "Flagged"), ("lost", "Without all points"))
    counts = (sum(name == "all" or name in kinds for kinds in rows) for name, _ in names)
    buttons = choices((*one, count) for one, count in zip(names, counts, strict=True))
    return _FILTER % (buttons, len(rows), len(rows))


class _Table:
    def __init__(self, known: ClassOverview) -> None:
        result = known.result
        worth = {part.name for one in result.graded for part in one.marks.parts if part.of}
        self._parts = [part.name for part in result.assignment.marks if part.name in worth]
        self._known, self._of, self._likes = known, result.of, likes(result)

    def heads(self) -> Markup:
        """Return the heads of the columns."""
        number, by = Markup(' class="num"'), Markup(' aria-sort="descending"')
        heads = (
            _HEAD % (NOTHING, NOTHING, "Submission"),
            _HEAD % (number, by, "Mark"),
            *(_HEAD % (number, NOTHING, name) for name in self._parts),
            _HEAD % (number, NOTHING, "Failed tests"),
            _HEAD % (NOTHING, NOTHING, "Flags and mistakes"),
            Markup('<th scope="col">Feedback</th>'),
        )
        return join_markup(heads)

    def kinds(self, one: Graded) -> list[str]:
        """Return what a filter tells of a submission."""
        lost = one.marks.withheld or one.marks.total < self._of
        return ["flag"] * bool(self._flags(one)) + ["lost"] * lost

    def _flags(self, one: Graded) -> list[tuple[str, str]]:
        return [*_list_overrides(one, self._known.result), *_flags(one, self._others(one))]

    def _others(self, one: Graded) -> Sequence[str]:
        return self._likes.get(one.submission.key, ())

    def row(self, one: Graded, kinds: Sequence[str]) -> Markup:
        """Return the row of a submission."""
        marks, held = one.marks, one.marks.withheld
        tests = self._known.tests[one.submission.key]
        failed = sum(test.passed is False for test in tests)
        share = float(100 * marks.total / self._of) if self._of else 0
        flags = self._flags(one)
        return _ROW % (
            self._known.places.submission(one.submission.key),
            " ".join(kinds),
            link_names(one),
            -1 if held else f"{float(marks.total):.4f}",
            "–" if held else _two_places(marks.total),
            NOTHING if held else _MARK_BAR % f"{share:.0f}",
            join_markup(self._points(one)),
            failed or "",
            len(flags),
            self._render_note(one, flags),
            _pages(one),
        )

    def _points(self, one: Graded) -> Iterator[Markup]:
        reached = {part.name: part.points for part in one.marks.parts}
        for name in self._parts:
            points = None if one.marks.withheld else reached.get(name)
            shown = "" if points is None else _two_places(points)
            yield Markup('<td class="num" data-l="%s">%s</td>') % (name, shown)

    def _render_note(self, one: Graded, flags: Sequence[tuple[str, str]]) -> Markup:
        pills = Markup(" ").join(Markup('<span class="pill %s">%s</span>') % one for one in flags)
        said = "; ".join(
            one_line(text, _REMARK) for text in (one.marks.note, *_mistakes(one)) if text
        )
        same = Markup(", ").join(link_names(self._known.graded[key]) for key in self._others(one))
        told = [Markup(' <span class="sub">%s</span>') % said] if said else []
        told += [Markup(' <span class="sub">the same program as %s</span>') % same] if same else []
        return pills + join_markup(told)


def _two_places(points: Fraction) -> str:
    """Return points as a column has them, one point below the other."""
    whole, _, rest = decimal(points).partition(".")
    return f"{whole}.{rest:0<2}"


def _mistakes(one: Graded) -> Iterator[str]:
    yield from one.submission.faults
    for found in one.diagnoses:
        rest = found.total - found.failures
        yield found.reasons + (f" ({rest} failures are not explained)" if rest else "")


def _list_overrides(one: Graded, result: ClassResult) -> Iterator[tuple[str, str]]:
    """Yield the marks that people gave the students of a submission, each once."""
    found = filter(None, map(result.get_given_mark, one.submission.students))
    for points in sorted({given.points for given in found}):
        yield "w", f"given {decimal(points)} by a person"


def _flags(one: Graded, same: Sequence[str]) -> list[tuple[str, str]]:
    """Return what is to be seen at once: a class and a few words each."""
    broken = sum(bool(each.result and each.result.failure) for each in own(one.attempts))
    build = one.build
    late = f"late, −{decimal(one.marks.deduction)}" if one.marks.deduction else "late"
    known = (
        (one.marks.withheld, "w", "withheld"),
        (one.submission.refused, "f", "refused"),
        (build and not build.ok, "f", "does not build"),
        (broken, "f", f"engine failure in {number_of(broken, 'file')}"),
        (one.suspicion, "w", "variants fail"),
        (same, "w", "same program"),
        (any(each.flaky for each in one.attempts), "w", "flaky"),
        (any(each.near_limit for each in one.attempts), "w", "near a limit"),
        (one.marks.deduction_reason, "w", late),
    )
    return [(kind, words) for is_so, kind, words in known if is_so]


def _pages(one: Graded) -> Markup:
    """Return links to what each student is shown."""
    shown = (
        Markup('<a href="feedback/%s" aria-label="What %s is shown">%s</a>')
        % (link(student.key), one_line(student.name, _REMARK), student.key)
        for student in one.submission.students
    )
    return Markup(", ").join(shown)
