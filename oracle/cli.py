"""``gtp-oracle``: find the command, and import nothing else.

A start costs an engine more than all its answers, so ``gtp-oracle gtp`` must not pay for what only
the other commands need.
"""

import sys

from oracle import interrupts
from oracle.errors import OracleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Name and purpose of each command, in the order of ``--help``.
COMMANDS = {
    "score": "the score of a board: area with komi, or territory and prisoners",
    "captured": "which points are captured, as territory or as prisoners",
    "legal": "which moves are legal",
    "eyes": "the eyes, two eyes and eye spaces of a color",
    "winner": "the winner of a game of Gomoku",
    "policy": "the moves that a Gomoku playout considers",
    "show": "the position itself; or the games of a file; or the position in another format",
    "play": "a game of Go between two people at the terminal",
    "gosensei": "the program that gosensei.txt asks for: gosensei -eyes FILE",
    "gtp": "an engine that speaks the Go Text Protocol",
}

_PROGRAMS = ("play", "gosensei")  # modules of their own

USAGE = """\
usage: gtp-oracle COMMAND ...

Answers to the questions of five assignments on Go and Gomoku, with their reasons.

{commands}

Positions are read from game records (SGF, any game, variation and move), boards of 0, 1 and 2,
or of ., X and O as comments of case files draw them, gosensei board files and pictures,
sgfmill's diagrams and .gtp case files; - is standard input.

  gtp-oracle score game.sgf --move 120      the score after 120 moves
  gtp-oracle captured board.txt C3          whether C3 is captured, and why
  gtp-oracle policy cases.gtp --test 10     what the 10th test asks
  gtp-oracle COMMAND --help                 the options of a command

Without COMMAND, and if standard input is not a terminal, COMMAND is gtp:
gtp-harness run gtp-oracle TEST.

Exit status: 0, or 2 with one line on standard error when something is wrong; 130 after Ctrl-C.
"""


def main(argv: list[str] | None = None) -> int:
    """Run a command and return the exit status.

    ``argv``: None, the process's own: then Ctrl-C ends it while it starts, too.
    """
    if argv is not None:
        return _answer(argv)

    def answer() -> int:
        import os

        default = "--help" if os.isatty(0) else "gtp"  # for a person, or for a program
        return _answer(sys.argv[1:] or [default])

    return interrupts.answer_interruptibly("gtp-oracle", answer)


def _answer(argv: list[str]) -> int:
    name, *rest = argv or ["--help"]
    if name == "gtp":
        from oracle.commands.gtp import main as gtp

        return _run(gtp, rest)
    if name in ("--help", "-h"):
        width = max(map(len, COMMANDS))
        lines = [f"  {command:{width}}  {purpose}" for command, purpose in COMMANDS.items()]
        sys.stdout.write(USAGE.format(commands="\n".join(lines)))
        return 0
    if name == "--version":
        import oracle

        sys.stdout.write(f"gtp-oracle {oracle.__version__}\n")
        return 0
    if name not in COMMANDS:
        from oracle.sentences import hint

        return fail(f"no command {name!r}; see gtp-oracle --help{hint(name, COMMANDS)}")
    from importlib import import_module

    if name in _PROGRAMS:
        return _run(import_module(f"oracle.commands.{name}").main, rest)
    from oracle.commands import questions

    return _run(lambda arguments: questions.main(name, arguments), rest)


def _run(command: "Callable[[list[str]], int]", arguments: list[str]) -> int:
    try:
        interrupts.reinstall_sigint()
        status = command(arguments)
        sys.stdout.flush()
    except OracleError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        fail("interrupted")
        return interrupts.INTERRUPTED
    except BrokenPipeError:  # the reader of the output has seen enough
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def fail(message: str) -> int:
    """Say what is wrong on standard error and return the exit status for that, 2."""
    sys.stderr.write("".join(f"gtp-oracle: {line}\n" for line in message.splitlines()))
    return 2
