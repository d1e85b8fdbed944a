"""The tests on trial, and the texts of the case files that they stand in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

from harness.escaping import one_line
from harness.grading.attempts.units import TestResult, quote
from harness.grading.exports.class_page.parts import ClassOverview
from harness.grading.records import PUBLIC, Item
from harness.reading.expectation import in_words
from harness.records import CaseFile
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import count_rest, number_of

_COMMAND, _ANSWER = 60, 40  # characters
_ANSWERS = 3  # wrong ones that are named, of a test

Key = tuple[str, str, int]  # kind, case file, line

_SECTION = Markup(
    '<section aria-labelledby="trial"><h2 id="trial" class="vh">Tests on trial</h2>'
    '<details class="card"><summary><span>Tests on trial <span class="sub">%s: how well each '
    "tells strong submissions from weak ones</span></span></summary>"
    '<p class="sub pad">The point-biserial correlation of passing a test with the share of the '
    "other tests passed, from −1 to 1, with its 95 %% interval. A good test is well above 0; one "
    "below 0 is passed by the weak and failed by the strong.</p>"
    '<table class="tr"><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></details>%s'
    "</section>\n"
)
_HEAD = Markup('<th scope="col"%s><button type="button">%s</button></th>')
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


def section(known: ClassOverview) -> Markup:
    """Return the section, folded; nothing where no test was run."""
    items = known.result.items
    if not items:
        return NOTHING
    trial = _Trial(known)
    heads = join_markup(
        (
            _HEAD % (NOTHING, "Test"),
            _HEAD % (NOTHING, "Expected"),
            _HEAD % (NOTHING, "Passed"),
            _HEAD % (NOTHING, "Correlation"),
            _HEAD % (NOTHING, "Wrong answers"),
            _HEAD % (NOTHING, "Remarks"),
        )
    )
    rows = join_markup(trial.row(number, item) for number, item in enumerate(items))
    count = number_of(len(items), "test")
    return _SECTION % (count, heads, rows, join_markup(trial.texts()))


class _Trial:
    """The tests on trial: their texts, the expected answers and the actual ones."""

    def __init__(self, known: ClassOverview) -> None:
        self._places = known.places
        self._keys = [(item.kind, item.case, item.line) for item in known.result.items]
        self._cases: dict[tuple[str, str], CaseFile] = {}
        self._expected: dict[Key, str] = {}
        self._wrong: dict[Key, Counter[str]] = {key: Counter() for key in self._keys}
        for test in chain.from_iterable(known.tests.values()):
            self._meet(test)

    def _meet(self, test: TestResult) -> None:
        attempt, key = test.attempt, test.key
        if key not in self._expected:
            assert attempt.result is not None
            self._cases.setdefault(key[:2], attempt.result.case)
            self._expected[key] = in_words(test.step.pattern)
        if test.passed is False and key in self._wrong:
            self._wrong[key][one_line(quote(test.reply), _ANSWER)] += 1

    def row(self, number: int, item: Item) -> Markup:
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
            one_line(item.command, _COMMAND),
            one_line(self._expected.get(key, ""), _COMMAND),
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
        rows: Mapping[tuple[str, str], dict[int, Key]] = {}
        rows = {key: {} for key in self._cases}
        for key in self._keys:
            if key[:2] in rows:
                rows[key[:2]][key[2]] = key
        for (kind, case), found in rows.items():
            lines = self._cases[kind, case].lines
            text = Markup("\n").join(
                self._line(found[number], line) if number in found else line
                for number, line in enumerate(lines, 1)
            )
            private = "" if kind == PUBLIC else f"{kind}, "
            yield _TEXT % (case, private, number_of(len(found), "test"), text)

    def _line(self, key: Key, text: str) -> Markup:
        return _LINE % (self._places.line(*key), self._places.test(key), text)


def _answers(found: Counter[str]) -> str:
    listed = [f"{answer} × {count}" for answer, count in found.most_common(_ANSWERS)]
    left = len(found) - len(listed)
    return ", ".join(listed) + count_rest(left, " and {} more")


def _correlation(item: Item) -> Markup:
    if item.correlation is None:
        return NOTHING
    r = item.correlation
    low, high = item.interval or (r, r)
    drawn = _INTERVAL % tuple(f"{50 + 50 * value:.1f}" for value in (low, high, r))
    told = Markup('%s%s<span class="vh">, 95 %% interval %s to %s</span>')
    return told % (drawn, f"{r:.2f}", f"{low:.2f}", f"{high:.2f}")
