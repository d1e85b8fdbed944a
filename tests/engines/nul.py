"""Has a NUL in a reply."""

from common import answer, serve

serve(lambda id_, name: answer(id_, "fa\0ult"))
