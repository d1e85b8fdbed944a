"""All case files together: what each test's expectation is worth, and which tests ask the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from harness.assignments import assignment
from harness.assignments.assignment import FILE
from harness.errors import CaseError
from harness.judging import shared_replay
from harness.judging.equivalence import is_judged
from harness.judging.likeness import Identity, identities
from harness.judging.recognition import specifications_of
from harness.judging.shared_replay import SharedAnswers
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.records import CaseFile, Reply
from harness.specifications.record import Specification
from harness.specifications.truth import reply_of
from harness.verifying.expectation_judge import ExpectationJudge
from harness.verifying.records import CaseFinding, FindingKind, OracleAnswer, Verified
from harness.verifying.test_walk import ask_tests
from oracle.mistakes import Breakdown, Mistake
from oracle.natures import Natures

Places = dict[Identity, tuple[str, int, int]]  # of a test: file, game in the file, line


def verify(
    cases: Sequence[CaseFile],
    specification: Specification | None = None,
    dialect: str = "gogui",
) -> Verified:
    """Hold every expectation of some case files against the oracle.

    ``specification``: theirs; else that of each file's folder, or the one that its commands tell.

    Raises:
        CaseError: nothing tells the assignment of a file.
    """
    findings: list[CaseFinding] = []
    first: Places = {}
    tests = unchecked = 0
    in_folder = cache(_in_folder)  # many files, few folders
    for case in cases:
        if not any(step.is_test for step in case.steps):
            continue  # for --gtpfile, say: of no assignment
        own = specification or specification_of(case, in_folder)
        told = list(ask_tests(case, own, find_dialect(dialect)))
        found, skipped = _of_file(case, told, own, dialect)
        found += _find_repeated(case, told, own, first)
        findings += sorted(found, key=lambda finding: finding.line)
        tests += sum(step.is_test for step in case.steps)
        unchecked += skipped
    return Verified(len(cases), tests, unchecked, tuple(findings))


def _in_folder(folder: Path) -> Specification | None:
    """Return the specification of the assignment in a folder; None if there is none."""
    path = folder / FILE
    return assignment.read(path).specification if path.exists() else None


def specification_of(
    case: CaseFile, in_folder: Callable[[Path], Specification | None] = _in_folder
) -> Specification:
    """Return the specification of a case file: by its folders, or else by its commands.

    ``in_folder``: tells that of a folder.

    Raises:
        CaseError: neither tells it.
    """
    for folder in Path(case.path).resolve().parents:
        if own := in_folder(folder):
            return own
    if found := specifications_of(case):
        return found[0]
    raise CaseError("found nothing that tells its assignment, expected --assignment", case.path)


def _of_file(
    case: CaseFile,
    told: Sequence[OracleAnswer | CaseFinding],
    specification: Specification,
    dialect: str,
) -> tuple[list[CaseFinding], int]:
    """Return what is wrong with the tests of a file, and how many could not be checked."""
    judge = ExpectationJudge(case.path, specification, dialect_of(case, find_dialect(dialect)))
    answers = mistaken_answers(case, specification)
    findings, unchecked = [], 0
    for one in told:
        if isinstance(one, CaseFinding):
            findings.append(one)
        elif is_judged(one.step.command, specification):
            findings += judge.findings(one, answers.get(one.step.line, ()))
        else:
            unchecked += 1
    return findings, unchecked


def mistaken_answers(
    case: CaseFile, specification: Specification
) -> dict[int, list[tuple[str, Reply]]]:
    """Return by line what mutants answer to the tests, each different answer once."""
    mistakes = shared_replay.find_shown(case, specification.settled_mistakes)
    told = shared_replay.answers(case, mistakes)
    return {one.step.line: list(_name_answers(one, mistakes)) for one in told if one.step.is_test}


def _name_answers(
    told: SharedAnswers, mistakes: Mapping[int, Mistake]
) -> Iterator[tuple[str, Reply]]:
    """Yield each different answer to a test with the first mistake that leads to it."""
    first = {(bits & -bits).bit_length() - 1: raw for raw, bits in told.by_answer().items()}
    for place, raw in sorted(first.items()):
        if not isinstance(raw, Breakdown):
            yield mistakes[place].name, reply_of(raw)


def _find_repeated(
    case: CaseFile,
    told: Sequence[OracleAnswer | CaseFinding],
    specification: Specification,
    first: Places,
) -> list[CaseFinding]:
    """Return the tests that repeat an earlier one; repeating within a game is not a fault."""
    findings = []
    games = dict(_games(case, specification.commands))
    known = {one.step.line for one in told if isinstance(one, OracleAnswer) and not one.is_free}
    for step, identity in identities(case, specification):
        if step.line not in known:
            continue  # what an engine's own choice led to, or a setup that was refused
        path, game, line = first.setdefault(identity, (case.path, games[step.line], step.line))
        if (path, game) != (case.path, games[step.line]):
            text = f"{path}:{line} asks the same after a symmetry or an exchange of colors"
            findings.append(
                CaseFinding(FindingKind.DUPLICATE, case.path, step.line, step.text, text)
            )
    return findings


def _games(case: CaseFile, natures: Natures) -> Iterator[tuple[int, int]]:
    """Yield each line with a command and the number of the board that it is about."""
    game = 0
    for step in case.steps:
        game += natures[step.command.partition(" ")[0]].begins_board
        yield step.line, game
