"""The context of a failed test besides its answer, the same in every report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from harness.reading.casefile import comments
from harness.records import CaseFile, Repeat, RunResult, Step
from harness.report.file_view import FileView
from harness.typed import NamedTuple

_NO = Repeat()


class Context(NamedTuple):
    """What surrounds a test; a text that is empty is not known."""

    comment: str = ""  # above its setup, and its own
    because: str = ""  # why the right answer is right
    loaded: str = ""  # the file that its setup loads, from here
    again: str = ""  # a command line, for a shell, that repeats just this test


Contexts = Callable[[int], Context]


def contexts(view: FileView, repeat: Repeat = _NO) -> Contexts:
    """Return what tells of a step of a file, by its index, what surrounds it."""
    case = view.file.case
    repeating = Repeating(repeat, case) if repeat.start else None

    def context(step: int) -> Context:
        setup = view.setups.get(step)
        return Context(
            comment=comments(case, step, setup),
            because=view.reasons.get(step, ""),
            loaded=_from_here(case, setup.loaded) if setup and setup.loaded else "",
            again=repeating.of(case.steps[step]) if repeating else "",
        )

    return context


def of_run(run: RunResult, views: Sequence[FileView]) -> Iterator[Contexts]:
    """Yield what tells of the tests of each file of a run; without views nothing is known."""
    if not views:
        yield from (lambda _: Context() for _ in run.files)
    for view in views:
        yield contexts(view, run.repeat if view.remarkable else _NO)


def _from_here(case: CaseFile, name: str) -> str:
    """Return the path of a file that a command names: engines start in the case file's folder."""
    return os.path.normpath(os.path.join(os.path.dirname(case.path), name))


def command_of(repeat: Repeat, paths: Sequence[str]) -> str:
    """Return the command line that runs these case files again, "" where none is known."""
    if not repeat.start:
        return ""
    return " ".join([repeat.start, *(shell_word(_name(path)) for path in paths)])


class Repeating:
    """Makes the command lines that repeat tests of one file."""

    def __init__(self, repeat: Repeat, case: CaseFile) -> None:
        self._start = repeat.start if repeat.test else command_of(repeat, [case.path])
        self._option, self._path = repeat.test, case.path
        self._whole_ids = repeat.whole_ids
        self._ids = Counter(_id(line) for line in case.lines)

    def of(self, step: Step) -> str:
        """Return the command line that runs a test, and no other than what is one with it."""
        if self._option:
            return f"{self._start} {self._option} {shell_word(f'{self._path}:{step.line}')}"
        is_named = step.id >= 0 and (self._whole_ids or self._ids[_id(step.text)] == 1)
        which = f"--ids {step.id}" if is_named else f"--lines {step.line}"
        return f"{self._start} {which}"


def _name(path: str) -> str:
    """Return what a case file is called on the command line."""
    return f"./{path}" if path[:1] in "-@" else path  # an option or a suite has no such name


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
