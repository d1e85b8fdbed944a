"""Scripts under way to an engine, while the harness draws others and judges earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.engine.engine_session import EngineSession
from harness.engine.send_ahead import Ahead
from harness.errors import EngineError
from harness.records import Failure
from harness.vocabulary.script import Script, Trace, line_of
from oracle.natures import Natures


class UnderWay:
    """Scripts that were sent one after the other; see
    :class:`~harness.fuzzing.fuzzed_engine.ScriptHearing`.

    Attributes: ``is_open``, whether their replies are what the engine sends next.
    """

    def __init__(
        self,
        session: EngineSession,
        scripts: Sequence[Script],
        natures: Natures,
        distrust: Callable[[], object],
    ) -> None:
        """Send scripts; ``distrust``: is called if nobody knows which reply is whose."""
        self.is_open = True
        self._session = session
        self._scripts = scripts
        self._distrust = distrust
        self._failure: Failure | None = None
        commands = [command for script in scripts for command in script.commands]
        lines = list(map(line_of, commands))
        self._ahead = Ahead(session, lines, [natures.alone[one] for one in commands])
        self._try(self._ahead.begin)

    def go_on(self) -> None:
        """Send more, if that is due."""
        if self.is_open:
            self._try(self._ahead.go_on)

    def traces(self) -> list[Trace]:
        """Wait, and return what the engine did, up to where it broke."""
        if not self.is_open:
            return []
        self._try(self._ahead.finish)
        self.is_open = False
        if self._session.answers_too_often:
            self._distrust()
            return []
        return list(self._cut())

    def _try(self, step: Callable[[], object]) -> None:
        if self._failure is None:
            try:
                step()
            except EngineError as error:
                self._failure = error.failure

    def _cut(self) -> Iterator[Trace]:
        start = 0
        for script in self._scripts:
            replies = tuple(self._ahead.replies[start : start + len(script.commands)])
            if len(replies) < len(script.commands):
                assert self._failure is not None
                yield Trace(script, replies, self._failure._replace(step=len(replies)))
                return
            yield Trace(script, replies)
            start += len(replies)
