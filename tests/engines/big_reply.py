"""Replies with more than a pipe holds."""

from common import answer, serve

serve(lambda id_, name: answer(id_, "\n".join([name] * 100_000)))
