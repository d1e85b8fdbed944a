"""Introduces itself on standard output."""

from common import say, serve

say("Fantastic Go 1.0\n\nCopyright: nobody\n")
serve()
