"""Mails with links to sign in by: asked for, or sent to a roster; tried until they are taken."""
