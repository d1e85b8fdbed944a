"""Replies that refuse their command, though they may report success."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter

from harness.declared.declaration import DeclaredGame
from harness.records import Reply


def refuses(game: DeclaredGame) -> Callable[[Reply], bool]:
    """Return what tells whether a reply refuses its command."""
    if not game.refused:
        return attrgetter("is_refusal")
    found = re.compile(game.refused).search
    return lambda reply: reply.is_refusal or found(reply.text) is not None
