"""Differential testing: an engine and the oracle get the same random commands.

Drawn by Hypothesis (:mod:`~harness.fuzzing.script_drawing`) →
:class:`~harness.vocabulary.script.Script` → the engine's :class:`~harness.vocabulary.script.Trace`
→ :class:`~harness.fuzzing.reply_judge.WrongReply` from what the oracle says → shrunk by Hypothesis
(:mod:`~harness.fuzzing.trace_pruning`) → a case file.
"""
