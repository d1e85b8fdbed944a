"""``gtp-oracle gtp``: the oracle as an engine on standard input and output."""

import os
import sys

from oracle.gtp import GAMES, describe, new_engine, serve
from oracle.gtp.protocol import Engine

*_OTHERS, _LAST = [game for game in GAMES if game != "go"]
USAGE = f"""\
usage: gtp-oracle gtp [--game GAME] [--seed N] [--playouts N] [--mistake NAME]
                      [--reading NAME] [--strict] [--help]

The oracle as an engine that speaks the Go Text Protocol (GTP version 2) on standard input and
output.

  --game GAME    go (default), {", ".join(_OTHERS)} or {_LAST}
  --seed N       seed of genmove's random choices (default 0): same seed, same moves
  --playouts N   Gomoku: playouts for each candidate of genmove (default 10); with 0 it plays any
                 move of its policy, as the random player of the gomoku-rules assignment does
  --mistake NAME make one of the common mistakes, in the game that it belongs to;
                 --mistake list shows them all
  --reading NAME use another reading where the assignment leaves the answer open, which is
                 right, too; --reading list shows them all
  --strict       loadsgf refuses what SGF and the rules forbid: a color out of turn, ko, suicide, a
                 stone on another or after two passes, a value that SGF does not know, a property
                 stated twice, more than one game, a damaged file, a move number past the end;
                 without --strict, it reads what boards need, and warns on standard error
  --help         this text and the commands of GAME
"""


def main(argv: list[str]) -> int:
    """Serve GTP on standard input and output until ``quit`` or the end of the input.

    Returns the exit status: 0; 1 for a mistake that crashes; or 2 when the options are wrong.
    """
    try:
        options = parse_options(argv)
    except ValueError as error:
        return _refuse(f"{error}\n{USAGE}")
    numbers = int(options["--seed"]), int(options["--playouts"])
    if "--help" in options:
        sys.stdout.write(f"{USAGE}\nCommands of --game {options['--game']}:\n\n")
        sys.stdout.write(describe(new_engine(options["--game"], *numbers).commands))
        return 0
    if "--mistake" in options:
        return _serve_mistake(options, numbers)
    if "--reading" in options:
        return _serve_reading(options, numbers)
    return _serve(new_engine(options["--game"], *numbers), options)


def _refuse(message: str) -> int:
    sys.stderr.write(f"gtp-oracle gtp: {message}")
    return 2


def _serve(engine: Engine, options: dict[str, str]) -> int:
    engine.session.strict = "--strict" in options
    engine.session.warn = _warn
    serve(engine, _read, _write)
    return 0


def _warn(warning: str) -> None:
    """Write a warning where no controller takes it for a reply."""
    sys.stderr.write(f"gtp-oracle gtp: {' '.join(warning.split())}\n")
    sys.stderr.flush()


def _read() -> bytes:
    """Return what has arrived on standard input, waiting when that is nothing; b"" at its end."""
    return os.read(sys.stdin.fileno(), 1 << 16)


def _write(replies: bytes) -> None:
    """Send replies at once: the controller waits for them."""
    sys.stdout.buffer.write(replies)
    sys.stdout.buffer.flush()


def _serve_mistake(options: dict[str, str], numbers: tuple[int, int]) -> int:
    """Serve an engine with a mistake, or list all; return the exit status.

    Where a mistake is to hang or to crash, so does the program.
    """
    from oracle import mistakes

    if options["--mistake"] == "list":
        sys.stdout.write(mistakes.listing())
        return 0
    try:
        mistake = mistakes.find_mistake(options["--mistake"])
    except ValueError as error:
        return _refuse(f"{error}\n")
    try:
        return _serve(mistakes.mistaken_engine(mistake, *numbers), options)
    except mistakes.Hang:
        import time

        while True:
            time.sleep(3600)
    except Exception as error:  # noqa: BLE001 - a mistaken program may fail in any way
        sys.stderr.write(f"{error}\n")
        return 1


def _serve_reading(options: dict[str, str], numbers: tuple[int, int]) -> int:
    """Serve an engine with another reading, or list all; return the exit status.

    Of a reading of several games, the engine is that of ``--game`` if it is one of them.
    """
    from oracle import readings

    if options["--reading"] == "list":
        sys.stdout.write(readings.listing())
        return 0
    try:
        reading = readings.find_reading(options["--reading"])
    except ValueError as error:
        return _refuse(f"{error}\n")
    return _serve(reading.engine(reading.assignment_of(options["--game"]), *numbers), options)


# --- options -----------------------------------------------------------------------------------


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
    if options["--game"] not in GAMES:
        raise ValueError(f"--game is one of {', '.join(GAMES)}, not {options['--game']!r}")
    for name in ("--seed", "--playouts"):
        value = options[name]
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            raise ValueError(f"{name} takes a whole number of at most 9 digits, not {value!r}")
    return options
