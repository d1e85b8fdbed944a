"""Ends at once, as if all were done, without a word."""
