"""Differential testing: an engine and the oracle are sent the same commands, drawn at random.

Drawn by Hypothesis (:mod:`~harness.fuzzing.drawing`) → :class:`~harness.fuzzing.script.Script` →
the engine's :class:`~harness.fuzzing.script.Trace` → :class:`~harness.fuzzing.judging.Difference`
from what the oracle says → shrunk by Hypothesis → a case file.
"""
