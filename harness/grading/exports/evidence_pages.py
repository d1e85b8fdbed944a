"""The pages of evidence, for the teacher: conversations, measurements, builds, both runs.

There is a page for each submission, with all its case files, private ones too, and with the
variants that are evidence against it. A cell of the class's table links to the card of its test;
the card links to the test's place in the conversation and back to the class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.grading.exports import showing
from harness.grading.exports.class_page import parts
from harness.grading.exports.feedback import unsafe
from harness.grading.marks.marking import quote
from harness.grading.records import IMAGE, Attempt, ClassResult, Graded, Measured, decimal
from harness.records import Build, FileResult, Outcome
from harness.report.file_view import FileView
from harness.report.html.card import Cards, legend_on_paper
from harness.report.html.log import Links, conversation, part_cuts
from harness.report.html.page_names import LogPages, link
from harness.report.html.parts import KINDS, LOOK, PageFrame, box, in_words, page
from harness.report.html.parts import times_in_words as time_in_words
from harness.report.html.trouble import troubles
from harness.report.markup import NOTHING, Markup, escape, join_markup
from harness.report.tally import tally
from harness.text import number_of, one_line, show_utc

_STDERR = 20_000  # characters of its end
_CARDS = 60  # tests of one file that are shown in full
_COMMAND, _NAME = 80, 40  # characters
_MEGABYTE = 1_000_000

_HEAD = Markup(
    '<div class="ev-head"><div><h1>%s</h1><p class="sub">%s</p></div>'
    '<p class="btns noprint">%s</p></div>\n'
)
_BUTTON = Markup('<a class="btn" href="%s">%s</a>')
_NEXT = Markup('<a class="btn" href="%s" aria-label="%s: %s">%s</a>')
_FILE = Markup(
    '<section class="att" id="%s" aria-labelledby="%sh"><div class="sec-h"><h2 id="%sh">%s</h2>'
    '<p class="sub">%s</p></div>%s</section>\n'
)
_PASSED = Markup(
    '<details class="card ok" id="%s"><summary><span class="dot p"></span><span>%s '
    '<span class="sub">%s</span></span></summary><div class="att pad">%s</div></details>\n'
)
_FOLDED = Markup(
    '<details class="card"%s><summary>%s <span class="sub">%s</span></summary>%s</details>\n'
)
_PRE = Markup('<pre class="log" id="%s" tabindex="0">%s</pre>')
_RUNS = Markup(
    '<div class="card"><table class="two-runs"><thead><tr><th scope="col">Run</th>'
    '<th scope="col">Result</th><th scope="col">Wall time</th><th scope="col">CPU time</th>'
    '<th scope="col">Memory</th><th scope="col">Started</th></tr></thead><tbody>%s</tbody></table>'
    "</div>"
)
_RUN = Markup(
    '<tr><th scope="row">%s</th><td>%s</td><td data-l="wall time">%s</td>'
    '<td data-l="CPU time">%s</td><td data-l="memory">%s</td><td data-l="started">%s</td></tr>\n'
)
_CHANGED = Markup(
    '<div class="card"><table><thead><tr><th scope="col">Test</th><th scope="col">First run</th>'
    '<th scope="col">Second run</th></tr></thead><tbody>%s</tbody></table></div>'
)
_CHANGE = Markup(
    '<tr><td>line %s: <code>%s</code></td><td data-l="first run">%s</td>'
    '<td data-l="second run">%s</td></tr>\n'
)


def files(material: showing.Material) -> showing.Files:
    """Yield a page for each submission."""
    result = material.result
    listed, places, cards = parts.order_by_mark(result), parts.Places(result), Cards()
    beside = [None, *listed, None]
    for place, one in enumerate(listed):
        about = _EvidencePage(one, result, places, cards, material.seen[one.submission.key])
        neighbors = (beside[place], beside[place + 2])
        yield f"evidence/{one.submission.key}.html", showing.as_file(about.page(neighbors))


class _EvidencePage:
    """The page about one submission."""

    def __init__(
        self,
        one: Graded,
        result: ClassResult,
        places: parts.Places,
        cards: Cards,
        seen: Sequence[showing.CaseSummary],
    ) -> None:
        self._one, self._result, self._places, self._cards = one, result, places, cards
        self._views = {id(each.attempt): each.view for each in seen}

    def page(self, neighbors: tuple[Graded | None, Graded | None]) -> Iterator[str]:
        """Yield the page. ``neighbors``: those with the next higher and lower mark."""
        name = parts.format_students(self._one)
        up = f"../{parts.PAGE}"
        crumbs = ((f"{self._result.assignment.title}: the class", up), (name, ""))
        has_boards = any(view.remarkable for view in self._views.values())
        frame = PageFrame(
            crumbs, status=_pager(neighbors), boards=has_boards, script=True, style=parts.EVIDENCE
        )
        return page(f"{name}: evidence", self._body(name), frame)

    def _body(self, name: str) -> Iterator[Markup]:
        one = self._one
        yield _HEAD % (name, " · ".join(self._list_facts()), self._links())
        yield unsafe(self._result.is_unsafe)
        if one.submission.refused:
            yield box("Nothing was graded", Markup("<p>%s</p>") % one.submission.refused)
        yield _build(one.build)
        yield from self._files()

    def _list_facts(self) -> Iterator[str]:
        submission, marks = self._one.submission, self._one.marks
        yield "mark withheld" if marks.withheld else f"mark {marks}"
        for student in submission.students:
            if given := self._result.get_given_mark(student):
                name, why = one_line(student.name, _NAME), one_line(given.reason)
                yield f"{name} was given {decimal(given.points)} by a person: {why}"
        yield from filter(None, (submission.name, marks.note))
        if submission.time:
            yield f"submitted {submission.time:%Y-%m-%d %H:%M}"
        if submission.sha256:
            yield f"SHA-256 {submission.sha256[:12]}…"
        if self._result.python:
            yield f"run by {self._result.python}"

    def _links(self) -> Markup:
        key = self._one.submission.key
        links = [(f"../{parts.PAGE}#{self._places.submission(key)}", "In the class")]
        links += [
            (f"../feedback/{link(student.key)}", f"What {one_line(student.name, _NAME)} is shown")
            for student in self._one.submission.students
        ]
        return join_markup(_BUTTON % one for one in links)

    # --- a case file ---

    def _files(self) -> Iterator[Markup]:
        """Yield what is to be looked at first, then what went well, folded."""
        known = [
            (f"f{number}", attempt, self._views.get(id(attempt)))
            for number, attempt in enumerate(self._one.attempts, 1)
            if attempt.kind != IMAGE or id(attempt) in self._views
        ]
        passed = [one for one in known if _is_plain(*one[1:])]
        yield from (self._file(*one) for one in known if one not in passed)
        if passed:
            yield Markup('<section aria-labelledby="passed"><h2 id="passed">Passed</h2>')
            yield from (self._render_passed(*one) for one in passed)
            yield Markup("</section>\n")

    def _file(self, anchor: str, attempt: Attempt, view: FileView | None) -> Markup:
        counts = in_words(view.tally) if view else NOTHING
        said = counts + join_markup(self._list_boxes(anchor, attempt, view))
        return _FILE % (anchor, anchor, anchor, attempt.case, _cost(attempt), said)

    def _render_passed(self, anchor: str, attempt: Attempt, view: FileView | None) -> Markup:
        count = number_of(view.tally.tests if view else 0, "test")
        about = f"{count} · {_cost(attempt)}"
        said = join_markup(self._list_boxes(anchor, attempt, view))
        return _PASSED % (anchor, attempt.case, about, said)

    def _list_boxes(
        self, anchor: str, attempt: Attempt, view: FileView | None
    ) -> Iterator[Markup]:
        if attempt.fault:
            yield box("Harness error: it costs no marks", escape(attempt.fault), "warn")
        if attempt.near_limit:
            yield box("Near a limit", escape(attempt.near_limit), "warn")
        runs = attempt.runs
        if len(runs) > 1:
            yield _RUNS % join_markup(_row(number, run) for number, run in enumerate(runs, 1))
            yield _render_changed_tests(runs[0].result, runs[-1].result)
        if view is None:
            yield NOTHING if attempt.fault else Markup('<p class="sub">Nothing was run.</p>')
            return
        yield from self._result_of(anchor, attempt, _shorten_view(view))
        for number, (run, _) in enumerate(pairwise(attempt.runs), 1):
            yield _show_former(f"{anchor}r{number}", run)

    def _result_of(self, anchor: str, attempt: Attempt, view: FileView) -> Iterator[Markup]:
        file = view.file
        begin = part_cuts(file)
        log = LogPages([""], [1], anchor) if len(begin) == 1 else None
        yield from troubles(file, log)
        yield legend_on_paper([view])
        cards = view.remarkable[:_CARDS]
        for outcome in cards:
            yield self._card(anchor, attempt, view, outcome, log)
        if len(view.remarkable) > len(cards):
            left = len(view.remarkable) - len(cards)
            yield Markup('<p class="sub">%s more are in the conversation.</p>') % left
        there = {
            file.case.steps[one.step].line: (
                f"#{anchor}T{file.case.steps[one.step].line}",
                KINDS.get(one.verdict, LOOK),
            )
            for one in cards
        }
        yield _conversation(anchor, file, begin, Links(there, Markup(anchor)))
        yield _stderr(anchor, file)

    def _card(
        self, anchor: str, attempt: Attempt, view: FileView, outcome: Outcome, log: LogPages | None
    ) -> Markup:
        line = view.file.case.steps[outcome.step].line
        row = self._places.test((attempt.kind, attempt.case, line))
        back = _BUTTON % (f"../{parts.PAGE}#{row}", "This test in the class") if row else NOTHING
        return self._cards.card(view, outcome, log, f"{anchor}T", is_open=False, actions=back)


def _pager(neighbors: tuple[Graded | None, Graded | None]) -> Markup:
    words = (("‹", "Higher mark"), ("›", "Lower mark"))
    links = join_markup(
        _NEXT % (link(one.submission.key), word, parts.format_students(one), sign)
        for one, (sign, word) in zip(neighbors, words, strict=True)
        if one
    )
    return Markup('<span class="pager noprint">%s</span>') % links


def _shorten_view(view: FileView) -> FileView:
    remarkable = tuple(map(showing.short_outcome, view.remarkable))
    return view._replace(file=showing.shorten(view.file, _STDERR), remarkable=remarkable)


def _build(build: Build | None) -> Markup:
    if build is None:
        return NOTHING
    output = _PRE % ("build", build.output) if build.output.strip() else NOTHING
    text = Markup("<p>%s</p>%s") % (build.message, output) if build.message else output
    if not text:
        return Markup('<p class="sub">It was built without a word.</p>')
    title = "It was built" if build.ok else "It does not build"
    lines = number_of(len(build.output.splitlines()), "line")
    opened = NOTHING if build.ok else Markup(" open")
    return Markup('<section class="att" aria-label="Build">%s</section>') % (
        _FOLDED % (opened, title, lines, text)
    )


# --- what was said, and what it cost -----------------------------------------------------------


def _conversation(anchor: str, file: FileResult, begin: Sequence[int], links: Links) -> Markup:
    commands = number_of(len(file.case.steps), "command")
    said = join_markup(conversation(file, begin, links))
    return _FOLDED % (Markup(' id="%sc"') % anchor, "The conversation", commands, said)


def _stderr(anchor: str, file: FileResult) -> Markup:
    if not file.stderr.strip():
        return Markup('<p class="sub">Nothing was written to standard error.</p>')
    lines = number_of(len(file.stderr.splitlines()), "line")
    return _FOLDED % (NOTHING, "Standard error", lines, _PRE % (f"{anchor}stderr", file.stderr))


def _is_plain(attempt: Attempt, view: FileView | None) -> bool:
    """Whether all tests passed, and there is nothing else to be looked at."""
    if view is None or attempt.fault or attempt.near_limit or len(attempt.runs) > 1:
        return False
    plain = view.tally.passed == view.tally.tests > 0 and not view.remarkable
    return plain and not any(troubles(view.file))


def _cost(attempt: Attempt) -> str:
    """Return the kind of a case file and what it took, in one line."""
    result = attempt.result
    told = [attempt.kind]
    if result is not None:
        measured = Measured(result, result.seconds, result.cpu_seconds)
        run = attempt.runs[-1] if attempt.runs else measured
        told += [f"{time_in_words(run.seconds)} wall time", f"{time_in_words(run.cpu)} CPU time"]
        told += [_memory(run), "alone" if run.alone else ""]
        told += [f"{result.name} {result.version}".strip()]
    return " · ".join(filter(None, told))


def _row(number: int, run: Measured) -> Markup:
    name = f"{number}, {'alone' if run.alone else 'beside others'}"
    counts = in_words(tally(run.result)) if run.result else NOTHING
    times = (time_in_words(run.seconds), time_in_words(run.cpu))
    return _RUN % (name, counts, *times, _memory(run), show_utc(run.started))


def _memory(run: Measured) -> str:
    return f"{run.memory / _MEGABYTE:.1f} MB at most" if run.memory else ""


def _render_changed_tests(first: FileResult | None, last: FileResult | None) -> Markup:
    """Return the tests that two runs answered otherwise."""
    if first is None or last is None:
        return NOTHING
    rows = join_markup(
        _CHANGE % (step.line, one_line(step.command, _COMMAND), _answer(one), _answer(other))
        for one, other in zip(first.outcomes, last.outcomes, strict=True)
        if _answer(one) != _answer(other)
        for step in [last.case.steps[one.step]]
    )
    return _CHANGED % rows if rows else NOTHING


def _answer(outcome: Outcome) -> str:
    return f"{outcome.verdict.value}: {quote(outcome.reply)}"


def _show_former(anchor: str, run: Measured) -> Markup:
    """Return the conversation of a run that another one followed."""
    if run.result is None:
        return NOTHING
    file = showing.shorten(run.result, _STDERR)
    said = join_markup(conversation(file, part_cuts(file), Links(prefix=Markup(anchor))))
    broke = join_markup(Markup("<p>%s</p>") % one.message for one in file.failures)
    errors = _PRE % (f"{anchor}stderr", file.stderr) if file.stderr.strip() else NOTHING
    return _FOLDED % (
        NOTHING,
        "The first run",
        "conversation, standard error",
        broke + said + errors,
    )
