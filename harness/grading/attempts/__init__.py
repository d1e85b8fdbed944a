"""One submission and one case file, planned, run and read again: what a mark can be made of."""
