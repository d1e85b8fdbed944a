"""Colours a reply by a terminal's escapes."""

from common import answer, serve

serve(lambda id_, name: answer(id_, f"\x1b[31m{name}\x1b[0m"))
