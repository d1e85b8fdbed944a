"""Guesses at what a ``run`` that does not work was meant to be. Imported when something is wrong.

Each function returns sentences, or raises the error that ends the run before it begins. None of
them changes a verdict.
"""

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import dropwhile, takewhile
from pathlib import Path

from harness import read_case_file
from harness.core.errors import CaseError, UndecidedError, UsageError
from harness.core.records import GTP_FILE, FailureKind, Reply, RunResult, Step, Verdict
from harness.engine.launch import search_path, split_program
from harness.reading.dialect import find_dialect
from harness.reading.suite import is_case_like

_LANGUAGES = {".py": "python3", ".jar": "java -jar", ".js": "node", ".pl": "perl", ".rb": "ruby"}
_SCRIPTS = (*_LANGUAGES, ".sh", ".class")
_ALIKE = 0.8  # a program's name and its misspelling
_GNUGOS = ".tst"  # what its suites are called
_MOST = 1_000  # tests that are looked at
_NEVER_RAN = (FailureKind.NOT_STARTED, FailureKind.DIED)


def refuse_swapped(program: str, tests: Sequence[str]) -> None:
    """Raise the error of a PROGRAM that is a folder, a suite or a case file."""
    engines = [word for word in tests if not is_case_like(word)]
    cases = [program, *(word for word in tests if is_case_like(word))]
    how = f": gtp-harness run {shlex.join([*engines, *cases])}" if len(engines) == 1 else ""
    raise UsageError(f"found {program!r} as PROGRAM, expected an engine; PROGRAM comes first{how}")


def refuse_unquoted(program: str, tests: Sequence[str]) -> None:
    """Raise an error if a TEST is a program's file, so that PROGRAM lacks its quotes."""
    loose = list(takewhile(lambda word: not is_case_like(word), tests))
    for word in filter(os.path.isfile, loose):
        if word.endswith(_SCRIPTS) or os.access(word, os.X_OK) or _first_line(word)[:2] == b"#!":
            told = _suggest_quotes([program, *loose], tests)
            raise UsageError(f"found {loose[0]!r} as TEST{told}")


def of_option(option: str, words: Sequence[str], first: int) -> str:
    """Return the end of a sentence about an unknown option that may be PROGRAM's own.

    ``first``: the place of PROGRAM among all words.
    """
    place = words.index(option) if option in words else -1
    if place <= first:
        return ""
    program = [*words[first:place], *takewhile(lambda word: not is_case_like(word), words[place:])]
    return _suggest_quotes(program, words[place:])


def _suggest_quotes(program: Sequence[str], words: Sequence[str]) -> str:
    tests = list(dropwhile(lambda word: not is_case_like(word), words))
    line = shlex.join(["gtp-harness", "run", " ".join(program), *tests])
    return f"; PROGRAM with its words is one argument: {line}{'' if tests else ' TEST…'}"


def of_run(result: RunResult) -> Iterator[str]:
    """Yield what may be done about a run that went wrong."""
    failures = [failure for file in result.files for failure in file.failures]
    if any(one.kind in _NEVER_RAN and not one.step for one in failures):
        word, *rest = split_program(result.program)
        path = word if "/" in word else shutil.which(word, path=search_path(word))
        first = _first_line(path) if path else b""
        if first.startswith(b"#!") and first.endswith(b"\r\n"):
            convert = rf"sed -i 's/\r$//' {word}"
            yield f"the first line of {word} ends in CR LF, as on Windows: {convert}"
        elif instead := _instead(word):
            yield f"did you mean {shlex.quote(shlex.join([*instead, *rest]))}?"
    if result.options["dialect"] != "gogui":
        return
    way = "--dialect gnugo, which reads case files as GNU Go's regress.awk does,"
    read = cache(_steps_there)
    paths = [error.partition(":")[0] for error in result.errors]
    # Those of GNU Go are called .tst, or a pattern has its suffix.
    refused = [
        path
        for path in paths
        if (path.endswith(_GNUGOS) and read(path))
        or any(step.pattern and step.pattern.ignored for step in read(path).values())
    ]
    if refused:
        yield f"{way} takes {', '.join(refused[:3])}"
    failed = [
        (file.case.path, file.case.steps[step], reply)
        for file in result.files
        if file.case.format == GTP_FILE
        for step, verdict, reply, _ in file.outcomes
        if verdict is Verdict.FAILED and reply is not None
    ]
    count = sum(_passes_there(*one, read(one[0])) for one in failed[:_MOST])
    if count:
        yield f"{way} passes {count} of the {len(failed)} failed tests"


def _instead(word: str) -> list[str]:
    """Return a command that starts what ``word`` cannot, or [] if unknown."""
    if os.path.isfile(word):  # noqa: PTH113
        if not os.access(word, os.X_OK):
            language = _LANGUAGES.get(Path(word).suffix, "")
            return [*language.split(), word] if language else []
        return [] if "/" in word else [f"./{word}"]
    if "/" in word:
        return []
    from oracle.sentences import nearest

    programs: list[str] = []
    for folder in search_path("").split(os.pathsep):
        with suppress(OSError):
            programs += os.listdir(folder)  # noqa: PTH208
    found = nearest(word, programs, _ALIKE)
    return [found] if found and found != word else []


def _first_line(path: str) -> bytes:
    with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123
        return file.readline(256)
    return b""


def _passes_there(path: str, step: Step, reply: Reply, steps: dict[int, Step]) -> bool:
    """Whether a test looks like one of GNU Go's, and passes as one.

    Its suites are called .tst; ``A1|B1`` means there "begins with A1, or ends with B1".
    """
    has_choice = step.pattern is not None and "|" in step.pattern.text
    there = steps.get(step.line)
    if there is None or not (path.endswith(_GNUGOS) or has_choice):
        return False
    with suppress(UndecidedError):
        return find_dialect("gnugo").verdict(there.pattern, reply) is Verdict.PASSED
    return False


def _steps_there(path: str) -> dict[int, Step]:
    """Return the tests of a case file as GNU Go reads it, by their lines; {} if it cannot."""
    try:
        return {one.line: one for one in read_case_file(path, "gnugo").steps if one.is_test}
    except CaseError:
        return {}
