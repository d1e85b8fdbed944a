"""What commands of a set-up decide, and what a refused one leaves unknown. Pure."""

from __future__ import annotations

from oracle.natures import Nature


class Unknown:
    """What is not known of a game because a command of its set-up was refused."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}  # what is not known, and the line of the refused command

    def refused(self, nature: Nature, line: int) -> None:
        """Forget what a command would have set or changed."""
        for part in nature.touches:
            self._since.setdefault(part, line)

    def accepted(self, nature: Nature, line: int) -> None:
        """Know again what a command has set."""
        for part in nature.renews:
            self._since.pop(part, None)

    def line(self, nature: Nature) -> int:
        """Return the line that keeps a command's right answer from being known; 0 if none does."""
        lines = (self._since[part] for part in nature.needs if part in self._since)
        return min(lines, default=0)
