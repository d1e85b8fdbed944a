"""Commands of a teacher's own beside an assignment that ships: the oracle's and a reference's."""

from __future__ import annotations

from harness.declared.declaration import SETS, Declaration
from harness.records import Reply
from harness.specifications.truth import InProcess, Truth, reply_of
from harness.vocabulary.answer_forms import is_a_move
from oracle.gtp.protocol import Engine, is_number, split
from oracle.natures import STANDARD


def beside(shipped: Truth, own: Truth, declaration: Declaration) -> Truth:
    """Return a truth of two: a reference answers what is declared, the oracle all else.

    Both are told of the game: declared commands ask and set, and do not move.
    """
    return InProcess(lambda: _EngineBeside(shipped.engine(), own, declaration))


class _EngineBeside(Engine):
    """The oracle's engine, which passes on to the reference what is the reference's."""

    def __init__(self, shipped: Engine, own: Truth, declaration: Declaration) -> None:
        super().__init__(shipped.session)
        self._shipped = shipped
        self._own = own
        self._declaration = declaration
        self._said: tuple[str, ...] = ()  # to the reference

    def handle(self, line: str) -> str:
        """Return the reply to a line; see :meth:`oracle.gtp.protocol.Engine.handle`."""
        words = split(line)
        number = words.pop(0) if words and is_number(words[0]) else ""
        declared = self._declaration.command(words[0]) if words else None
        if declared is None:
            raw = self._shipped.handle(line)
            if words:
                self._follow(words, reply_of(raw))
            return raw
        command = " ".join(words)
        reply = self._own.replies((*self._said, command), self.session.folder)[-1]
        if declared.kind == SETS:
            self._said += (command,)
        return f"{'=' if reply.ok else '?'}{number} {reply.text}\n\n"

    def _follow(self, words: list[str], reply: Reply) -> None:
        """Tell the reference of what the oracle has heard."""
        nature = STANDARD.at_hand(words[0])
        if nature.moves and nature.chooses:
            moved = (f"play {words[1]} {reply.text}",) if is_a_move(reply.text) else ()
            self._said += moved
        elif nature.sets_up and reply.ok:
            self._said += (" ".join(words),)
