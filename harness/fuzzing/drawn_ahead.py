"""Conversations drawn ahead of the reference's replies: nobody waits while they are drawn.

Where a conversation leads is guessed. So most of them continue an earlier one whose replies are
known by now, for a few moves and questions: near enough for guesses to be right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random

from harness.declared.conversation_drawing import Drawer, KnownBeginning
from harness.declared.declaration import ASKS
from harness.records import Reply
from harness.vocabulary.script import Script, name_of

_KNOWN = 64  # beginnings at hand; a new one takes the place of any
_CONTINUES = 0.85  # how often a conversation continues from one of them
_OF = 2  # of so many, the one with the fullest board is gone on from
_LONGEST = 20  # moves, questions and the like that follow; fewer oftener
_MOST = 12  # commands of a beginning: what shows after more of them nobody wants to read
_LEARNT = 0.5  # how many conversations become beginnings of others


class Unasked:
    """Draws conversations; told of replies by :meth:`learn`."""

    def __init__(self, drawer: Drawer, random: Random) -> None:
        """Take what draws single ones; ``random`` decides what they continue, and how far."""
        self._declaration = drawer.declaration
        over = drawer.declaration.game.over
        self._end = over.ask if over else ""
        self._random = random
        self._drawer = drawer
        self._nothing = KnownBeginning((), self._drawer.nothing)
        self._known: list[KnownBeginning] = []
        self._begun: deque[KnownBeginning] = (
            deque()
        )  # of what was drawn and not learnt, in this order

    def draw(self) -> Script:
        """Return a conversation."""
        random = self._random
        goes_on = self._known and random.random() < _CONTINUES
        some = random.choices(self._known, k=_OF) if goes_on else []
        known = max(some, key=_fullness, default=None)
        self._begun.append(known or self._nothing)
        length = 1 + int(_LONGEST * random.random() ** 2)
        return self._drawer.draw(length, known=known)

    def learn(self, commands: Sequence[str], replies: Sequence[Reply]) -> None:
        """Take the right replies to the next of the conversations, in the order of their drawing.

        Perhaps others continue from some place of it.
        """
        begun = self._begun.popleft()
        if self._random.random() > _LEARNT:
            return
        most = self._random.randint(len(commands) // 2, len(commands))
        most += commands[most : most + 1] == (self._end,)  # else nobody knows whether it is over
        known = self._follow(begun, commands[:most], replies)
        if known is None:
            return
        if len(self._known) < _KNOWN:
            self._known.append(known)
        else:
            self._known[self._random.randrange(_KNOWN)] = known

    def _follow(
        self, begun: KnownBeginning, commands: Sequence[str], replies: Sequence[Reply]
    ) -> KnownBeginning | None:
        """Return commands that have led somewhere; to where moves were listed, if they ever are.

        None: to the end of a game, or to nothing new. It ends where a program has chosen: each may
        choose otherwise.
        """
        drawer, now, start = self._drawer, begun.now.copy(), len(begun.commands)
        said = list(begun.commands)
        listed: KnownBeginning | None = None  # where moves were listed last
        for command, reply in zip(commands[start:], replies[start:], strict=False):
            declared = self._declaration.command(name_of(command))
            if declared is None or declared.plays or not now.allows(command):
                break
            if len(said) >= _MOST and declared.kind != ASKS:
                break
            is_refused = now.observe(command, reply)
            drawer.read(command, now.state, reply.text)
            if declared.kind == ASKS:
                if command == drawer.lister and not now.is_over:
                    listed = KnownBeginning(tuple(said), now.copy())
            elif not is_refused:
                said.append(command)
        if drawer.lister:
            return listed
        return None if now.is_over or not said else KnownBeginning(tuple(said), now)


def _fullness(known: KnownBeginning) -> float:
    """Return the share of a board on which stones were played: games on small ones are short."""
    columns, rows = known.now.state.size
    return len(known.now.state.moves) / max(1, columns * rows)
