"""Plan, run and load attempts (one submission with one case file each), from which marks come."""
