"""Bring the tables of former versions up to date, with Alembic.

A file of version 2, or of version 3 of before Alembic, has no note of which step it is at: its
version stands in its first bytes.
"""
