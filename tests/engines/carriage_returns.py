"""Ends lines as Windows does."""

from common import say, serve

serve(lambda id_, name: say(f"={id_} {name}\r\n\r\n"))
