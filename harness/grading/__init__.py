"""Grading: from a folder of submissions to marks.

source → :class:`~harness.grading.records.Entry` → intake →
:class:`~harness.grading.records.Submission` → attempts in the ledger → marks → exports. Everything
but the intake, the ledger and the running of engines is pure.
"""
