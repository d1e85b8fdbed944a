"""Replies with what an expression such as (a+)+b takes for ever to refuse."""

from common import answer, serve

serve(lambda id_, name: answer(id_, "a" * 60))
