"""Courses, their members, their assignments and their dates."""
