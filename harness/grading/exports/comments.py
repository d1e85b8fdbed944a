"""The comment on a submission for Moodle: a few lines of HTML, all ASCII, without a private word.

A worksheet may have any encoding that has ASCII in it, so that other characters are written as
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.grading.exports.showing import Feedback
from harness.grading.records import decimal
from harness.report.markup import escape
from harness.visible import visible


def comment(shown: Feedback) -> str:
    """Return the mark with its reasons, and what was wrong with what was handed in."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in _lines(shown) if line)
    markup = f"<p>{escape(str(shown.marks))}</p><ul>{lines}</ul>"
    return visible(markup).replace("\n", " ").encode("ascii", "xmlcharrefreplace").decode()


def _lines(shown: Feedback) -> Iterator[str]:
    marks = shown.marks
    yield marks.note
    for part in marks.parts:
        reason = f": {part.reason}" if part.reason else ""
        yield f"{part.name} {decimal(part.points)} of {decimal(part.of)}{reason}"
    if marks.deduction:
        yield f"late: \N{MINUS SIGN}{decimal(marks.deduction)}: {marks.deduction_reason}"
    yield from shown.faults
    yield from map(str, shown.diagnoses)
    if shown.is_unsafe:
        yield "Run without a sandbox."
