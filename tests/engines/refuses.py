"""Answers a command with an error."""

from common import say, serve

serve(lambda id_, name: say(f"?{id_} unknown command\n\n"))
