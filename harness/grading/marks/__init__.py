"""What attempts are worth, what would change that, and what a teacher should look at.

Only :mod:`~harness.grading.marks.marker` reads the ledger; the rest is pure.
"""
