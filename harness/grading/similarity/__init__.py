"""Submissions compared with each other."""
