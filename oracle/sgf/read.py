"""Reads the position after some moves of one of a file's games."""

from __future__ import annotations

from oracle.boards.snapshot import Snapshot, SnapshotChoice
from oracle.errors import SgfError
from oracle.sgf.faults import Faults, where
from oracle.sgf.header import read_header
from oracle.sgf.replay import MOVES, Replay
from oracle.sgf.tree import Node, SgfGame, games


def read_sgf(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read the position after some moves of a game.

    Args:
        data: the file's content.
        file: its name, for errors.
        choice: which game, variation and move; else the end of the first variations.

    What SGF or the rules of the game forbid (a stone on an occupied point, suicide, ko, a wrong
    turn, a stone after the end, a damaged file …) is refused, or kept with a note if
    ``choice.keep_faults``. What lies behind the chosen move is not looked at.

    Of several games one must be chosen: taking the first without a word would be a trap.

    Raises :class:`SgfError` naming game, node, property and reason.
    """
    choice = choice or SnapshotChoice()
    found = games(data, file)
    game = _choose(found, choice.number, file)
    faults = Faults(file, f"game {game.number}, " if len(found) > 1 else "", choice.keep_faults)
    line = _line(game.root, choice.variation, faults)
    header = read_header(game.root, choice, faults)
    replay = Replay(header, faults)
    rest = _follow(line, replay, choice.move, faults)
    if not rest:
        _check_end(game, replay, choice.move, faults)
    return Snapshot(
        replay.game.position,
        "sgf",
        game=header.game,
        to_play=replay.turn or _next_color(rest),
        komi=header.komi,
        start=replay.start,
        moves=replay.moves,
        ko=replay.ko,
        title=header.title,
        notes=faults.notes,
    )


def _choose(found: list[SgfGame], number: int | None, file: str | None) -> SgfGame:
    has = "1 game" if len(found) == 1 else f"{len(found)} games"
    if number is None and len(found) > 1:
        raise SgfError(f"the file has {has}; choose one by its number", file)
    number = 1 if number is None else number
    if not 1 <= number <= len(found):
        damaged = " (the last is damaged, so there may be more)" if found[-1].fault else ""
        raise SgfError(f"there is no game {number}: the file has {has}{damaged}", file)
    return found[number - 1]


def _line(root: Node, variation: tuple[int, ...], faults: Faults) -> list[Node]:
    """Return the nodes of a variation: the branches to take, then always the first."""
    wanted, line = list(variation), [root]
    while children := line[-1].children:
        branch = wanted.pop(0) if wanted and len(children) > 1 else 1
        if not 1 <= branch <= len(children):
            reason = f"there is no variation {branch}, only {len(children)}"
            raise faults.error(where(line[-1]), reason)
        line.append(children[branch - 1])
    if wanted:
        parts = len(variation) - len(wanted)
        raise faults.error(where(line[-1]), f"the line has ended after {parts} choices")
    return line


def _follow(line: list[Node], replay: Replay, last: int | None, faults: Faults) -> list[Node]:
    """Apply nodes until the one whose move would be the first too many; return what is left."""
    for index, node in enumerate(line):
        moves = _moves(node)
        if moves and replay.count == last:
            return line[index:]
        if replay.setup(node) and moves:
            faults.note(f"{where(node)} has setup and a move; the setup comes first")
        if index == 0:
            replay.handicap(node)
        if len(moves) > 1:
            faults.fault(where(node), f"the node has {len(moves)} moves")
        for name, value in moves:
            if replay.count == last:
                return line[index:]
            replay.move(node, name, value)
    return []


def _moves(node: Node) -> list[tuple[str, str]]:
    """Return the moves of a node in the file's order; SGF allows one."""
    return [
        (name, value)
        for name in node.properties
        if name in MOVES
        for value in node.properties[name]
    ]


def _check_end(game: SgfGame, replay: Replay, last: int | None, faults: Faults) -> None:
    """Check that the line was sound, and long enough for the chosen move."""
    if game.fault:
        faults.fault(game.fault, "the rest of the game cannot be read")
    if last is not None and replay.count != last:
        has = "1 move" if replay.count == 1 else f"{replay.count} moves"
        raise faults.error(f"move {last}", f"the line has only {has}")


def _next_color(nodes: list[Node]) -> int | None:
    """Return the color that the record lets move next."""
    return next((MOVES[name] for node in nodes for name, _ in _moves(node)), None)
