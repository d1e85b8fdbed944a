"""Why a job failed, in words that help a teacher; the operator has the details in the log."""

from __future__ import annotations

import re

# An absolute path, or what only somebody on the server can do.
_OF_THE_SERVER = re.compile(r"(?<![\w./])/\w[^\s/]*/|\bchmod\b")
_TOLD = (
    "a program of the assignment, such as the reference, could not be run on the server. Try its"
    " command on your own computer. If it works there, ask the operator of the service: the log"
    " says why"
)


def for_teachers(why: str) -> str:
    """Return why positions or wrong tests could not be found, without paths of the server."""
    return _TOLD if _OF_THE_SERVER.search(why) else why
