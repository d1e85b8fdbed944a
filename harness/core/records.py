"""The records that the packages of the harness exchange. They are immutable, and only hold data.

Case file → :class:`CaseFile` of :class:`Step` → a session with an engine → :class:`Reply` →
:class:`Outcome` → :class:`FileResult` → :class:`RunResult` → every reporter.

They are tuples, not dataclasses, because a run of 100,000 commands makes one for each command.
"""

from __future__ import annotations

import enum

from harness.core.options import Limit
from harness.core.text import number_of
from harness.core.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.mistakes import Mistake

GTP_FILE, ANSWERS_FILE = "gtp", "txt"  # formats of case files
DONE = "= 1"  # the status line of a command that was done


class Verdict(enum.Enum):
    """The result of one test; the values are the words of GNU Go's ``eval.sh``."""

    PASSED = "passed"
    UNEXPECTED_PASS = "PASSED"
    EXPECTED_FAIL = "failed"
    FAILED = "FAILED"
    NOT_RUN = "not run"  # the engine failed before the answer; no pass and no wrong answer
    NOT_JUDGED = "not judged"  # matching takes too long: the case file's fault, not the engine's
    IGNORED = "ignored"  # GNU Go's suffix ``&``


class Pattern(NamedTuple):
    """The expectation in a ``#? [...]`` line."""

    text: str  # between the brackets, trimmed, with the leading ! if there is one
    expression: str  # what is matched, without the !
    negated: bool
    expected_fail: bool  # a trailing *
    ignored: bool = False  # a trailing & (dialect gnugo only)


class Step(NamedTuple):
    """One command of a case file."""

    line: int  # 1-based line in the file
    text: str  # as sent, id included
    id: int  # -1 for none
    command: str  # without the id
    is_test: bool  # numbered, or with a pattern
    pattern: Pattern | None  # None: any reply but an error will do

    @property
    def name(self) -> str:
        """The first word of its command."""
        return self.command.partition(" ")[0]


class CaseFile(NamedTuple):
    """A case file as read; ``lines`` keeps the source, comments too."""

    path: str  # as named on the command line
    steps: tuple[Step, ...]
    lines: tuple[str, ...]
    format: str = GTP_FILE  # or ANSWERS_FILE


class Reply(NamedTuple):
    """An engine's reply to one command."""

    ok: bool  # began with =, not with ?; of a status line: it is not an error
    text: str  # after the first blank, trimmed, all lines
    raw: str  # all of it, from = or ? to before the empty line; to the end of a status line
    seconds: float  # since the command was sent or, if later, the reply before it came
    invalid: str = ""  # what came before the = or ?
    status: str = ""  # the line that ends it; "" in GTP, which has none

    @property
    def is_refusal(self) -> bool:
        """Whether the engine says that it did not do what it was told."""
        return not self.ok or self.status not in ("", DONE)


class FailureKind(enum.Enum):
    """The kind of an engine failure. Wrong answers and harness errors are not engine failures."""

    NOT_STARTED = "not started"
    DIED = "died"
    TIMEOUT = "timeout"
    OUTPUT = "too much output"
    CPU = "processor time"  # this and the next three: a limit of the sandbox
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    PROTOCOL = "protocol"
    SETUP = "setup"  # a --gtpfile command was answered with an error


class Failure(NamedTuple):
    """An engine failure; tests from there on are not run, unless a new engine continues."""

    kind: FailureKind
    text: str  # one sentence for a student; where a limit was hit, what comes before the limit
    step: int | None = None  # index into CaseFile.steps of the command under way
    reason: str = ""  # its last words without places: the same for all that die of the same
    computed: float = 0.0  # of a time limit that was hit: the part that was used up computing
    limit: Limit | None = None  # that was hit
    rest: str = ""  # of the sentence, after the limit

    @property
    def message(self) -> str:
        """The whole sentence."""
        return f"{self.text}{self.limit or ''}{self.rest}"

    @property
    def without_measurements(self) -> Failure:
        """The same without the figures that differ from run to run."""
        return self._replace(computed=0.0, limit=self.limit and self.limit._replace(used=None))


class Outcome(NamedTuple):
    """The verdict on one test. :attr:`FileResult.tests` has it with its step."""

    step: int  # index into CaseFile.steps
    verdict: Verdict
    reply: Reply | None  # None: not run
    flaky: bool = False  # --rerun gave another verdict


class Exchange(NamedTuple):
    """A command that the harness itself sent: name, version, cputime, quit, or of --gtpfile."""

    text: str
    reply: Reply | None


class Restart(NamedTuple):
    """A new start after an engine failure."""

    step: int  # index into CaseFile.steps of the command from which the file went on
    sent: tuple[Exchange, ...]  # by the harness before it: name, and settings made earlier


class RestartPoint(NamedTuple):
    """Place where a file begins or continues with a new engine after a failure."""

    step: int  # index into CaseFile.steps
    settings: tuple[str, ...]  # commands to be sent before


