"""The answers of each assignment, with their reasons and the readings its document leaves open."""
