"""What Alembic executes: it makes the steps with our connection, within our transaction."""

from alembic import context

from harness.grading.ledger.ledger_tables import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
)
context.run_migrations()