class FileResult(NamedTuple):
    """The result of one case file."""

    case: CaseFile
    outcomes: tuple[Outcome, ...]  # one for each test, in file order
    replies: tuple[Reply | None, ...]  # one for each step
    before: tuple[Exchange, ...]
    after: tuple[Exchange, ...]
    errors: int  # setup commands answered with ?
    warnings: tuple[str, ...]  # protocol warnings
    failures: tuple[Failure, ...]  # in the order of the file, with restarts between them
    stderr: str  # of all engines, one after the other
    name: str  # the engine's answers to name and version
    version: str
    seconds: float  # wall time of the file's commands
    cpu_seconds: float  # difference of the engine's two cputime answers, 0 if it is absurd
    restarts: tuple[Restart, ...] = ()

    @property
    def tests(self) -> tuple[tuple[Step, Outcome], ...]:
        """Each test with its outcome, in file order."""
        return tuple((self.case.steps[outcome.step], outcome) for outcome in self.outcomes)

    @property
    def failure(self) -> Failure | None:
        """First failure of the engine; None if it never failed."""
        return self.failures[0] if self.failures else None

    @property
    def is_silent(self) -> bool:
        """Whether the engine failed before it had answered any command."""
        return bool(self.failures) and not any(self.replies)

    @property
    def answers_a_test(self) -> bool:
        """Whether a test was answered, and not with an error."""
        return any(one.reply and one.reply.ok for one in self.outcomes)


class Diagnosis(NamedTuple):
    """The mistakes that explain failures of an engine; as text, a sentence for a reader."""

    sets: tuple[tuple[Mistake, ...], ...]  # each explains the same by itself, all being as small
    failures: int  # that they explain
    total: int  # all failures

    def __str__(self) -> str:
        return f"it answers {self.reasons}: {self._count}"

    @property
    def _count(self) -> str:
        return f"{self.failures} of {number_of(self.total, 'failure')} explained"

    @property
    def alternatives(self) -> tuple[str, ...]:
        """Each set as words, the likeliest first: the simplest, for all explain the same."""
        told = (", and ".join(one.clause for one in chosen) for chosen in self.sets)
        return tuple(sorted(told, key=lambda words: len(words.split())))

    @property
    def lines(self) -> tuple[str, ...]:
        """The same for a reader: a sentence or, where sets differ, a head and a line for each."""
        if len(self.sets) == 1:
            return (str(self),)
        head = f"it answers in one of these ways, the likeliest first: {self._count}"
        return head, *self.alternatives

    @property
    def reasons(self) -> str:
        """The mistakes as words: ``as if …, and as if …``; where sets differ, ``…, or …``."""
        if len(self.sets[0]) == 1:
            return ", or ".join(one.clause for (one,) in self.sets)
        common = [one for one in self.sets[0] if all(one in other for other in self.sets)]
        others = [[one.clause for one in chosen if one not in common] for chosen in self.sets]
        told = [one.clause for one in common]
        if len(self.sets) > 1:
            told.append("either " + ", or ".join(" and ".join(each) for each in others))
        return ", and ".join(told)


class Repeat(NamedTuple):
    """Commands that repeat a test."""

    start: str = ""  # of a command line, for a shell: all except the case file; "" if unknown
    whole_ids: bool = False  # tests with the same id are one, as GNU Go has it
    test: str = ""  # an option that takes FILE:LINE; "": the file is an argument, with its tests


class RunResult(NamedTuple):
    """The result of a whole run; every reporter gets it."""

    program: str
    files: tuple[FileResult, ...]  # in the order named, whatever --jobs
    errors: tuple[str, ...]  # what is wrong with case files, one sentence each
    started: str  # ISO 8601, UTC
    host: str
    options: dict[str, object]
    faults: tuple[str, ...] = ()  # the harness's own failures: the engine is not to blame
    diagnoses: tuple[Diagnosis, ...] = ()  # what explains the failures, where something does
    unfinished: tuple[str, ...] = ()  # files not run, or not to their end: there was a Ctrl-C
    repeat: Repeat = Repeat()

    @property
    def passed(self) -> bool:
        """Whether all was run and judged, and no test failed unexpectedly: exit status 0."""
        is_whole = not (self.errors or self.faults or self.unfinished)
        return is_whole and not any(
            file.failure or any(one.verdict is Verdict.FAILED for one in file.outcomes)
            for file in self.files
        )


class Waiting(NamedTuple):
    """A command that an engine has not answered for a while."""

    command: str  # as sent, shortened; "" is the engine's start
    seconds: float  # so far, of the engine's own time
    left: float  # seconds until a time limit ends it; inf: there is none


class Progress(NamedTuple):
    """The progress of a case file, at its start, about ten times a second, and at its end."""

    place: int  # of the file in the order named, from 0
    path: str
    done: int  # tests judged so far
    total: int  # tests in the file
    failed: int  # unexpected failures so far
    result: FileResult | None = None  # at the end
    waiting: Waiting | None = None  # a command that takes long


class Build(NamedTuple):
    """The result of the build steps."""

    ok: bool
    output: str = ""  # of the commands, both streams, shortened in the middle
    message: str = ""  # why it failed, a sentence
