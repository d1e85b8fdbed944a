"""Shorten the output of engines, which may write megabytes, so that it can be read."""

from __future__ import annotations

from harness.records import FileResult, Outcome, Reply
from harness.text import at_most

LONGEST = 4_000  # characters of a reply, and of standard error
_WARNINGS = 20


def shorten(file: FileResult, stderr: int = LONGEST) -> FileResult:
    """Return a result with short replies; ``stderr``: characters of the end that is kept."""
    short = file._replace(
        stderr=file.stderr[-stderr:], warnings=tuple(at_most(file.warnings, _WARNINGS))
    )
    if max((len(reply.raw) for reply in file.replies if reply), default=0) <= LONGEST:
        return short
    return short._replace(
        outcomes=tuple(map(short_outcome, file.outcomes)),
        replies=tuple(reply and short_reply(reply) for reply in file.replies),
    )


def short_outcome(outcome: Outcome) -> Outcome:
    """Return a result with a short reply."""
    reply = outcome.reply
    short = reply and short_reply(reply)
    return outcome if short is reply else outcome._replace(reply=short)


def short_reply(reply: Reply) -> Reply:
    """Return a reply without the middle of what is too long."""
    if len(reply.raw) <= LONGEST:
        return reply
    return reply._replace(text=_short(reply.text), raw=_short(reply.raw))


def _short(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST} characters …\n{text[-half:]}"
