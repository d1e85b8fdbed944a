"""Identify people: links to sign in, sessions, API tokens. Passwords are nowhere."""
