"""``gtp-oracle show``."""

import sys
from collections.abc import Callable

from oracle.boards import Snapshot, read_bytes
from oracle.boards.diagram import format_diagram, format_digits, format_drawing
from oracle.boards.gosensei import SIZE, draw_gosensei, format_gosensei
from oracle.commands import ask
from oracle.draw import Diagram, draw_svg
from oracle.errors import OracleError
from oracle.komi import plain_text
from oracle.position import BLACK, NAMES, Position, vertex

DESCRIPTION = """\
The position itself, as a picture and with its known facts; or the games of an SGF file; or
the position in another format.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    parser = ask.question("show", DESCRIPTION)
    ask.add_rules(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--games", action="store_true", help="list the games of an SGF file")
    what.add_argument("--to", choices=WRITERS, help="write the position in another format")
    options = parser.parse_args(arguments)
    if options.games:
        from oracle.sgf import games
        from oracle.sgf.replay import title

        found = games(read_bytes(options.file), options.file)
        if options.json:
            facts = ("number", "nodes", "fault")
            ask.print_json(
                [{n: getattr(one, n) for n in facts} | {"title": title(one.root)} for one in found]
            )
            return 0
        lines = []
        for one in found:
            damage = f"; damaged: {one.fault}" if one.fault else ""
            name = title(one.root) or "without title"
            lines.append(f"{one.number:3}  {name} ({one.nodes} nodes{damage})")
        ask.print_text("\n".join(lines))
        return 0
    snapshot = ask.read(options)
    if options.json:
        ask.print_json(ask.describe_position(snapshot, options.file))
        return 0
    ask.print_notes(snapshot)
    if options.to:
        sys.stdout.write(WRITERS[options.to](snapshot))
    else:
        diagram = Diagram(snapshot.position, snapshot.last)
        ask.print_text(
            "\n".join([ask.draw_board(diagram, not options.ascii), "", *_facts(snapshot)])
        )
    return 0


def _facts(snapshot: Snapshot) -> list[str]:
    """Return what the file says, a line each."""
    facts = {
        "Title": snapshot.title,
        "Game": snapshot.game,
        "To play": snapshot.to_play and NAMES[snapshot.to_play],
        "Komi": None if snapshot.komi is None else plain_text(snapshot.komi),
        "Ko": snapshot.ko and f"{vertex(snapshot.ko)} may not be taken back",
    }
    stated = [f"{name}: {fact}" for name, fact in facts.items() if fact]
    return [f"Format: {snapshot.kind}", *stated]


# --- other formats -------------------------------------------------------------------------------


def _nine(snapshot: Snapshot) -> Position:
    shape = snapshot.position.grid
    if (shape.rows, shape.columns) != (SIZE, SIZE):
        raise OracleError(
            f"gosensei's boards are {SIZE} by {SIZE}, not {shape.columns} by {shape.rows}"
        )
    return snapshot.position


def _to_sgf(snapshot: Snapshot) -> str:
    from oracle.sgf import write_sgf

    game = "gomoku" if snapshot.game == "gomoku" else "go"
    turn = snapshot.to_play or BLACK
    return write_sgf(snapshot.position, [], game=game, to_play=turn, komi=snapshot.komi).decode()


# How to write a position in each format, with its last newline.
WRITERS: dict[str, Callable[[Snapshot], str]] = {
    "text": lambda snapshot: format_digits(snapshot.position),
    "diagram": lambda snapshot: format_diagram(snapshot.position) + "\n",
    "drawing": lambda snapshot: format_drawing(snapshot.position),
    "gosensei": lambda snapshot: format_gosensei(_nine(snapshot)),
    "picture": lambda snapshot: draw_gosensei(_nine(snapshot)) + "\n",
    "sgf": _to_sgf,
    "svg": lambda snapshot: draw_svg(Diagram(snapshot.position, snapshot.last)) + "\n",
}
