"""Small changes of a conversation, by which a reference tells what a declaration forgot."""

from __future__ import annotations

from collections.abc import Callable

from harness.declared.allowing import is_sized
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import ASKS, CHOOSES, STARTS, DeclaredCommand
from harness.declared.engine import ReferenceEngine
from harness.declared.engine_choices import accepts
from harness.declared.following import ConversationState
from harness.declared.observed import Observed, ObservedExchange
from harness.declared.refusing import refuses
from harness.records import Reply
from harness.specifications.record import Specification


class Prober:
    """Asks the reference about changes, and counts what happens to them."""

    def __init__(
        self,
        seen: Observed,
        drawer: Drawer,
        specification: Specification,
        same: Callable[[ObservedExchange, Reply], bool],
    ) -> None:
        """``same``: whether a reply is as good as the one that was heard."""
        self._seen = seen
        self._drawer = drawer
        self._declaration = drawer.declaration
        self._specification = specification
        self._same = same
        self._refuses = refuses(drawer.declaration.game)

    def begin(self) -> None:
        """Ask which commands there are, and for a board of each size."""
        listed = self._last(("list_commands",))
        self._seen.listed = tuple(listed.text.split()) if listed.ok else ()
        state = ConversationState(self._declaration)
        for command in self._declaration.of_kind(STARTS):
            for size in self._declaration.game.sizes if is_sized(command) else ():
                line = self._drawer.command(command, state, size)
                if self._refuses(self._last((line,))):
                    self._seen.sizes_refused.append(line)

    def probe(self, said: list[ObservedExchange]) -> None:
        """Change a conversation in each way."""
        if early := self._after_first_move(said):
            self._try_templates(early)
            self._try_second_stone(early)
        self._try_choice(said)
        self._try_without(said)

    def _after_first_move(self, said: list[ObservedExchange]) -> ReferenceEngine | None:
        """Return the reference where a game has begun and is not over yet, if it ever was."""
        engine = self._engine()
        for one in said:
            engine.reply(one.line)
            if engine.session.state.moves:
                return engine
        return None

    def _try_templates(self, engine: ReferenceEngine) -> None:
        """Send each wrong argument after a conversation."""
        for command in self._declaration.commands:
            for template in command.bad:
                line = self._drawer.bad(command, engine.session.state, template)
                tally, reply = self._seen.tallies[command.name], self._last((*engine.said, line))
                counts = tally.bad.setdefault(template, [0, 0])
                counts[0] += 1
                counts[1] += self._refuses(reply)
                tally.errors += not reply.ok

    def _try_second_stone(self, engine: ReferenceEngine) -> None:
        """Play where a stone may be played, but one of the color that is not to move."""
        state = engine.session.state
        choice = self._drawer.choice(state)
        own, others = (state.move_of(color, choice) for color in (state.turn, state.other))
        if own == others or self._refuses(self._last((*engine.said, own))):
            return
        self._seen.second_stones[0] += 1
        self._seen.second_stones[1] += self._refuses(self._last((*engine.said, others)))

    def _try_choice(self, said: list[ObservedExchange]) -> None:
        """See whether a choice of the reference's own is right, and whether it was played."""
        for one in said:
            command = self._command(one)
            if command and command.kind == CHOOSES and not self._is_nothing(command, one.reply):
                tally = self._seen.tallies[one.name]
                if not self._is_own_right(one):
                    tally.own_refused[one.reply.text] += 1
                elif one.is_choice:
                    replies = self._specification.truth.replies((*one.said, one.command, one.line))
                    chose_again = replies[-2].text == one.reply.text  # it may draw its choice
                    tally.played_twice += chose_again and not self._refuses(replies[-1])
                return

    def _is_own_right(self, one: ObservedExchange) -> bool:
        engine = self._engine().after(one.said)
        return accepts(engine, one.command, one.reply, one.reply)

    def _is_nothing(self, command: DeclaredCommand, reply: Reply) -> bool:
        instead = map(str.lower, command.instead)
        return self._refuses(reply) or reply.text.lower() in instead

    def _try_without(self, said: list[ObservedExchange]) -> None:
        """Leave the questions of each name out: the other replies are to stay as they are."""
        names = {one.name for one in said if self._only_asks(one)}
        for name in sorted(names):
            rest = [one for one in said if one.name != name]
            replies = self._specification.truth.replies(tuple(one.line for one in rest))
            pairs = zip(rest, replies, strict=False)
            self._seen.tallies[name].changed += any(
                not one.is_choice and not self._same(one, got) for one, got in pairs
            )

    def _only_asks(self, one: ObservedExchange) -> bool:
        command = self._command(one)
        if command is None:
            return False
        return command.kind == ASKS or (command.kind == CHOOSES and not command.plays)

    def _command(self, one: ObservedExchange) -> DeclaredCommand | None:
        return self._declaration.command(one.name)

    def _engine(self) -> ReferenceEngine:
        engine = self._specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        return engine

    def _last(self, commands: tuple[str, ...]) -> Reply:
        return self._specification.truth.replies(commands)[-1]
