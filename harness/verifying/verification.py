"""Verification of case files: wrong expectations, tests out of reach, and repeated tests."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from harness.assignments import assignment
from harness.core.errors import CaseError, UndecidedError
from harness.core.records import CaseFile, Reply, Step, Verdict
from harness.core.text import one_line
from harness.judging import in_process, mutant_replay
from harness.judging.board_replay import reason
from harness.reading.casefile import dialect_of
from harness.reading.dialect import Dialect, find_dialect
from harness.specifications.record import Specification, reply_of
from harness.verifying.expectation_judge import (
    CaseFinding,
    ExpectationJudge,
    FindingKind,
    OracleAnswer,
    Verified,
)
from oracle.command_properties import STONES, CommandProperties
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Breakdown

_PLAYED = Reply(True, "", "=", 0.0)
_ANNOUNCED = re.compile(r"#\s*refused\b", re.IGNORECASE)  # a comment above a command
_HIDDEN = "the right answer is not known: the command of the setup in line {} is refused"
_SETS_UP = "the document leaves open what this command of the setup does: {}"


class _FileWalk:
    """The oracle's answers to the tests of one file, from its first command to its last."""

    def __init__(self, case: CaseFile, specification: Specification, dialect: Dialect) -> None:
        self._path, self._steps, self._lines = case.path, case.steps, case.lines
        self._specification = specification
        self._dialect = dialect_of(case, dialect)
        self._engine = specification.reference_engine(in_process.folder_of(case))
        self._is_free = False  # an engine's own choice has led here
        # The parts of a game that are unknown, with the line of the command that was refused.
        self._unknown: dict[str, int] = {}
        # What tests ask, whose answer may be an error.
        self._tested = {
            step.command
            for step in case.steps
            if step.pattern is not None
            and (step.pattern.expected_fail or in_process.is_judged(step.command, specification))
        }
        self._quit_line = 0
        # Findings about commands of the setup, by the reason: each is said once in a file.
        self._open_setup: dict[str, CaseFinding] = {}

    def ask(self) -> Iterator[OracleAnswer | CaseFinding]:
        """Yield what each test asks, and a finding for each line that goes wrong before one.

        If a refused setup hides the right answer of a test, that is a finding, too.
        """
        for step in self._steps:
            if not self._quit_line:
                yield from self._send(step)
            elif step.is_test:
                yield self._unreachable(step, f"the engine has quit in line {self._quit_line}")
        yield from self._open_setup.values()

    def _send(self, step: Step) -> Iterator[OracleAnswer | CaseFinding]:
        """Send a command to the oracle; yield what it asks, or what is wrong with it."""
        engine, properties = self._engine, self._specification.commands[_name(step)]
        self._is_free = self._is_free and not properties.begins_board
        choices = self._specification.choices(engine, step.command)
        ends, game = self._specification.ends, engine.session.game
        is_late = ends and properties.moves and not properties.chooses and game.is_over
        late = "the game is over before this move" if is_late else ""
        refused = (self._unknown[one] for one in properties.needs if one in self._unknown)
        hidden_by = min(refused, default=0)  # the line of the first refused command; 0: none
        answer = self._ask_oracle(step, properties, choices) if step.is_test else None
        # Tests on a board of such a size are reported by themselves.
        sets_up = not properties.begins_board and self._only_sets_up(step, properties)
        if sets_up and not (late or hidden_by) and (why := _why_open(engine, step.command)):
            text = _SETS_UP.format(why)
            finding = CaseFinding(FindingKind.OPEN, self._path, step.line, step.text, text)
            self._open_setup.setdefault(why, finding)
        right = reply_of(engine.handle(step.text))
        fault = ""
        # It is refused: as an error, or in Gomoku's own way.
        is_refused = not right.ok or (properties.says_nothing and right.text)
        if is_refused and not self._is_meant(step, right):
            fault = f"this command of the setup is refused: {one_line(right.raw, 80)}"
        for part in properties.touches if fault else ():
            self._unknown.setdefault(part, step.line)
        for part in () if fault else properties.renews:
            self._unknown.pop(part, None)
        is_setup = fault and properties.sets_up and self._only_sets_up(step, properties)
        if answer is None or is_setup:
            if text := late or fault:
                yield self._unreachable(step, text)
        elif hidden_by and in_process.is_judged(step.command, self._specification):
            yield self._unreachable(step, _HIDDEN.format(hidden_by))
        else:
            yield answer._replace(right=right)
        self._is_free = self._is_free or (properties.moves and len(choices) > 1)
        self._quit_line = 0 if engine.session.running else step.line

    def _ask_oracle(
        self, step: Step, properties: CommandProperties, choices: tuple[str, ...]
    ) -> OracleAnswer:
        """Return a test without its right answer."""
        engine = self._engine
        readings: tuple[str, ...] | None = None
        why_open = ""
        if in_process.is_underspecified(engine, step.command):
            known = engine.readings(step.command)
            readings, why_open = (), known.left_open
            if not why_open:
                readings = tuple(answer for _, answer in known.answers)
                why_open = f"it may be read as {'; or '.join(name for name, _ in known.answers)}"
        depends = self._is_free and STONES in properties.needs
        nothing, why_right = Reply(False, "", "", 0.0), reason(engine, step.command)
        return OracleAnswer(step, nothing, readings, why_open, choices, depends, why_right)

    def _is_meant(self, step: Step, right: Reply) -> bool:
        """Return whether the file's author knows that a command is refused, if it is.

        A test says so by its expectation. What it asks in one place may be repeated in another.
        Of a command of the setup a comment above it says so: ``# refused``.
        """
        above = self._lines[step.line - 2] if step.line > 1 else ""
        if _ANNOUNCED.match(above) is not None:
            return True
        if not step.is_test:
            is_expected = step.pattern is not None and self._meets(step, right)
            return is_expected or step.command in self._tested
        if step.pattern is None:
            return False
        # Gomoku refuses with a successful reply: another text expects no stone.
        return self._meets(step, right) or (right.ok and not self._meets(step, _PLAYED))

    def _meets(self, step: Step, reply: Reply) -> bool:
        """Return whether a test with an expectation is satisfied by a reply."""
        try:
            met = self._dialect.verdict(step.pattern, reply)
        except UndecidedError:
            return False
        return met in (Verdict.PASSED, Verdict.EXPECTED_FAIL)

    def _unreachable(self, step: Step, text: str) -> CaseFinding:
        return CaseFinding(FindingKind.UNREACHABLE, self._path, step.line, step.text, text)

    def _only_sets_up(self, step: Step, properties: CommandProperties) -> bool:
        """Return whether only a command's effect on the board matters."""
        if not (step.is_test and in_process.is_judged(step.command, self._specification)):
            return True
        return step.pattern is None and properties.says_nothing


