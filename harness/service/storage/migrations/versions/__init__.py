"""One module for each step from a version to the next."""
