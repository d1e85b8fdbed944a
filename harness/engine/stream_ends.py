"""The beginning and the end of a stream that may be endless."""

from __future__ import annotations


class BothEnds:
    """Keeps the first and the last bytes of a stream, no more than ``size`` together."""

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self._head = b""
        self._tail = b""
        self.total = 0  # bytes seen

    @property
    def overflows(self) -> bool:
        """Whether something had to be left out."""
        return self.total > 2 * self._half

    def add(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :]

    def text(self) -> str:
        """Return what was kept, with a note where something is left out."""
        dropped = self.total - len(self._head) - len(self._tail)
        gap = f"\n[… {dropped:,} bytes left out …]\n".encode() if dropped else b""
        return (self._head + gap + self._tail).decode(errors="replace")
