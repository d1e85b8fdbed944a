"""All errors that the harness raises on purpose, in one tree::

    HarnessError               printed as one line, exit status 2; never a traceback
    ├── UsageError             the command line or an option file is wrong
    │   ├── BusyError          another process is at work with the same ledger
    │   ├── InvalidGradingStateError  a request that does not fit the state of a grading
    │   ├── NotSetUpError      an assignment lacks what checks need
    │   ├── ColumnError        a gradebook lacks the column to be filled in, or has several
    │   ├── AccountDisabledError  somebody whom the operator of a service has shut out
    │   └── TooManyFilesError  a folder with far too many files for a submission
    ├── ReportError            a report that cannot be written; exit status 3
    ├── CaseError              a case file or suite is wrong: file, line, found, expected
    ├── PatternError           an expectation cannot be read; becomes a ``CaseError`` with its line
    ├── UndecidedError         matching takes too long; becomes the verdict "not judged"
    ├── AssignmentError        an assignment.toml is wrong: file, key, found, expected
    ├── ArchiveError           an archive that intake refuses: what in it, and why
    ├── ReadingFailedError     a confined reader of an archive failed: the harness's own fault
    ├── LedgerError            a ledger that is damaged or was edited: what of it
    ├── ServerError            a ledger's server that cannot be used now; exit status 3
    │   └── NoClusterError     no machine of a cluster can be used now; exit status 3
    ├── ClassWideError         a class fails for a reason of its own; exit status 3
    ├── ReferenceFailedError   a teacher's own program broke: which command, and how
    ├── SandboxError           there is no sandbox; exit status 3
    │   └── EscapeError        there is one, but it does not hold
    ├── UnfinishedError        another worker of the service is at attempts of a job: try it again
    ├── OutdatedError          what a job of the service was planned with has changed
    ├── TargetDeletedError     the object of a service's job no longer exists
    ├── MissingBytesError      a unit of work names bytes that are nowhere, or are others by now
    ├── FetchError             bytes that a worker of a cluster cannot get: another one is asked
    ├── UnsendableError        an environment that cannot be moved to another machine
    ├── DamagedError           bytes that are not an environment as one is sent
    ├── UnbelievableError      a worker of a cluster answered something else than it was asked
    ├── MailDelayedError       a mail was not taken now: it is tried again
    ├── MailRefusedError       a mail will never be taken
    ├── PlatformError  a platform that cannot be reached, or answers wrongly
    ├── LaunchRefusedError  a launch from a platform that does not hold
    ├── ProviderUnavailableError  an identity provider that cannot be reached, or answers wrongly
    ├── SignInRefusedError     an identity provider that refuses to let somebody in
    ├── StarvedError           the machine is too busy to start or judge an engine
    └── EngineError            the engine failed; becomes the file's ``Failure`` in its result
        (its ``kind`` says which way: died, timed out, too much output, could not start)
        └── EngineIdleError    it sleeps, and has not had its full time limit yet

Three kinds of trouble never mix. A *wrong answer* is an ``Outcome``, no exception. A *broken
engine* is an ``EngineError``. Anything else is the *harness's* own fault and never costs a mark.
"""

from __future__ import annotations

import enum

from harness.core.records import Failure, FailureKind

_SHOWN = 200  # characters of a member's name


class HarnessError(Exception):
    """Base of every error the harness raises on purpose."""


class UsageError(HarnessError):
    """The command line or an option file asks for something that cannot be done."""


class BusyError(UsageError):
    """Another process is at work with the same ledger."""


class InvalidGradingStateError(UsageError):
    """The state of a grading does not allow the request."""


class ReportError(HarnessError):
    """A report that could not be written; an engine is never the cause."""


class CaseError(HarnessError):
    """A case file or suite that cannot be read; prints as ``file:line: message``."""

    def __init__(self, message: str, file: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"


class AssignmentError(HarnessError):
    """An ``assignment.toml`` that cannot be used; prints as ``file: key: message``."""

    def __init__(self, message: str, file: str, key: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.key = key

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.file, self.key, self.message)))


class ArchiveError(HarnessError):
    """An archive that intake refuses. ``member``: the name of the member that is wrong, or ""."""

    def __init__(self, message: str, member: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.member = member

    def __str__(self) -> str:
        name = self.member if len(self.member) <= _SHOWN else self.member[:_SHOWN] + "…"
        return f"{name!r}: {self.message}" if name else self.message


class ReadingFailedError(HarnessError):
    """The confined child that was to read an archive died, hung or answered nonsense."""


class PatternError(HarnessError):
    """An expectation (``#? [...]``) that cannot be read."""


class UndecidedError(HarnessError):
    """An expectation that is refused, or takes too long to compare with a reply."""


class LedgerError(HarnessError):
    """A ledger that is damaged, was edited, or has lost its key."""


class ServerError(HarnessError):
    """A database server that cannot be used as a ledger now. What was written there stays."""


class NoClusterError(ServerError):
    """The machines of a cluster cannot be reached now, or none has what is needed."""


class ClassWideError(HarnessError):
    """All of the first submissions fail alike: a grading stops until it is told to continue."""


class ReferenceFailedError(HarnessError):
    """The teacher's reference gave no answer. Nobody is judged by that."""


class SandboxError(HarnessError):
    """The sandbox could not be made, or does not hold. The harness failed, never the engine."""


class StarvedError(HarnessError):
    """The machine was too busy to start an engine, or to tell whether it keeps its time limits."""


class EngineError(HarnessError):
    """An engine failure; ``failure`` describes it to the engine's author."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure

    def __str__(self) -> str:
        return self.message

    @property
    def kind(self) -> FailureKind:
        """The kind of the failure."""
        return self.failure.kind

    @property
    def message(self) -> str:
        """A sentence for its author."""
        return self.failure.message


class EngineIdleError(EngineError):
    """An engine that did not answer within a short limit, and sleeps: it may still be left."""


class ExitCode(enum.IntEnum):
    """Exit statuses of a run. When several hold, the largest of 0 to 3 is returned.

    0, 1 and 2 are gogui-regress's.
    """

    OK = 0  # no unexpected failure
    FAILED = 1  # at least one unexpected failure
    BROKEN = 2  # an engine died, hung or could not start, or the input was bad
    FAULT = 3  # the harness itself failed; no engine is to blame
    ATTENTION = 4  # of grade: all marks are there, but something concerns several submissions
    NO_READER = 141  # the reader of our output has gone, as shells count it: 128 + SIGPIPE
    INTERRUPTED = 130  # Ctrl-C, as shells count it: 128 + SIGINT; after SIGTERM it becomes 143
