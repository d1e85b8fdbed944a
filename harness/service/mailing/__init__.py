"""Mails with links to sign in: requested, or sent to a roster; repeated until accepted."""
