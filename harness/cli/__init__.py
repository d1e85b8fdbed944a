"""The command ``gtp-harness``: find the subcommand, and report every error in one line.

Each subcommand is a :class:`~harness.cli.commandline.Command`, with its name in capitals in a
module that is imported when it is called: what a command does not use costs it nothing.
"""

from __future__ import annotations

import os
import sys

from oracle import interrupts  # all else after main() is called: until then Ctrl-C is Python's

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, TextIO

    from harness.cli.commandline import Command
    from harness.core.errors import ExitCode

# name: (module, what it does, in one line)
COMMANDS = {
    "run": ("harness.cli.run", "run case files against a GTP engine"),
    "history": ("harness.cli.history", "show what broke, is flaky or got slower from run to run"),
    "check": ("harness.cli.check", "check a submission before you submit it"),
    "convert": ("harness.cli.cases", "write case files in another format"),
    "verify": ("harness.cli.verify", "check the expectations of case files against the oracle"),
    "grade": ("harness.cli.grade", "grade a class, from the submissions to the gradebook"),
    "serve": ("harness.cli.service", "serve courses: pages to submit, grade and release on"),
    "admin": ("harness.cli.admin", "add people to a service, let them in or lock them out"),
    "backup": ("harness.cli.service", "back up a service into a folder"),
    "prune": ("harness.cli.service", "delete data that a service no longer needs"),
    "restore": ("harness.cli.service", "restore a service from a backup"),
    "worker": ("harness.cli.cluster", "run engines for the grading machine of a cluster"),
    "cluster": (
        "harness.cli.cluster",
        "make the certificates of a cluster, or start its scheduler",
    ),
    "submit": ("harness.cli.client", "submit an archive to a service, from the command line"),
    "runs": ("harness.cli.client", "post runs of an engine to a service and compare them there"),
    "gradescope": ("harness.cli.gradescope", "make an autograder for Gradescope"),
    "cases": ("harness.cli.cases", "list or copy the case files that ship"),
    "ledger": ("harness.cli.ledger", "check a ledger of marks, or rescue a damaged one"),
    "generate": ("harness.cli.generate", "make case files from game records"),
    "fuzz": ("harness.cli.fuzz", "search for commands that an engine answers wrongly"),
    "match": ("harness.cli.match", "let engines play games against each other"),
    "strength": ("harness.cli.strength", "measure which common mistakes case files catch"),
    "bank": ("harness.cli.bank", "make a bank of wrong engines from former classes"),
    "env": ("harness.cli.machine", "build the Python environment of an assignment's engines"),
    "new": ("harness.cli.own_games", "draft an assignment of your own from a correct solution"),
    "calibrate": (
        "harness.cli.own_games",
        "try out an assignment of your own before it grades anybody",
    ),
    "doctor": ("harness.cli.machine", "show what this machine can and cannot do"),
    "completion": ("harness.cli.man", "print tab completion for bash, zsh or fish"),
    "man": ("harness.cli.man", "write manual pages"),
}

# What starts no engine, or not without an option that asks for it.
_WITHOUT_ENGINES = {"cases", "convert", "generate", "history", "strength", "submit", "verify"}


def main(arguments: list[str] | None = None) -> int:
    """Run ``gtp-harness`` and return its exit status (:class:`harness.core.errors.ExitCode`).

    ``arguments``: None, the process's own: then Ctrl-C ends it while it starts, too.
    """
    if arguments is not None:
        return _answer(arguments)
    return interrupts.answer_interruptibly("gtp-harness", _answer_and_flush)


def program() -> NoReturn:
    """Entry point of ``gtp-harness``: run it and end the process.

    The system takes back the memory of a process at once; Python would go over all that was
    loaded and found. Anyone who watches the process, or is at work in it, gets the usual end.
    """
    status = main()
    threads = sys.modules.get("threading")
    if sys.gettrace() or sys.getprofile() or (threads and threads.active_count() > 1):
        sys.exit(status)
    import atexit

    atexit._run_exitfuncs()
    os._exit(flush_streams(status))


def _answer_and_flush() -> int:
    import gc

    gc.disable()  # what is loaded stays: nothing of it need be collected
    open_streams()
    return flush_streams(_answer(sys.argv[1:]))


def _answer(arguments: list[str]) -> int:
    from harness.core import errors, file_system, signals

    faults = (errors.ClassWideError, errors.ReportError, errors.SandboxError, errors.ServerError)
    try:
        with file_system.removed_if_empty():
            return _dispatch(arguments)
    except faults as error:
        return _say(str(error), errors.ExitCode.FAULT)
    except errors.HarnessError as error:
        return _say(str(error), errors.ExitCode.BROKEN)
    except KeyboardInterrupt:
        return _say("interrupted", signals.exit_status())
    except BrokenPipeError:
        # The reader of our output has gone; nobody is left to tell.
        give_up(sys.stdout)
        return errors.ExitCode.NO_READER
    except Exception as error:  # noqa: BLE001 - the one place where a fault becomes a sentence
        return _fault(error)


