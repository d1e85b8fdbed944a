"""Views of case files with boards and explanations, worked out once for a whole class.

Two submissions that fail the same test mostly see the same board and the same reason: these hang
only on what was asked, which commands were refused, and what the engine chose itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.core.records import FileResult, Reply, Verdict
from harness.judging.board_replay import boards, mark_boards, reasons
from harness.reading.casefile import SetUp, setups
from harness.report.board_evidence import Count, counts
from harness.report.file_view import FileView, is_remarkable
from harness.report.tally import tally
from harness.specifications import EVERYONES
from harness.specifications.record import Specification
from oracle.command_properties import PropertyTable
from oracle.draw import Diagram

# What happened in a case file, as far as boards hang on it: its path, for the files that commands
# name, its lines, and a word for each reply.
_Course = tuple[str, tuple[str, ...], tuple[str, ...]]


class _Drawn(NamedTuple):
    """Boards and notes of a file's tests, by step."""

    boards: dict[int, Diagram]
    marked: dict[int, Diagram]  # with what the reasons point at
    reasons: dict[int, str]
    counts: dict[int, Count]
    setups: dict[int, SetUp]


_NOTHING = _Drawn({}, {}, {}, {}, {})


class Views:
    """Makes the views of one class's results.

    ``specification``: whose engine explains; None: none can. ``place``: the folder that case
    files lie in which go by relative names, for the files that their commands name in turn.
    """

    def __init__(self, specification: Specification | None, place: Path) -> None:
        self._specification = specification
        self._command_properties = specification.commands if specification else EVERYONES
        self._place = place
        self._known: dict[_Course, _Drawn] = {}
        self._made: dict[tuple[int, str], tuple[FileResult, FileView]] = {}

    def of(self, file: FileResult, name: str, path: str = "") -> FileView:
        """Return the view of a file, which goes by ``name``, with the reasons of failed tests.

        ``path``: where its case file lies, if that is not where its own path says.
        """
        key = id(file), name  # the file is kept, so that no other has its id
        if key in self._made:
            return self._made[key][1]
        seen = tuple(outcome for outcome in file.outcomes if is_remarkable(outcome))
        wrong = {outcome.step for outcome in seen if outcome.verdict is Verdict.FAILED}
        drawn = _NOTHING
        if seen:
            place = self._place / (path or file.case.path)
            placed = file._replace(case=file.case._replace(path=str(place)))
            course = _course(placed, self._command_properties)
            if course not in self._known:
                self._known[course] = self._draw(placed)
            drawn = self._known[course]
        shown = {outcome.step for outcome in seen} & drawn.boards.keys()
        made = FileView(
            file._replace(case=file.case._replace(path=name)),
            tally(file),
            seen,
            {step: (drawn.marked if step in wrong else drawn.boards)[step] for step in shown},
            {step: drawn.reasons[step] for step in wrong & drawn.reasons.keys()},
            setups=drawn.setups,
            legend=self._specification.legend if self._specification else {},
            wordings=self._specification.wordings if self._specification else {},
            counts={step: drawn.counts[step] for step in wrong & drawn.counts.keys()},
        )
        self._made[key] = file, made
        return made

    def _draw(self, file: FileResult) -> _Drawn:
        tests = {outcome.step for outcome in file.outcomes}
        own = self._specification
        found = boards(file, tests, self._command_properties, own.board if own else None)
        why = reasons(file, tests, own) if own else {}
        told = {step: one.text for step, one in why.items()}
        led = setups(file.case, tests, self._command_properties)
        return _Drawn(found, mark_boards(found, why), told, counts(why), led)


def _course(file: FileResult, command_properties: PropertyTable) -> _Course:
    def word(command: str, reply: Reply | None) -> str:
        if reply is None:
            return "-"
        if not reply.ok or reply.text.startswith("illegal move"):
            return "?"
        return f"={reply.text}" if command_properties[command.partition(" ")[0]].tells else "="

    steps = zip(file.case.steps, file.replies, strict=True)
    return (
        file.case.path,
        file.case.lines,
        (
            *(f"{sent.text} {word(sent.text, sent.reply)}" for sent in file.before),
            *(
                f"{one.step} {sent.text} {word(sent.text, sent.reply)}"
                for one in file.restarts
                for sent in one.sent
            ),
            *(word(step.command, reply) for step, reply in steps),
        ),
    )
