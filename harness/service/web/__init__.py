"""Shared by all routes: access rights, refusals, and the look of pages."""
