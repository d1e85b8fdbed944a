"""Differential testing: an engine and the oracle get the same random commands.

Drawn by Hypothesis (:mod:`~harness.fuzzing.drawing`) →
:class:`~harness.vocabulary.script.Script` → the engine's
:class:`~harness.vocabulary.script.Trace`
→ :class:`~harness.fuzzing.judges.WrongReply` from what the oracle says → shrunk by Hypothesis
(:mod:`~harness.fuzzing.reduction`) → a case file.
"""
