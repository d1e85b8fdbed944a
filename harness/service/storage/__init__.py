"""Rows of the service's own tables: the only room of the service with SQL.

``tables`` says what there is; ``database`` opens and copies it, on SQLite and PostgreSQL alike;
each other module reads and writes what it is named after, as methods of one transaction. Secrets
come here as digests only.
"""
