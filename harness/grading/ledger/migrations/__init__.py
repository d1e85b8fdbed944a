"""How the tables of former versions become those of today, by Alembic."""
