"""Compute marks from attempts, compare them with those in force, and list what to look at.

Only :mod:`~harness.grading.marks.marker` reads the ledger; the rest is pure.
"""
