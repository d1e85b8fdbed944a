"""Answers before there is a command."""

from common import say, serve

say("= hello\n\n")
serve()
