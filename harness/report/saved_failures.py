"""Each failed test as a case file of its own, with its setup, and its position as SGF.

A saved case file has what leads to the test from the last new board on, and before it the settings
that were made earlier. Other tests among these commands are sent and not judged. Files that
commands name are copied beside it; the board as it is known here is an SGF file.
"""

import os
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path, PurePath

from harness.core.errors import ReportError
from harness.core.records import ANSWERS_FILE, DONE, FileResult, Outcome, Step, Verdict
from harness.core.text import encode, escape_controls, one_line
from harness.judging.in_process import specifications_of
from harness.reading.answer_files import COUNTS
from harness.reading.casefile import SetUp
from harness.report import report_files
from harness.report.file_view import FileView
from harness.report.junit import mismatch
from harness.report.reporters import Finished, contexts, shell_word
from harness.running.restarting import settings_before
from harness.specifications import EVERYONES
from oracle.position import BLACK, Position, color_of

_LONG = 300  # characters of an answer that a comment quotes


def report(path: str, finished: Finished) -> None:
    """Write a run's failed tests; see :class:`~harness.report.reporters.Reporter`."""
    repeat, names = finished.result.repeat, _FileNames(path)
    for view in finished.views:
        steps = view.file.case.steps
        failed = [one.step for one in view.remarkable if one.verdict is Verdict.FAILED]
        last = {steps[step].id: step for step in failed}
        if not failed:
            continue
        context, own = contexts(view), specifications_of(view.file.case)
        game = "go" if not own or own[0].board.captures else "gomoku"  # as SGF tells them apart
        for outcome in view.remarkable:
            id_ = steps[outcome.step].id
            # Of tests that are one the last is judged for all.
            is_shared = repeat.whole_ids and id_ >= 0 and last.get(id_) != outcome.step
            if outcome.verdict is not Verdict.FAILED or is_shared:
                continue
            name = names.of_test(view, outcome)
            saved = f"{path}/{name}.{view.file.case.format}"
            again = f"{repeat.start} {shell_word(saved)}"
            text = "\n".join(_lines(view, outcome, context(outcome.step).comment, again, names))
            report_files.write_bytes(saved, encode(text + "\n"))
            if board := view.boards.get(outcome.step):
                _save_board(view, outcome, board.position, game, f"{path}/{name}.sgf")


class _FileNames:
    """The names in the folder; each is given once."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._taken: set[str] = set()
        self._copies: dict[str, str] = {}  # by the real path of what was copied

    def of_test(self, view: FileView, outcome: Outcome) -> str:
        """Return the name of a test's files, without their suffix."""
        step = view.file.case.steps[outcome.step]
        which = f"{step.id}" if step.id >= 0 else f"line{step.line}"
        return self._free(f"{PurePath(view.file.case.path).stem}-{which}", "")

    def of_copy(self, path: str) -> str:
        """Copy a file into the folder, if that was not done; return its name from there.

        Raises :class:`ReportError` when it cannot be read or written.
        """
        real = os.path.realpath(path)
        if real not in self._copies:
            self._copies[real] = name = self._free(*os.path.splitext(os.path.basename(path)))  # noqa: PTH119, PTH122
            try:
                report_files.write_bytes(f"{self._folder}/{name}", Path(path).read_bytes())
            except OSError as error:
                raise ReportError(f"cannot copy {path}: {error.strerror}") from error
        return self._copies[real]

    def _free(self, stem: str, suffix: str) -> str:
        name, number = stem + suffix, 1
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}{suffix}"
        self._taken.add(name)
        return name


def _lines(
    view: FileView, outcome: Outcome, comment: str, again: str, names: _FileNames
) -> Iterator[str]:
    file, setup = view.file, view.setups.get(outcome.step, SetUp())
    case, step = file.case, file.case.steps[outcome.step]
    yield f"# {one_line(f'{case.path}:{step.line}', _LONG)} FAILED:"
    yield f"# {one_line(mismatch(step, outcome), _LONG)}"
    yield f"# {again}"
    yield ""
    yield from (f"# {escape_controls(line)}" for line in comment.splitlines())
    has_answers = case.format == ANSWERS_FILE
    # What made settings before was answered with an empty success; GNU Go answers ``loadsgf`` with
    # the color to move.
    silent = {
        index
        for index, reply in enumerate(file.replies[: setup.first])
        if reply and reply.ok and (not reply.text or _loads(case.steps[index].command))
    }
    for command in settings_before(case, setup.first, silent, EVERYONES):
        yield _with_copies(command, file, names)
        yield from [DONE] * has_answers
    for one in case.steps[setup.first : outcome.step]:
        yield _with_copies(one.command, file, names)
        yield from _answer(one) if has_answers else ()
    yield f"{COUNTS * has_answers}{_with_copies(step.text, file, names)}"
    expectation = takewhile(lambda line: line.lstrip().startswith("#?"), case.lines[step.line :])
    yield from _answer(step) if has_answers else expectation


def _answer(step: Step) -> list[str]:
    """Return the lines of an answer, its status the last; of a test that was not chosen = 1."""
    return step.pattern.text.split("\n") if step.pattern else [DONE]


def _loads(command: str) -> bool:
    name, _, rest = command.partition(" ")
    return bool(rest) and EVERYONES[name].loads


def _with_copies(command: str, file: FileResult, names: _FileNames) -> str:
    """Return a command that names copies of the files beside the case file, where it names any."""
    folder = os.path.dirname(file.case.path)  # noqa: PTH120 - "" is here
    words = command.split(" ")
    places = [(place, place + 1) for place in range(1, len(words))]
    if _loads(command[command.find(words[0]) :].lstrip("0123456789 ")):
        places = [(1, len(words)), (1, len(words) - 1), (2, len(words)), *places]
    for first, end in places:
        name = " ".join(words[first:end])
        path = os.path.join(folder, name)  # noqa: PTH118
        # A plain word need not be a name.
        if ("/" in name or "." in name) and not os.path.isabs(name) and os.path.isfile(path):  # noqa: PTH113, PTH117
            return " ".join([*words[:first], names.of_copy(path), *words[end:]])
    return command


def _save_board(view: FileView, outcome: Outcome, board: Position, game: str, path: str) -> None:
    from oracle.sgf.write import write_sgf

    case, step = view.file.case, view.file.case.steps[outcome.step]
    colors = map(color_of, reversed(step.command.split()[1:]))
    to_play = next(filter(None, colors), BLACK)  # the color that the command names last
    told = escape_controls(f"{case.path}:{step.line}\n{step.text}\n{mismatch(step, outcome)}")
    data = write_sgf(board, [], game=game, to_play=to_play, comment=told)
    report_files.write_bytes(path, data)
