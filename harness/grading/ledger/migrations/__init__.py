"""How the tables of former versions become those of today, by Alembic.

A file of version 2, or of version 3 of before Alembic, has no note of which step it is at: its
version stands in its first bytes.
"""
