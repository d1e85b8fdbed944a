"""For operators of a service: checks, state, metrics, backups and pruning."""