def _why_open(engine: Engine, command: str) -> str:
    """Return what a command of the setup itself does that is left open.

    What it inherits from one before, the wrong side to move for instance, was said there.
    """
    session = engine.session
    why: str = session.explain_open_answer(split(command))
    return "" if why == session.explain_open_answer([""]) else why


# --- All case files together: wrong expectations, and tests that ask the same --------------------


Places = dict[in_process.Identity, tuple[str, int, int]]  # of a test: file, game in the file, line


def verify(
    cases: Sequence[CaseFile], specification: Specification | None = None, dialect: str = "gogui"
) -> Verified:
    """Return what is wrong with the expectations of some case files, by the oracle.

    ``specification``: theirs; None: that of each file's folder, or the one that its commands tell.

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
        assigned = specification or specification_of(case, in_folder)
        results = list(_FileWalk(case, assigned, find_dialect(dialect)).ask())
        judge = ExpectationJudge(case.path, assigned, dialect_of(case, find_dialect(dialect)))
        answers = mistaken_answers(case, assigned)
        file_findings: list[CaseFinding] = []
        for one in results:
            if isinstance(one, CaseFinding):
                file_findings.append(one)
            elif in_process.is_judged(one.step.command, assigned):
                file_findings += judge.findings(one, answers.get(one.step.line, ()))
            else:
                unchecked += 1
        file_findings += _find_repeated(case, results, assigned, first)
        findings += sorted(file_findings, key=lambda finding: finding.line)
        tests += sum(step.is_test for step in case.steps)
    return Verified(len(cases), tests, unchecked, tuple(findings))


def _in_folder(folder: Path) -> Specification | None:
    """Return the specification of the assignment in a folder; None if there is none."""
    path = folder / assignment.FILE
    return assignment.read(path).specification if path.exists() else None


def specification_of(
    case: CaseFile, in_folder: Callable[[Path], Specification | None] = _in_folder
) -> Specification:
    """Return the specification of a case file: by its folders, or else by its commands.

    ``in_folder``: tells that of a folder. Raises as :func:`verify`.
    """
    by_folder = filter(None, map(in_folder, Path(case.path).resolve().parents))
    if found := next(by_folder, None) or next(iter(in_process.specifications_of(case)), None):
        return found
    raise CaseError("found nothing that tells its assignment, expected --assignment", case.path)


def mistaken_answers(
    case: CaseFile, specification: Specification
) -> dict[int, list[tuple[str, Reply]]]:
    """Return by line the different answers of mutants to each test: (mistake, reply).

    The mistake is the name of the first one that leads to this answer.
    """
    mistakes = specification.settled_mistakes
    found = {}
    for step, answers in mutant_replay.answers_of_mutants(case, mistakes):
        if step.is_test:
            first = {(bits & -bits).bit_length() - 1: raw for raw, bits in answers.items()}
            found[step.line] = [
                (mistakes[place].name, reply_of(raw))
                for place, raw in sorted(first.items())
                if not isinstance(raw, Breakdown)
            ]
    return found


def _find_repeated(
    case: CaseFile,
    results: Sequence[OracleAnswer | CaseFinding],
    specification: Specification,
    first: Places,
) -> list[CaseFinding]:
    """Return the tests that repeat an earlier one; repeating within a game is not a fault."""
    found = []
    games, game = dict[int, int](), 0  # by line, the number of the board that it is about
    for step in case.steps:
        game += specification.commands[_name(step)].begins_board
        games[step.line] = game
    known = {one.step.line for one in results if isinstance(one, OracleAnswer) and not one.is_free}
    for step, identity in in_process.identities(case, specification):
        if step.line not in known:
            continue  # what an engine's own choice led to, or a setup that was refused
        path, game, line = first.setdefault(identity, (case.path, games[step.line], step.line))
        if (path, game) != (case.path, games[step.line]):
            text = f"{path}:{line} asks the same after a symmetry or an exchange of colors"
            found.append(CaseFinding(FindingKind.DUPLICATE, case.path, step.line, step.text, text))
    return found


def _name(step: Step) -> str:
    return step.command.partition(" ")[0]
