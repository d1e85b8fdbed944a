"""The transfer of a file's result from one process to another, in few records.

For each named tuple :mod:`pickle` asks by functions of Python how it is made, which took as long
as to split the replies. Most commands have the same few replies: each travels once, as a plain
tuple, and for the rest its place in the row of them.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Sequence

from harness.records import Exchange, FileResult, Outcome, Reply, Verdict

_new = tuple.__new__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    _Packed = tuple[Callable[..., FileResult], tuple[Any, ...]]


def pack(file: FileResult) -> _Packed:
    """Return what makes a result again, and what that is given; see :func:`copyreg.pickle`."""
    own = [*file.before, *file.after]
    replies = [*file.replies, *(one.reply for one in file.outcomes), *(one.reply for one in own)]
    known = dict(zip(map(id, replies), replies, strict=True))
    places = {one: place for place, one in enumerate(known)}
    return unpack, (
        [None if reply is None else tuple(reply) for reply in known.values()],
        [places[id(reply)] for reply in replies],
        [(step, verdict, flaky) for step, verdict, _, flaky in file.outcomes],
        [one.text for one in file.before],
        [one.text for one in file.after],
        tuple(file._replace(replies=(), outcomes=(), before=(), after=())),
    )


def unpack(  # noqa: PLR0913, PLR0917 - as pickle hands them over
    known: Sequence[tuple[Any, ...] | None],
    places: Sequence[int],
    outcomes: Sequence[tuple[int, Verdict, bool]],
    before: Sequence[str],
    after: Sequence[str],
    rest: tuple[Any, ...],
) -> FileResult:
    """Return the result again.

    ``known``: the replies, each once. ``places``: which of them was given to each command of the
    file, to each test, to each of the harness's own commands, ``before`` the file and ``after``.
    """
    records = [None if one is None else _new(Reply, one) for one in known]
    replies = [records[place] for place in places]
    own = [*before, *after]
    of_tests, of_own = len(replies) - len(outcomes) - len(own), len(replies) - len(own)
    exchanges = list(map(Exchange, own, replies[of_own:]))
    judged = zip(outcomes, replies[of_tests:of_own], strict=True)
    return FileResult(*rest)._replace(
        replies=tuple(replies[:of_tests]),
        outcomes=tuple([_new(Outcome, (step, one, reply, f)) for (step, one, f), reply in judged]),
        before=tuple(exchanges[: len(before)]),
        after=tuple(exchanges[len(before) :]),
    )


def register() -> None:
    """Let results travel so from now on."""
    copyreg.pickle(FileResult, pack)
