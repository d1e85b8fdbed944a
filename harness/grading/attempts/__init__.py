"""Plan and run attempts (one submission with one case file each), from which marks come."""
