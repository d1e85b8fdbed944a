"""Clears the screen, renames the window, answers back, and turns the writing around."""

import sys

from common import answer, serve

TEXT = "\x1b[2J\x1b]0;owned\x07\x1b[6n\x9b31m\x1bP+q\x1b\\\u202eevil\u2066\r\x08\x7f"
print(TEXT, file=sys.stderr)
serve(lambda id_, name: answer(id_, TEXT))
