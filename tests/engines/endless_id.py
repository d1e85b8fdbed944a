"""Gives a reply an id that is too long to be a number."""

from common import answer, serve

serve(lambda id_, name: answer("9" * 10_000, name))
