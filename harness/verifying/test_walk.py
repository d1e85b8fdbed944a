"""A case file put to the oracle: what each test asks, and which lines cannot be reached."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.errors import UndecidedError
from harness.escaping import one_line
from harness.judging import equivalence
from harness.judging.explain import reason
from harness.judging.mistaken import folder_of
from harness.reading.casefile import dialect_of
from harness.reading.dialect import Dialect
from harness.records import CaseFile, Reply, Step, Verdict
from harness.specifications.record import Specification
from harness.specifications.truth import reply_of
from harness.verifying.records import CaseFinding, FindingKind, OracleAnswer
from oracle.gtp.protocol import Engine, split
from oracle.natures import STONES, Nature

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
        nature = self._specification.commands[step.command.partition(" ")[0]]
        self._is_free = self._is_free and not nature.begins_board
        choices = self._specification.choices(self._engine, step.command)
        late = self._after_the_end(nature)
        hidden = self._unknown.line(nature)
        told = self._ask_oracle(step, nature, choices) if step.is_test else None
        if not (late or hidden):
            self._look_whether_open(step, nature)
        right = reply_of(self._engine.handle(step.text))
        fault = "" if self._is_meant(step, right) else _describe_refusal(right, nature)
        (self._unknown.forget if fault else self._unknown.know_again)(nature, step.line)
        if told is None or (fault and nature.sets_up and self._only_sets_up(step, nature)):
            if text := late or fault:
                yield self._unreachable(step, text)
        elif hidden and equivalence.is_judged(step.command, self._specification):
            yield self._unreachable(step, _HIDDEN.format(hidden))
        else:
            yield told._replace(right=right)
        self._is_free = self._is_free or (nature.moves and len(choices) > 1)
        self.quit_line = 0 if self._engine.session.running else step.line

    def _ask_oracle(self, step: Step, nature: Nature, choices: tuple[str, ...]) -> OracleAnswer:
        """Return a test without its right answer."""
        depends = self._is_free and STONES in nature.needs
        readings, why_open = _open(self._engine, step.command)
        nothing, told = Reply(False, "", "", 0.0), reason(self._engine, step.command)
        return OracleAnswer(step, nothing, readings, why_open, choices, depends, told)

    def _look_whether_open(self, step: Step, nature: Nature) -> None:
        if nature.begins_board or not self._only_sets_up(step, nature):
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
        if self._is_announced(step):
            return True
        if not step.is_test:
            is_expected = step.pattern is not None and self._meets(step, right)
            return is_expected or step.command in self._tested
        if step.pattern is None:
            return False
        # Gomoku refuses with a successful reply: another text expects no stone.
        return self._meets(step, right) or (right.ok and not self._meets(step, _PLAYED))

    def _is_announced(self, step: Step) -> bool:
        above = self._lines[step.line - 2] if step.line > 1 else ""
        return _ANNOUNCED.match(above) is not None

    def _meets(self, step: Step, reply: Reply) -> bool:
        """Return whether a test with an expectation is satisfied by a reply."""
        try:
            met = self._dialect.verdict(step.pattern, reply)
        except UndecidedError:
            return False
        return met in (Verdict.PASSED, Verdict.EXPECTED_FAIL)

    def _asks(self, step: Step) -> bool:
        """Return whether a test is about the answer to its command, maybe an error."""
        judged = equivalence.is_judged(step.command, self._specification)
        return step.pattern is not None and (judged or step.pattern.expected_fail)

    def _unreachable(self, step: Step, text: str) -> CaseFinding:
        return CaseFinding(FindingKind.UNREACHABLE, self._path, step.line, step.text, text)

    def _only_sets_up(self, step: Step, nature: Nature) -> bool:
        """Return whether only a command's effect on the board matters."""
        if not (step.is_test and equivalence.is_judged(step.command, self._specification)):
            return True
        return step.pattern is None and nature.says_nothing

    def _after_the_end(self, nature: Nature) -> str:
        """Return that a stone comes after the end of a game that has one."""
        ends, game = self._specification.ends, self._engine.session.game
        is_late = ends and nature.moves and not nature.chooses and game.is_over
        return "the game is over before this move" if is_late else ""


def _open(engine: Engine, command: str) -> tuple[tuple[str, ...] | None, str]:
    """Return the answers under each reading where they differ, or else why there are none."""
    if not equivalence.is_underspecified(engine, command):
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


def _describe_refusal(right: Reply, nature: Nature) -> str:
    """Return that a command of the setup is refused: as an error, or in Gomoku's own way."""
    if not right.ok or (nature.says_nothing and right.text):
        return f"this command of the setup is refused: {one_line(right.raw, 80)}"
    return ""


class _Unknown:
    """The parts of a game that are unknown because a command of its setup was refused."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}  # what is not known, and the line of the refused command

    def forget(self, nature: Nature, line: int) -> None:
        """Forget what a command would have set or changed."""
        for part in nature.touches:
            self._since.setdefault(part, line)

    def know_again(self, nature: Nature, line: int) -> None:
        """Know again what a command has set."""
        for part in nature.renews:
            self._since.pop(part, None)

    def line(self, nature: Nature) -> int:
        """Return the line that keeps a command's right answer from being known; 0 if none does."""
        lines = (self._since[part] for part in nature.needs if part in self._since)
        return min(lines, default=0)
