"""Handing in: bytes go to the store under caps, and wait there for a worker's intake."""
