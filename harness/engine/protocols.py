"""What engines speak: how a command is written, where its reply ends, what a refusal is.

A :class:`Protocol` has all of the difference. GTP is the first one; others are imported when they
are asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.engine.replies import Splitter, end_of_last_reply
from harness.errors import UsageError
from harness.records import Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Where in a window of the output, of which so many bytes at its end are new, the last reply
    # ends; 0: none does.
    Finder = Callable[[bytes, int], int]

NAMES = ("gtp", "status last")


class Protocol:
    """The Go Text Protocol."""

    name = NAMES[0]
    whole = b"\n\n"  # what is read without a CR and ends so is whole replies; b"": nothing is
    has_ids = True  # a command may begin with a number, which its reply repeats
    is_strict = False  # a reply always answers the command that was sent before it came
    prelude: tuple[str, ...] = ("name", "version", "cputime")  # the harness's own, before a file
    clock = "cputime"  # what it asks again at the end, to compare; "": nothing
    farewell = "quit"

    def end(self, data: bytes) -> int:
        """Return the index behind the last reply in ``data``, which begins with one; or 0."""
        return end_of_last_reply(data)

    def finder(self) -> Finder:
        """Return what looks for the end of the reply that begins now, as it comes in."""
        return lambda window, _: end_of_last_reply(window)

    def splitter(self, *, strict: bool) -> Splitter:
        """Return what cuts output into replies; ``strict``: as grading listens."""
        return Splitter(tabs=strict)

    def lacking(self, output: bytes) -> str:
        """Return why output is no reply yet: a clause that follows "but"."""
        if output[:1] not in b"=?":
            return "a reply begins with = or ?"
        if output.rstrip().rpartition(b"\n")[2] in {b"= 1", b"= -1"}:
            return "a reply ends with an empty line (is the engine's --protocol 'status last'?)"
        return "a reply ends with an empty line"

    def oddity(self, reply: Reply) -> str:
        """Return what is wrong with how a reply ends: words that follow it; "": nothing."""
        return ""


GTP = Protocol()


def named(name: str) -> Protocol:
    """Return the protocol called ``name``.

    Raises:
        UsageError: there is none.
    """
    if name == GTP.name:
        return GTP
    if name not in NAMES:
        known = " and ".join(map(repr, NAMES))
        raise UsageError(f"unknown protocol {name!r}; there are {known}")
    from harness.engine.status_last import STATUS_LAST

    return STATUS_LAST
