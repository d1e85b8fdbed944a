"""Bring the tables of former versions up to date, with Alembic.

A file of version 2, or of version 3 from before Alembic, has no note of its step: its version
stands in its first bytes.
"""