def _dispatch(arguments: list[str]) -> int:
    from harness.core import signals
    from harness.core.errors import ExitCode

    name, *rest = arguments or ["--help"]
    if name == "help" and rest:
        name, *rest = rest[0], "--help"
    if name in ("--help", "-help", "-h", "help"):
        from harness.cli.arguments import fill, terminal_width

        page = fill(overview(), terminal_width() - 2)
        print(f"usage: gtp-harness COMMAND [ARGUMENT…]\n\n{page}")
        return ExitCode.OK
    if name in ("--version", "-version", "version"):
        print(version())
        return ExitCode.OK
    if name not in COMMANDS:
        from oracle.sentences import hint

        known = ", ".join(COMMANDS)
        return _say(
            f"unknown command {name!r}; there are: {known}{hint(name, COMMANDS)}", ExitCode.BROKEN
        )
    from harness.core import requirements

    if name not in _WITHOUT_ENGINES and not requirements.has_engines():
        return _say(requirements.no_engines(f"gtp-harness {name}"), ExitCode.BROKEN)
    command = find_command(name)
    signals.watch_sigchld()
    with signals.ending_on_signals():
        interrupts.reinstall_sigint()
        status: int = command.main(rest)
    return signals.exit_status() if status == ExitCode.INTERRUPTED else status


def find_command(name: str) -> Command:
    """Return a command from its module; no garbage is collected while that is loaded."""
    import gc
    from importlib import import_module

    from harness.core.postponed import postpone

    postpone("pexpect", "traceback")
    gc.disable()
    try:
        command: Command = getattr(import_module(COMMANDS[name][0]), name.upper())
        return command
    finally:
        gc.enable()


def overview() -> str:
    """Return the text of ``gtp-harness --help``, in 80 columns."""
    rows = [f"  {name:12}{what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(["Commands:", *rows, "", "gtp-harness help COMMAND explains one of them."])


def version() -> str:
    """Return what ``--version`` prints."""
    from oracle import __version__

    return f"gtp-harness {__version__}"


def _say(message: str, status: int) -> int:
    from contextlib import suppress

    with suppress(OSError, ValueError):  # it is tried again, and noticed, at the end
        print(f"gtp-harness: {message}", file=sys.stderr)
    return status


def _fault(error: Exception) -> int:
    """Tell of a harness error; with GTP_HARNESS_DEBUG=1, where it is."""
    import errno

    from harness.core.errors import ExitCode

    if os.environ.get("GTP_HARNESS_DEBUG"):
        raise error
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        place = error.filename or "to standard output or a file"
        return _say(f"cannot write {place}: {error.strerror}", ExitCode.FAULT)
    if isinstance(error, ModuleNotFoundError):
        from harness.core import requirements

        if explanation := requirements.explain(error):
            return _say(explanation, ExitCode.BROKEN)
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    where = f" ({last.tb_frame.f_code.co_filename}:{last.tb_lineno})" if last else ""
    what = f"{type(error).__name__}: {error}"
    hint = "GTP_HARNESS_DEBUG=1 shows more"
    return _say(
        f"the harness itself failed, not the engine: {what}{where}; {hint}", ExitCode.FAULT
    )


# --- standard output and standard error that are closed, full, or have lost their reader ---------
# What cannot be said must not look like a test that failed: the exit status is 141 where the
# reader has gone (a shell's word for SIGPIPE), else 3.


_STREAMS = {1: "standard output", 2: "standard error"}


def open_streams() -> None:
    """Open what of the three standard streams is closed, so that no other file takes its number.

    Standard output and standard error then refuse whatever is written, as a full disk does.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def give_up(stream: TextIO) -> None:
    """Discard all that is buffered in a stream or written to it from now on."""
    from contextlib import suppress

    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def status_of(error: OSError | ValueError) -> ExitCode:
    """Return the exit status of a command that could not write, and why."""
    from harness.core.errors import ExitCode

    return ExitCode.NO_READER if isinstance(error, BrokenPipeError) else ExitCode.FAULT


def sentence_of(error: OSError | ValueError, number: int = 1) -> str:
    """Say that a standard stream could not be written to."""
    return f"cannot write to {_STREAMS[number]}: {getattr(error, 'strerror', None) or error}"


def flush_streams(status: int) -> int:
    """Write what is left in the standard streams; return the exit status of the whole command."""
    for number, stream in ((2, sys.stderr), (1, sys.stdout)):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            give_up(stream)
            status = max(status, status_of(error))
            if not isinstance(error, BrokenPipeError):
                _say(sentence_of(error, number), status)
    return status
