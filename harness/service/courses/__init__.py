"""Courses: who is in them, their assignments and dates."""
