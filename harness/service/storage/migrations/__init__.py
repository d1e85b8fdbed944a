"""How the service's tables of former versions become those of today, by Alembic."""
