"""A deadline for the matching of regular expressions, in whatever thread.

``(a+)+b`` has two ways to match every further ``a`` of a text without a ``b``. Which texts are
too much for which expression cannot be told beforehand, and the text is an untrusted program's.

What takes few steps for certain (:mod:`harness.reading.matchers`) is matched here. All else is
matched by a process of its own (:mod:`harness.reading.matchers`), which the kernel ends when it
has computed for too long. The engine is that of :mod:`re` in both, and so are verdicts,
look-around and back-references. The limit counts what the process computes, not what the clock
shows: however busy the machine, no verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Literal

    How = Literal["fullmatch", "search"]

LIMIT = 2.0  # seconds; what is in order takes microseconds


def within(seconds: float, compiled: re.Pattern[str], how: How) -> Callable[[str], bool]:
    """Return a test of whether an expression matches a text, as a method of ``compiled`` says.

    The test raises :class:`~harness.errors.UndecidedError` when it took longer than
    ``seconds`` of computing.
    """
    from harness.reading import matchers

    bound = matchers.find_bound(compiled.pattern, compiled.flags, anywhere=how == "search")
    here = getattr(compiled, how)

    def test(text: str) -> bool:
        if bound.allows(len(text)):
            return here(text) is not None
        from harness.reading import matchers  # few runs need one

        return matchers.ask([seconds, compiled.pattern, compiled.flags, how, text])

    return test
