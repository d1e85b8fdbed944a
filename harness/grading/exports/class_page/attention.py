"""Sections for the teacher: shared problems, withheld marks, and suspicious tests."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from urllib import parse

from harness.grading import records
from harness.grading.auditing.audit import FOLDER
from harness.grading.exports.class_page.parts import ClassOverview, file_anchor, link_names
from harness.grading.marks import findings
from harness.grading.marks.marking import own, quote
from harness.reading.expectation import in_words
from harness.records import CaseFile
from harness.report.markup import NOTHING, Markup, escape, join_markup
from harness.text import count_rest, number_of, one_line

_SUSPECTS_COMMAND, _ANSWER = 60, 40  # characters
_ANSWERS = 3  # wrong ones that are named, of a test

Key = tuple[str, str, int]  # kind, case file, line

_SUSPECTS_SECTION = Markup(
    '<section aria-labelledby="trial"><h2 id="trial" class="vh">Tests on trial</h2>'
    '<details class="card"><summary><span>Tests on trial <span class="sub">%s: how well each '
    "tells strong submissions from weak ones</span></span></summary>"
    '<p class="sub pad">The point-biserial correlation of passing a test with the share of the '
    "other tests passed, from −1 to 1, with its 95 %% interval. A good test is well above 0; one "
    "below 0 is passed by the weak and failed by the strong.</p>"
    '<table class="tr"><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></details>%s'
    "</section>\n"
)
_HEAD = Markup('<th scope="col"><button type="button">%s</button></th>')
_ROW = Markup(
    '<tr id="%s"><th scope="row" data-k="%s"><a href="#%s">%s:%s</a><code>%s</code></th>'
    '<td data-l="expected">%s</td><td data-l="passed" data-k="%s">'
    '<span class="sh" style="--v:%s"></span>%s of %s</td><td data-l="r" data-k="%s">%s</td>'
    '<td data-l="wrong answers">%s</td><td>%s</td></tr>\n'
)
_TEXT = Markup(
    '<details class="card"><summary>%s <span class="sub">%s%s</span></summary>'
    '<pre class="log" tabindex="0">%s</pre></details>\n'
)
_LINE = Markup('<b id="%s"><a href="#%s">%s</a></b>')
_INTERVAL = Markup('<span class="in" style="--a:%s;--b:%s;--c:%s"></span>')


def suspects_section(known: ClassOverview) -> Markup:
    """Return the section, folded; nothing where no test was run."""
    items = known.result.items
    if not items:
        return NOTHING
    trial = _Trial(known)
    names = ("Test", "Expected", "Passed", "Correlation", "Wrong answers", "Remarks")
    heads = join_markup(_HEAD % name for name in names)
    rows = join_markup(trial.row(number, item) for number, item in enumerate(items))
    count = number_of(len(items), "test")
    return _SUSPECTS_SECTION % (count, heads, rows, join_markup(trial.texts()))


class _Trial:
    """The tests on trial: their texts, the expected answers and the actual ones."""

    def __init__(self, known: ClassOverview) -> None:
        self._places = known.places
        self._keys = [(item.kind, item.case, item.line) for item in known.result.items]
        self._cases: dict[tuple[str, str], CaseFile] = {}
        self._expected: dict[Key, str] = {}
        self._wrong: dict[Key, Counter[str]] = {key: Counter() for key in self._keys}
        for test in chain.from_iterable(known.tests.values()):
            key = test.key
            if key not in self._expected:
                assert test.attempt.result is not None
                self._cases.setdefault(key[:2], test.attempt.result.case)
                self._expected[key] = in_words(test.step.pattern)
            if test.passed is False and key in self._wrong:
                self._wrong[key][one_line(quote(test.reply), _ANSWER)] += 1

    def row(self, number: int, item: records.Item) -> Markup:
        """Return the row of a test."""
        key = (item.kind, item.case, item.line)
        share = 100 * item.passed / item.judged if item.judged else 0
        r = item.correlation
        return _ROW % (
            self._places.test(key),
            number,
            self._places.line(*key),
            item.case,
            item.line,
            one_line(item.command, _SUSPECTS_COMMAND),
            one_line(self._expected.get(key, ""), _SUSPECTS_COMMAND),
            f"{share:.1f}",
            f"{share:.0f}",
            item.passed,
            item.judged,
            -2 if r is None else f"{r:.4f}",
            _correlation(item),
            _answers(self._wrong[key]),
            " ".join(item.remarks),
        )

    def texts(self) -> Iterator[Markup]:
        """Yield the case files, folded, with names for the lines of tests."""
        rows: dict[tuple[str, str], dict[int, Key]] = {key: {} for key in self._cases}
        for key in self._keys:
            if key[:2] in rows:
                rows[key[:2]][key[2]] = key
        for (kind, case), found in rows.items():
            lines = self._cases[kind, case].lines
            text = Markup("\n").join(
                _LINE % (self._places.line(*key), self._places.test(key), line) if key else line
                for number, line in enumerate(lines, 1)
                for key in [found.get(number)]
            )
            private = "" if kind == records.PUBLIC else f"{kind}, "
            yield _TEXT % (case, private, number_of(len(found), "test"), text)


def _answers(found: Counter[str]) -> str:
    listed = [f"{answer} × {count}" for answer, count in found.most_common(_ANSWERS)]
    left = len(found) - len(listed)
    return ", ".join(listed) + count_rest(left, " and {} more")


def _correlation(item: records.Item) -> Markup:
    if item.correlation is None:
        return NOTHING
    r = item.correlation
    low, high = item.interval or (r, r)
    drawn = _INTERVAL % tuple(f"{50 + 50 * value:.1f}" for value in (low, high, r))
    told = Markup('%s%s<span class="vh">, 95 %% interval %s to %s</span>')
    return told % (drawn, f"{r:.2f}", f"{low:.2f}", f"{high:.2f}")


# --- The first section for the teacher: shared problems, withheld marks, doubts ------------------


_COMMAND = 60  # characters
_LISTED = 25  # things of one kind that are named one by one
_TESTS = 8  # tests with the same remark that are named

_SECTION = Markup(
    '<section aria-labelledby="look"><h2 id="look">Look at this first</h2>'
    '<ul class="card look">%s</ul></section>\n'
)
_POINT = Markup('<li><span class="dot %s"></span><div><h3>%s</h3>%s</div></li>\n')
_EVERYBODY = "What happens to everybody is rarely everybody's fault."


def points(known: ClassOverview, notes: Sequence[str]) -> list[Markup]:
    """Return what is to be looked at, a point each; ``notes``: of the sheets."""
    result = known.result
    withheld = ((one, one.marks.note) for one in result.graded if one.marks.withheld)
    refused = ((one, one.submission.refused) for one in result.graded if one.submission.refused)
    found = (
        *_concerns(result),
        _listing("w", "withheld: it is nowhere written as a number", "mark", _lines(withheld)),
        _listing("w", "without a mark yet", "student", map(escape, map(str, result.unmarked))),
        _listing(
            "w", "given by a person instead of the computed one", "mark", _list_overrides(result)
        ),
        _listing("w", "of the harness, which cost no marks", "error", _attempts(result, "fault")),
        _suspicions(result.graded),
        _audit_point(result),
        _listing("f", "refused, or without a file", "submission", _lines(refused)),
        _listing("w", "whose verdict changed between runs", "flaky test", _flaky(known)),
        _listing("w", "nearly or just hit", "limit", _attempts(result, "near_limit")),
        _listing("x", "on tests to doubt", "remark", _doubts(known)),
        _listing("w", "on sheets that were filled in", "note", map(escape, notes)),
    )
    return [one for one in found if one]


def section(found: Sequence[Markup], result: records.ClassResult) -> Markup:
    """Return the section with what :func:`points` found."""
    calm = "All went as it should." if result.graded else "No submission was graded."
    return _SECTION % join_markup(found or [_POINT % ("p", "Nothing", _sub(calm))])


def _sub(text: str) -> Markup:
    return Markup('<p class="sub">%s</p>') % text


def _listing(kind: str, rest: str, noun: str, lines: Iterable[Markup]) -> Markup:
    """Return a point with a line for each thing, or "" without things."""
    listed = list(lines)
    if not listed:
        return NOTHING
    title = f"{number_of(len(listed), noun)} {rest}"
    if len(listed) == 1:
        return _POINT % (kind, title, _sub(listed[0]))
    shown = join_markup(Markup("<li>%s</li>") % line for line in listed[:_LISTED])
    left = count_rest(len(listed) - _LISTED)
    shown += Markup("<li>%s</li>") % left if left else NOTHING
    return _POINT % (kind, title, Markup('<ul class="sub">%s</ul>') % shown)


def _concerns(result: records.ClassResult) -> Iterator[Markup]:
    graded = {one.submission.key: one for one in result.graded}
    for one in findings.concerns(result):
        kind = "f" if one.kind in (findings.DEAD_ALIKE, findings.FOREIGN_OVERLAY) else "w"
        title = one.text[:1].upper() + one.text[1:]
        about = Markup("; ").join([link_names(graded[key]) for key in one.keys[:_LISTED]])
        about += count_rest(len(one.keys) - _LISTED, " and {} more")
        hint = _EVERYBODY if one.kind in (findings.NO_POINTS, findings.FOREIGN_OVERLAY) else ""
        yield _POINT % (kind, title, join_markup(_sub(text) for text in (about, hint) if text))


def _lines(found: Iterable[tuple[records.Graded, str]]) -> Iterator[Markup]:
    return (Markup("%s: %s") % (link_names(one), told) for one, told in found)


def _list_overrides(result: records.ClassResult) -> Iterator[Markup]:
    for one in result.graded:
        was = "no mark" if one.marks.withheld else str(one.marks)
        for student in one.submission.students:
            if given := result.get_given_mark(student):
                points = records.decimal(given.points)
                told = f"{student.name}: {points} instead of {was}: {given.reason}"
                yield Markup("%s: %s") % (link_names(one), told)


def _attempts(result: records.ClassResult, field: str) -> Iterator[Markup]:
    """Yield what attempts have in a field, with a link to each."""
    for one in result.graded:
        for attempt in one.attempts:
            if told := getattr(attempt, field):
                place = file_anchor(one, attempt.kind, attempt.case)
                yield Markup("%s, %s: %s") % (link_names(one, place), attempt.case, told)


def _flaky(known: ClassOverview) -> Iterator[Markup]:
    for key, one in known.graded.items():
        for test in known.tests[key]:
            if test.flaky:
                yield Markup("%s: %s <code>%s</code>") % (
                    link_names(one, file_anchor(one, test.attempt.kind, test.attempt.case)),
                    f"{test.attempt.case}:{test.step.line}",
                    one_line(test.step.command, _COMMAND),
                )


def _doubts(known: ClassOverview) -> Iterator[Markup]:
    """Yield each remark on tests, and those that it is made of."""
    remarks: dict[str, list[records.Item]] = {}
    for item in known.result.items:
        for remark in item.remarks:
            remarks.setdefault(remark, []).append(item)
    for remark, found in remarks.items():
        shown = Markup(", ").join(
            [
                Markup('<a href="#%s">%s:%s</a>')
                % (known.places.test((item.kind, item.case, item.line)), item.case, item.line)
                for item in found[:_TESTS]
            ]
        )
        rest = count_rest(len(found) - _TESTS, " and {} more")
        yield Markup("%s: %s%s") % (remark.rstrip("."), shown, rest)


# --- who knows the answers by heart, and who answers wrongly all the same ------------------------


def _table(heads: Sequence[str], rows: Markup) -> Markup:
    shown = join_markup(Markup('<th scope="col">%s</th>') % head for head in heads)
    return Markup("<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>") % (shown, rows)


def _suspicions(graded: Sequence[records.Graded]) -> Markup:
    rows = [
        _row(
            ("", link_names(one)),
            ("tests", found.tests),
            ("failed", f"{found.failed} of {found.images}"),
            ("chance", f"{found.chance:.2g}"),
            ("", found.example),
        )
        for one in graded
        if (found := one.suspicion)
    ]
    if not rows:
        return NOTHING
    title = (
        f"{number_of(len(rows), 'submission')} with public tests passed, but not their variants"
    )
    told = _sub(
        "A variant is the same question in another guise: turned, mirrored, colors swapped. A "
        "program with hard-coded answers fails it. This changes no mark: you decide."
    )
    heads = ("Submission", "Tests", "Variants failed", "Chance", "Example")
    return _POINT % ("w", title, told + _table(heads, join_markup(rows)))


def _row(*cells: tuple[str, object]) -> Markup:
    drawn = join_markup(
        (Markup('<td data-l="%s">%s</td>') % (label, cell))
        if label
        else Markup("<td>%s</td>") % cell
        for label, cell in cells
    )
    return Markup("<tr>%s</tr>\n") % drawn


def _audit_point(result: records.ClassResult) -> Markup:
    """Return the point about who still answers wrongly: a case file for each cause."""
    graded = {one.submission.key: one for one in result.graded}
    rows = join_markup(
        _show_wrong_answer(graded[one.submission], wrong)
        for one in result.audits
        for wrong in one.wrong
    )
    if not rows:
        return NOTHING
    wrong = sum(bool(one.wrong) for one in result.audits)
    title = f"Nearly full marks, but wrong answers: {wrong} of {len(result.audits)} audited"
    told = _sub(
        "The audit asked these programs what no case file asks, and each answer below was wrong "
        "every time that it was asked. This changes no mark, because the case files let it pass."
    )
    paths = {one.path for graded in result.graded for one in own(graded.attempts)}
    words = ["gtp-harness", "generate", "--assignment", str(result.assignment.place), "--kill"]
    command = shlex.join([*words, *sorted(paths), "-o", "more.gtp"])
    more = Markup("Cases that catch such mistakes and are new: <code>%s</code>") % command
    heads = ("Submission", "Command", "Right", "Found", "Case file")
    return _POINT % ("w", title, told + _sub(more) + _table(heads, rows))


def _show_wrong_answer(one: records.Graded, wrong: records.WrongAnswer) -> Markup:
    file = f"{FOLDER}/{one.submission.key}/{wrong.file}"
    likely = Markup("<br>%s") % wrong.mistakes[0] if wrong.mistakes else NOTHING
    command = Markup("<code>%s</code>%s") % (one_line(wrong.command, _COMMAND), likely)
    there = Markup('<a href="%s">%s</a>') % (parse.quote(file), file)
    right, found = (one_line(text, _COMMAND) for text in (wrong.right, wrong.found))
    return _row(
        ("", link_names(one)), ("", command), ("right", right), ("found", found), ("", there)
    )
