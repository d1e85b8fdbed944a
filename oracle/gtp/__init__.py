"""``gtp-oracle gtp``: the oracle as a GTP engine, for each of the games.

:mod:`~oracle.gtp.protocol` answers lines; the tables of commands are composed in
:mod:`~oracle.gtp.go` and its neighbors; this module starts an engine and feeds it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.gtp.protocol import Engine, Table

GAMES = ("go", "gomoku", "java-go", "gosensei")

USAGE = """\
usage: gtp-oracle gtp [--game GAME] [--seed N] [--playouts N] [--mistake NAME]
                      [--reading NAME] [--strict] [--help]

The oracle as an engine that speaks the Go Text Protocol (GTP version 2) on standard input and
output.

  --game GAME    go (default), gomoku, java-go or gosensei
  --seed N       seed of genmove's random choices (default 0): same seed, same moves
  --playouts N   Gomoku: playouts for each candidate of genmove (default 10); with 0 it plays any
                 move of its policy, as the random player of the gomoku-rules assignment does
  --mistake NAME make one of the mistakes that people make, in the game it belongs to;
                 --mistake list shows them all
  --reading NAME read the assignment otherwise where it leaves the answer open, which is right,
                 too; --reading list shows them all
  --strict       loadsgf refuses what SGF and the rules forbid: a color out of turn, ko, suicide, a
                 stone after two passes, a property stated twice, more games than one, a move
                 number past the end; without, it reads them as GNU Go does
  --help         this text and the commands of GAME
"""


def main(argv: list[str]) -> int:
    """Serve GTP on standard input and output until ``quit`` or the end of the input.

    Returns the exit status: 0, or 2 when the options are wrong.
    """
    try:
        options = parse_options(argv)
    except ValueError as error:
        sys.stderr.write(f"gtp-oracle gtp: {error}\n{USAGE}")
        return 2
    engine = new_engine(options["--game"], int(options["--seed"]), int(options["--playouts"]))
    if "--help" in options:
        sys.stdout.write(f"{USAGE}\nCommands of --game {options['--game']}:\n\n")
        sys.stdout.write(describe(engine.commands))
        return 0

    def start(engine: Engine) -> None:
        engine.session.strict = "--strict" in options
        serve(engine, _read, _write)

    if "--mistake" in options:
        from oracle.mistakes import program

        return program.main(options, start)
    if "--reading" in options:
        from oracle import readings

        return readings.main(options, start)
    start(engine)
    return 0


def _read() -> bytes:
    """Return what has arrived on standard input, waiting when that is nothing; b"" at its end."""
    return os.read(sys.stdin.fileno(), 1 << 16)


def _write(replies: bytes) -> None:
    """Send replies at once: the controller waits for them."""
    sys.stdout.buffer.write(replies)
    sys.stdout.buffer.flush()


def parse_options(argv: list[str]) -> dict[str, str]:
    """Return the options with their values; raise :class:`ValueError` saying what is wrong.

    Written out because importing ``argparse`` costs more than the rest of the start.
    """
    options = {"--game": "go", "--seed": "0", "--playouts": "10"}
    rest = iter(argv)
    for argument in rest:
        if argument in ("--help", "-h", "--strict"):
            options["--help" if argument == "-h" else argument] = ""
            continue
        name, equals, value = argument.partition("=")
        if name not in options and name not in ("--mistake", "--reading"):
            raise ValueError(f"unknown option {argument!r}")
        options[name] = value if equals else next(rest, "")
    _check(options)
    return options


def _check(options: dict[str, str]) -> None:
    if options["--game"] not in GAMES:
        raise ValueError(f"--game is one of {', '.join(GAMES)}, not {options['--game']!r}")
    for name in ("--seed", "--playouts"):
        value = options[name]
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            raise ValueError(f"{name} takes a whole number of at most 9 digits, not {value!r}")


def new_engine(game: str = "go", seed: int = 0, playouts: int = 10) -> Engine:
    """Return an engine for one of :data:`GAMES`; only that game's rules are imported."""
    if game == "go":
        from oracle.gtp import go

        return go.new_engine(seed)
    if game == "gomoku":
        from oracle.gtp import gomoku

        return gomoku.new_engine(seed, playouts)
    if game == "java-go":
        from oracle.gtp import java_go

        return java_go.new_engine(seed)
    from oracle.gtp import gosensei

    return gosensei.new_engine(seed)


def describe(commands: Table) -> str:
    """Return one line for each command: its name, arguments and purpose."""
    rows = []
    for name, command in commands.items():
        arguments, _, purpose = (command.__doc__ or "").partition("\n")[0].partition(": ")
        rows.append((f"{name} {arguments}", purpose))
    width = max(len(usage) for usage, _ in rows)
    return "".join(f"  {usage:{width}} {purpose}\n" for usage, purpose in rows)


def serve(engine: Engine, read: Callable[[], bytes], write: Callable[[bytes], None]) -> None:
    """Answer what ``read`` brings, until it brings nothing more or ``quit`` came.

    Bytes that are no UTF-8 go through unchanged, as do names of files.
    """
    rest = b""
    while engine.session.running and (chunk := read()):
        *lines, rest = (rest + chunk).split(b"\n")
        _answer(engine, lines, write)
    if rest:  # a last line without its newline
        _answer(engine, [rest], write)


def _answer(engine: Engine, lines: list[bytes], write: Callable[[bytes], None]) -> None:
    """Reply to lines that have all arrived.

    Each reply is written before the next command begins, but for runs of ``play``: those are so
    short and so many that their replies leave together.
    """
    replies: list[str] = []
    for line in lines:
        if replies and not line.startswith(b"play "):
            write("".join(replies).encode("utf-8", "surrogateescape"))
            replies.clear()
        if engine.session.running:
            replies.append(engine.handle(line.decode("utf-8", "surrogateescape")))
    if replies:
        write("".join(replies).encode("utf-8", "surrogateescape"))
