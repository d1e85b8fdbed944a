"""A case file put to the oracle: what each test asks, and which lines cannot be reached."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from harness.assignments import assignment
from harness.assignments.assignment import FILE
from harness.errors import CaseError, UndecidedError
from harness.judging import in_process, mutant_replay
from harness.judging.board_replay import reason
from harness.judging.in_process import (
    Identity,
    folder_of,
    identities,
    is_judged,
    specifications_of,
)
from harness.judging.mutant_replay import SharedAnswers
from harness.reading.casefile import dialect_of
from harness.reading.dialect import Dialect, find_dialect
from harness.records import CaseFile, Reply, Step, Verdict
from harness.specifications.record import Specification, reply_of
from harness.text import one_line
from harness.verifying.expectation_judge import (
    CaseFinding,
    ExpectationJudge,
    FindingKind,
    OracleAnswer,
    Verified,
)
from oracle.command_properties import STONES, CommandProperties, PropertyTable
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Breakdown, Mistake

_PLAYED = Reply(True, "", "=", 0.0)
_ANNOUNCED = re.compile(r"#\s*refused\b", re.IGNORECASE)  # a comment above a command
_HIDDEN = "the right answer is not known: the command of the setup in line {} is refused"
_SETS_UP = "the document leaves open what this command of the setup does: {}"


def ask_tests(
    case: CaseFile, specification: Specification, dialect: Dialect
) -> Iterator[OracleAnswer | CaseFinding]:
    """Yield what each test asks, and a finding for each line that goes wrong before one.

    If a refused setup hides the right answer of a test, that is a finding, too.
    """
    walk = _FileWalk(case, specification, dialect)
    for step in case.steps:
        yield from walk.after_quit(step) if walk.quit_line else walk.step(step)
    yield from walk.opened.values()


class _FileWalk:
    """The way through one file, with the oracle's engine."""

    def __init__(self, case: CaseFile, specification: Specification, dialect: Dialect) -> None:
        self._path, self._lines = case.path, case.lines
        self._specification = specification
        self._dialect = dialect_of(case, dialect)
        self._engine = specification.reference_engine(folder_of(case))
        self._is_free = False  # an engine's own choice has led here
        self._unknown = _Unknown()
        self._tested = {step.command for step in case.steps if self._asks(step)}
        self.quit_line = 0
        self.opened: dict[str, CaseFinding] = {}  # by the reason: each is said once in a file

    def after_quit(self, step: Step) -> Iterator[CaseFinding]:
        """Yield that a test is never reached."""
        if step.is_test:
            yield self._unreachable(step, f"the engine has quit in line {self.quit_line}")

    def step(self, step: Step) -> Iterator[OracleAnswer | CaseFinding]:
        """Send a command to the oracle; yield what it asks, or what is wrong with it."""
        properties = self._specification.commands[step.command.partition(" ")[0]]
        self._is_free = self._is_free and not properties.begins_board
        choices = self._specification.choices(self._engine, step.command)
        ends, game = self._specification.ends, self._engine.session.game
        is_late = ends and properties.moves and not properties.chooses and game.is_over
        late = "the game is over before this move" if is_late else ""
        hidden = self._unknown.line(properties)
        told = self._ask_oracle(step, properties, choices) if step.is_test else None
        if not (late or hidden):
            self._look_whether_open(step, properties)
        right = reply_of(self._engine.handle(step.text))
        fault = "" if self._is_meant(step, right) else _describe_refusal(right, properties)
        (self._unknown.forget if fault else self._unknown.know_again)(properties, step.line)
        if told is None or (fault and properties.sets_up and self._only_sets_up(step, properties)):
            if text := late or fault:
                yield self._unreachable(step, text)
        elif hidden and in_process.is_judged(step.command, self._specification):
            yield self._unreachable(step, _HIDDEN.format(hidden))
        else:
            yield told._replace(right=right)
        self._is_free = self._is_free or (properties.moves and len(choices) > 1)
        self.quit_line = 0 if self._engine.session.running else step.line

    def _ask_oracle(
        self, step: Step, properties: CommandProperties, choices: tuple[str, ...]
    ) -> OracleAnswer:
        """Return a test without its right answer."""
        depends = self._is_free and STONES in properties.needs
        readings, why_open = _open(self._engine, step.command)
        nothing, told = Reply(False, "", "", 0.0), reason(self._engine, step.command)
        return OracleAnswer(step, nothing, readings, why_open, choices, depends, told)

    def _look_whether_open(self, step: Step, properties: CommandProperties) -> None:
        if properties.begins_board or not self._only_sets_up(step, properties):
            return  # tests on a board of such a size are reported by themselves
        if why := _why_open(self._engine, step.command):
            finding = CaseFinding(
                FindingKind.OPEN, self._path, step.line, step.text, _SETS_UP.format(why)
            )
            self.opened.setdefault(why, finding)

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

    def _asks(self, step: Step) -> bool:
        """Return whether a test is about the answer to its command, maybe an error."""
        judged = in_process.is_judged(step.command, self._specification)
        return step.pattern is not None and (judged or step.pattern.expected_fail)

    def _unreachable(self, step: Step, text: str) -> CaseFinding:
        return CaseFinding(FindingKind.UNREACHABLE, self._path, step.line, step.text, text)

    def _only_sets_up(self, step: Step, properties: CommandProperties) -> bool:
        """Return whether only a command's effect on the board matters."""
        if not (step.is_test and in_process.is_judged(step.command, self._specification)):
            return True
        return step.pattern is None and properties.says_nothing


