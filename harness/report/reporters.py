"""The formats of a run's reports, a row for each, and the context of a failed test in them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from harness.core.records import CaseFile, Repeat, RunResult, Step
from harness.core.typed import NamedTuple
from harness.reading.casefile import comments
from harness.report.file_view import FileView
from harness.report.tally import Tally

TYPE_CHECKING = False

if TYPE_CHECKING:
    from harness.report.baseline import Comparison

_NO = Repeat()


class Context(NamedTuple):
    """Context of a test; an empty text is not known."""

    comment: str = ""  # above its setup, and its own
    because: str = ""  # why the right answer is right
    loaded: str = ""  # the file that its setup loads, from here
    again: str = ""  # a command line, for a shell, that repeats just this test

    @property
    def known(self) -> dict[str, str]:
        """The texts that are known, by their names."""
        return {name: text for name, text in self._asdict().items() if text}


Contexts = Callable[[int], Context]


def contexts(view: FileView, repeat: Repeat = _NO) -> Contexts:
    """Return what tells of a step of a file, by its index, what surrounds it."""
    case = view.file.case
    again = repeating(repeat, case) if repeat.start else lambda _: ""

    def context(step: int) -> Context:
        setup, loaded = view.setups.get(step), ""
        if setup and setup.loaded:  # engines start in the case file's folder
            loaded = os.path.normpath(os.path.join(os.path.dirname(case.path), setup.loaded))
        return Context(
            comment=comments(case, step, setup),
            because=view.reasons.get(step, ""),
            loaded=loaded,
            again=again(case.steps[step]),
        )

    return context


def of_run(run: RunResult, views: Sequence[FileView]) -> Iterator[Contexts]:
    """Return what tells of the tests of each file of a run; without views nothing is known."""
    if not views:
        return iter([lambda _: Context()] * len(run.files))
    return (contexts(view, run.repeat if view.remarkable else _NO) for view in views)


def command_of(repeat: Repeat, paths: Sequence[str]) -> str:
    """Return the command line that runs these case files again, "" where none is known."""
    if not repeat.start:
        return ""
    # An option or a suite has no name that begins as theirs do.
    named = (f"./{path}" if path[:1] in "-@" else path for path in paths)
    return " ".join([repeat.start, *map(shell_word, named)])


def repeating(repeat: Repeat, case: CaseFile) -> Callable[[Step], str]:
    """Return what makes the command line that runs one test, and none that is not one with it."""
    file, ids = command_of(repeat, [case.path]), Counter(map(_id, case.lines))

    def command(step: Step) -> str:
        if repeat.test:
            return f"{repeat.start} {repeat.test} {shell_word(f'{case.path}:{step.line}')}"
        is_named = step.id >= 0 and (repeat.whole_ids or ids[_id(step.text)] == 1)
        return f"{file} --ids {step.id}" if is_named else f"{file} --lines {step.line}"

    return command


def _id(line: str) -> str:
    """Return the number with which a line begins, "" if it does with none."""
    first = line.split(maxsplit=1)[:1]
    return first[0].lstrip("+0") if first and first[0].lstrip("+").isdecimal() else ""


def shell_word(text: str) -> str:
    """Return text as one word for a POSIX shell, on one line, whatever bytes are in it."""
    from shlex import quote

    if text.isprintable():
        return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else quote(text)
    octal = "".join(
        chr(byte)
        if byte < 128 and (chr(byte).isalnum() or chr(byte) in "/._-+=, ")
        else f"\\0{byte:03o}"
        for byte in os.fsencode(text)
    )
    return f"\"$(printf %b '{octal}')\""


# --- the formats of a run's reports: a row for each, and a module that writes it ---------------
# A format is one row and one module, which has a function ``report(path, finished)``. Options,
# their help, completion, manual page and the checks before a run follow from the row.


class Finished(NamedTuple):
    """A run that is over, as every reporter is given it."""

    result: RunResult
    views: Sequence[FileView]  # of the result's files, in their order
    comparison: Comparison | None = None  # with a former run, if one was asked for

    @property
    def tallies(self) -> list[Tally]:
        """The verdicts of each file, counted."""
        return [view.tally for view in self.views]


class Reporter(NamedTuple):
    """A format of reports."""

    name: str  # its option, without the dashes
    metavar: str  # of the option's value: FILE, which may be standard output, or DIR
    what: str  # for --help: what is written
    module: str  # which has ``report``; imported when a report is to be written
    is_gogui: bool = False  # gogui-regress has the option, too

    @property
    def option(self) -> str:
        """The option as it is typed."""
        return f"--{self.name}"

    @property
    def attribute(self) -> str:
        """Name of the option's value among those that were read."""
        return self.name.replace("-", "_")

    @property
    def is_folder(self) -> bool:
        """Whether many files are written into a folder."""
        return self.metavar == "DIR"

    def write(self, path: str, finished: Finished) -> None:
        """Write the report.

        Raises :class:`~harness.core.errors.ReportError` when that cannot be done.
        """
        import_module(self.module).report(path, finished)


# In the order in which they are written.
REPORTERS = (
    Reporter(
        "output",
        "DIR",
        "write index.html, pages, logs and summary.dat",
        "harness.report.html",
        is_gogui=True,
    ),
    Reporter(
        "json", "FILE", "write all results as JSON (-: to standard output)", "harness.report.json"
    ),
    Reporter("junit", "FILE", "write JUnit XML (-: to standard output)", "harness.report.junit"),
    Reporter("tap", "FILE", "write TAP version 14 (-: to standard output)", "harness.report.tap"),
    Reporter(
        "save-failures",
        "DIR",
        "write each failed test as a case file and its board as SGF",
        "harness.report.saved_failures",
    ),
)
