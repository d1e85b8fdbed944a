"""The pages of evidence, for the teacher: conversations, measurements, builds, both runs.

There is a page for each submission, with all its case files, private ones too, and with the
variants that are evidence against it. A cell of the class's table links to the card of its test;
the card links to the test's place in the conversation and back to the class.
"""

from collections.abc import Iterator
from types import SimpleNamespace

from harness.core.records import FileResult, Outcome
from harness.core.text import number_of, one_line, show_utc
from harness.grading.exports import exporters, showing
from harness.grading.exports.class_page import parts
from harness.grading.exports.feedback import unsafe
from harness.grading.marks.marking import quote
from harness.grading.records import IMAGE, Attempt, Graded, Measured, decimal
from harness.report.file_view import FileView
from harness.report.html.card import Cards, legend_on_paper
from harness.report.html.log import Links, conversation, part_cuts
from harness.report.html.page_names import LogPages, link
from harness.report.html.parts import KINDS, LOOK, NOTHING, PageFrame, in_words, page, troubles
from harness.report.html.parts import times_in_words as time_in_words
from harness.report.html.templates import Template
from harness.report.tally import tally

_STDERR = 20_000  # characters of its end
_CARDS = 60  # tests of one file that are shown in full
_COMMAND, _NAME = 80, 40  # characters
_MEGABYTE = 1_000_000
_template = Template("grading/exports/evidence.html")


def files(material: exporters.Material) -> exporters.Files:
    """Yield a page for each submission."""
    listed, places = parts.order_by_mark(material.result), parts.Places(material.result)
    cards = Cards()
    beside = [None, *listed, None]
    for place, one in enumerate(listed):
        about = _EvidencePage(one, material, places, cards)
        neighbors = (beside[place], beside[place + 2])
        yield f"evidence/{one.submission.key}.html", exporters.as_file(about.page(neighbors))


class _EvidencePage:
    """The page about one submission."""

    def __init__(
        self, graded: Graded, material: exporters.Material, places: parts.Places, cards: Cards
    ) -> None:
        self._one, self._result, self._places, self._cards = graded, material.result, places, cards
        summaries = material.summaries[graded.submission.key]
        self._views = {id(each.attempt): each.view for each in summaries}

    def page(self, neighbors: tuple[Graded | None, Graded | None]) -> Iterator[str]:
        """Yield the page. ``neighbors``: those with the next higher and lower mark."""
        one, name = self._one, parts.format_students(self._one)
        up = f"../{parts.PAGE}"
        crumbs = ((f"{self._result.assignment.title}: the class", up), (name, ""))
        words = (("‹", "Higher mark"), ("›", "Lower mark"))
        pager = [
            (*each, link(other.submission.key), parts.format_students(other))
            for other, each in zip(neighbors, words, strict=True)
            if other
        ]
        frame = PageFrame(
            crumbs,
            status=_template.pager(pager),
            boards=any(view.remarkable for view in self._views.values()),
            script=True,
            style=parts.EVIDENCE,
        )
        known = [
            (f"f{number}", attempt, self._views.get(id(attempt)))
            for number, attempt in enumerate(one.attempts, 1)
            if attempt.kind != IMAGE or id(attempt) in self._views
        ]
        passed = [each for each in known if _is_plain(*each[1:])]
        body = _template.body(
            name=name,
            told=[*self._list_facts()],
            links=[
                (f"../{parts.PAGE}#{self._places.submission(one.submission.key)}", "In the class"),
                *(
                    (f"../feedback/{link(s.key)}", f"What {one_line(s.name, _NAME)} is shown")
                    for s in one.submission.students
                ),
            ],
            unsafe=unsafe(self._result.is_unsafe),
            refused=one.submission.refused,
            build=one.build,
            files=[self._file(*each) for each in known if each not in passed],
            passed=[self._file(*each) for each in passed],
        )
        return page(f"{name}: evidence", [body], frame)

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

    # --- a case file ---

    def _file(self, anchor: str, attempt: Attempt, view: FileView | None) -> SimpleNamespace:
        runs = attempt.runs if len(attempt.runs) > 1 else ()
        return SimpleNamespace(
            anchor=anchor,
            case=attempt.case,
            cost=_cost(attempt),
            counts=in_words(view.tally) if view else "",
            tests=view.tally.tests if view else 0,
            fault=attempt.fault,
            near_limit=attempt.near_limit,
            runs=[
                SimpleNamespace(
                    alone=run.alone,
                    counts=in_words(tally(run.result)) if run.result else "",
                    wall=time_in_words(run.seconds),
                    cpu=time_in_words(run.cpu),
                    memory=_memory(run),
                    started=show_utc(run.started),
                )
                for run in runs
            ],
            changed=_changed_tests(runs[0].result, runs[-1].result) if runs else (),
            result=self._result_of(anchor, attempt, view) if view else None,
            former=[  # the conversations of runs that another one followed
                SimpleNamespace(
                    anchor=f"{anchor}r{number}",
                    failures=file.failures,
                    conversation=conversation(
                        file, part_cuts(file), Links(prefix=f"{anchor}r{number}")
                    ),
                    stderr=file.stderr,
                )
                for number, run in enumerate(attempt.runs[:-1], 1)
                if run.result
                for file in [showing.shorten(run.result, _STDERR)]
            ],
        )

    def _result_of(self, anchor: str, attempt: Attempt, full: FileView) -> SimpleNamespace:
        view = showing.shorten_view(full, _STDERR)
        file, begin = view.file, part_cuts(view.file)
        log = LogPages([""], [1], anchor) if len(begin) == 1 else None
        cards = view.remarkable[:_CARDS]
        there, shown = {}, []
        for one in cards:
            line = file.case.steps[one.step].line
            there[line] = f"#{anchor}T{line}", KINDS.get(one.verdict, LOOK)
            row = self._places.test((attempt.kind, attempt.case, line))
            back = _template.back(f"../{parts.PAGE}#{row}") if row else NOTHING
            card = self._cards.card(view, one, log, f"{anchor}T", is_open=False, actions=back)
            shown.append(card)
        return SimpleNamespace(
            troubles=troubles(file, log),
            legend=legend_on_paper([view]),
            cards=shown,
            left=len(view.remarkable) - len(cards),
            commands=number_of(len(file.case.steps), "command"),
            conversation=conversation(file, begin, Links(there, anchor)),
            stderr=file.stderr,
        )


# --- what was said, and what it cost -----------------------------------------------------------


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


def _memory(run: Measured) -> str:
    return f"{run.memory / _MEGABYTE:.1f} MB at most" if run.memory else ""


def _changed_tests(
    first: FileResult | None, last: FileResult | None
) -> list[tuple[int, str, str, str]]:
    """Return the tests that two runs answered otherwise."""
    if first is None or last is None:
        return []
    return [
        (step.line, one_line(step.command, _COMMAND), _answer(one), _answer(other))
        for one, other in zip(first.outcomes, last.outcomes, strict=True)
        if _answer(one) != _answer(other)
        for step in [last.case.steps[one.step]]
    ]


def _answer(outcome: Outcome) -> str:
    return f"{outcome.verdict.value}: {quote(outcome.reply)}"
