"""Writes more than a pipe holds before it reads anything."""

from common import say, serve

say("loading\n" * 100_000)
serve()
