"""The oracle as a GTP engine, for each of the games.

:mod:`~oracle.gtp.protocol` answers lines; the tables of commands are composed in
:mod:`~oracle.gtp.go` and its neighbors; this module makes an engine and feeds it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.gtp.protocol import Engine, Table

# By name, the module beside this one that has ``new_engine(seed, playouts)``.
GAMES = {
    "go": "go",
    "gomoku": "gomoku",
    "java-go": "java_go",
    "gosensei": "gosensei",
}


def new_engine(game: str = "go", seed: int = 0, playouts: int = 10) -> Engine:
    """Return an engine for one of :data:`GAMES`; only that game's rules are imported.

    ``playouts``: of a player that thinks so about its moves.
    """
    # importlib would have to be loaded first.
    module = __import__(f"{__name__}.{GAMES[game]}", fromlist=["new_engine"])
    engine: Engine = module.new_engine(seed, playouts)
    return engine


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

    Bytes that are not UTF-8 go through unchanged, as do names of files.
    """
    rest = b""
    while engine.session.running and (chunk := read()):
        *lines, rest = (rest + chunk).split(b"\n")
        _answer(engine, lines, write)
    if rest:  # a last line without its newline
        _answer(engine, [rest], write)


def _answer(engine: Engine, lines: list[bytes], write: Callable[[bytes], None]) -> None:
    """Reply to lines that have all arrived.

    Each reply is written before the next command begins. Only runs of ``play`` are so short and
    so many that their replies leave together.
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
