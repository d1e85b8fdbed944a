"""Differential testing: an engine and the oracle get the same random commands.

Drawn by Hypothesis (:mod:`~harness.fuzzing.drawing`) →
:class:`~harness.vocabulary.script.Script` → the engine's
:class:`~harness.vocabulary.script.Trace`
→ :class:`~harness.fuzzing.judges.WrongReply` from what the oracle says → shrunk by Hypothesis
(:mod:`~harness.fuzzing.fuzzer`) → a case file.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from harness.core import requirements

# --- Hypothesis, which draws: whether it is there, and where it may write ------------------------


def require_hypothesis(feature: str) -> None:
    """See that Hypothesis is installed; ``feature``: the command or option that needs it.

    Raises:
        UsageError: it is not.
    """
    requirements.require(feature, "fuzz", "hypothesis")


@contextlib.contextmanager
def hypothesis_at_home_in(folder: Path) -> Iterator[None]:
    """Let Hypothesis keep what it remembers in a folder: else it makes one where the user is."""
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(folder / "hypothesis")
    try:
        yield
    finally:
        set_hypothesis_home_dir(None)
