"""Choices of an engine: right if the reference's own play accepts them.

A choice that must *keep* the first word of the reply, as a solver's winning move keeps the winner,
is right if the reference still says that word when it is asked after the move.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from harness.declared.declaration import CHOOSES, COLOR, VERTEX, DeclaredCommand
from harness.declared.engine import ReferenceEngine
from harness.declared.following import places, vertex_of
from harness.records import Reply
from oracle.gtp.protocol import Engine, split


def accepts(engine: ReferenceEngine, command: str, right: Reply, got: Reply) -> bool:
    """Whether a reply to a command that chooses is right.

    ``engine``: the reference, before the command. ``right``: its own reply. ``got``: the other's.
    """
    asked = engine.declaration.command(command.partition(" ")[0])
    assert asked is not None
    if asked.keeps and _is_instead(asked, right):
        return True  # the reference gives up, and nobody knows better
    if engine.refuses(right) or engine.refuses(got):
        return engine.refuses(right) is engine.refuses(got)
    if _is_instead(asked, right) or _is_instead(asked, got):
        return right.text.lower() == got.text.lower()
    (kept, own), (word, chosen) = (_parts(asked, reply.text) for reply in (right, got))
    if kept != word or not (own and chosen):
        return (kept, own) == (word, chosen)
    return _holds(engine, command, asked, kept, chosen)


def choices(engine: Engine, command: str) -> tuple[str, ...]:
    """Return the replies that are right where a command chooses; none for other commands.

    ``engine``: the reference, before the command.
    """
    words = split(command)
    if not isinstance(engine, ReferenceEngine) or not words:
        return ()
    asked = engine.declaration.command(words[0])
    if asked is None or asked.kind != CHOOSES:
        return ()
    right = engine.replies((*engine.said, command))[-1]
    kept, chosen = _parts(asked, right.text)
    if engine.refuses(right) or _is_instead(asked, right) or not chosen:
        return ()
    if not _holds(engine, command, asked, kept, chosen):
        return ()  # it is not a choice, whatever it is
    found = [one for one in _replies(engine) if _holds(engine, command, asked, kept, one)]
    return tuple(f"{kept} {one}".lstrip() for one in found)


def _replies(engine: ReferenceEngine) -> Iterator[str]:
    """Yield all that may be chosen on a board: a point, and what else a move has to say."""
    game, move = engine.declaration.game, engine.declaration.move
    names = [vertex_of(place, game) for place in places(engine.session.state.size)]
    told = [
        names if one.drawn == VERTEX else one.words
        for one in (move.arguments if move else ())
        if one.drawn != COLOR
    ]
    return (" ".join(words) for words in product(*told))


def _holds(
    engine: ReferenceEngine, command: str, asked: DeclaredCommand, kept: str, chosen: str
) -> bool:
    """Whether the reference plays a move, and says after it what is to be kept."""
    move = engine.session.state.as_move(command, chosen)
    if not move:
        return False
    after = (*engine.said, move)
    if engine.refuses(engine.replies(after)[-1]):
        return False
    if not asked.keeps:
        return True
    again = engine.replies((*after, command))[-1]
    return not engine.refuses(again) and _parts(asked, again.text)[0] == kept


def _is_instead(asked: DeclaredCommand, reply: Reply) -> bool:
    return reply.text.lower() in map(str.lower, asked.instead)


def _parts(asked: DeclaredCommand, text: str) -> tuple[str, str]:
    """Return what of a reply is to be kept, in small letters, and what is chosen."""
    words = text.split()
    if not asked.keeps:
        return "", " ".join(words)
    return " ".join(words[:1]).lower(), " ".join(words[1:])