def _open(engine: Engine, command: str) -> tuple[tuple[str, ...] | None, str]:
    """Return the answers under each reading where they differ, or else why there are none."""
    if not in_process.is_underspecified(engine, command):
        return None, ""
    found = engine.readings(command)
    if found.left_open:
        return (), found.left_open
    ways = "; or ".join(name for name, _ in found.answers)
    return tuple(answer for _, answer in found.answers), f"it may be read as {ways}"


def _why_open(engine: Engine, command: str) -> str:
    """Return what a command of the setup itself does that is left open.

    What it inherits from one before, the wrong side to move for instance, was said there.
    """
    session = engine.session
    why: str = session.explain_open_answer(split(command))
    return "" if why == session.explain_open_answer([""]) else why


def _describe_refusal(right: Reply, properties: CommandProperties) -> str:
    """Return that a command of the setup is refused: as an error, or in Gomoku's own way."""
    if not right.ok or (properties.says_nothing and right.text):
        return f"this command of the setup is refused: {one_line(right.raw, 80)}"
    return ""


class _Unknown:
    """The parts of a game that are unknown because a command of its setup was refused."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}  # what is not known, and the line of the refused command

    def forget(self, properties: CommandProperties, line: int) -> None:
        """Forget what a command would have set or changed."""
        for part in properties.touches:
            self._since.setdefault(part, line)

    def know_again(self, properties: CommandProperties, line: int) -> None:
        """Know again what a command has set."""
        for part in properties.renews:
            self._since.pop(part, None)

    def line(self, properties: CommandProperties) -> int:
        """Return the line that keeps a command's right answer from being known; 0 if none does."""
        lines = (self._since[part] for part in properties.needs if part in self._since)
        return min(lines, default=0)


# --- All case files together: what each test's expectation is worth, and which tests ask the same


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
    results: Sequence[OracleAnswer | CaseFinding],
    specification: Specification,
    dialect: str,
) -> tuple[list[CaseFinding], int]:
    """Return what is wrong with the tests of a file, and how many could not be checked."""
    judge = ExpectationJudge(case.path, specification, dialect_of(case, find_dialect(dialect)))
    answers = mistaken_answers(case, specification)
    findings, unchecked = [], 0
    for one in results:
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
    mistakes = mutant_replay.find_shown(case, specification.settled_mistakes)
    told = mutant_replay.answers_of_mutants(case, mistakes)
    return {one.step.line: list(_name_answers(one, mistakes)) for one in told if one.step.is_test}


def _name_answers(
    answers: SharedAnswers, mistakes: Mapping[int, Mistake]
) -> Iterator[tuple[str, Reply]]:
    """Yield each different answer to a test with the first mistake that leads to it."""
    first = {(bits & -bits).bit_length() - 1: raw for raw, bits in answers.by_answer().items()}
    for place, raw in sorted(first.items()):
        if not isinstance(raw, Breakdown):
            yield mistakes[place].name, reply_of(raw)


def _find_repeated(
    case: CaseFile,
    results: Sequence[OracleAnswer | CaseFinding],
    specification: Specification,
    first: Places,
) -> list[CaseFinding]:
    """Return the tests that repeat an earlier one; repeating within a game is not a fault."""
    findings = []
    games = dict(_games(case, specification.commands))
    known = {one.step.line for one in results if isinstance(one, OracleAnswer) and not one.is_free}
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


def _games(case: CaseFile, command_properties: PropertyTable) -> Iterator[tuple[int, int]]:
    """Yield each line with a command and the number of the board that it is about."""
    game = 0
    for step in case.steps:
        game += command_properties[step.command.partition(" ")[0]].begins_board
        yield step.line, game
