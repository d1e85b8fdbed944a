"""A badge: how many tests of the last run passed, as a small picture for the page of an engine."""

from __future__ import annotations

from harness.report.markup import Markup
from harness.service.records import SuiteRun

_NAME = "tests"
_GOOD, _BAD, _NONE = "#1a7f37", "#b42318", "#57606a"
_DARK = "#24292f"
_LETTER, _ROOM = 6.6, 12  # width of a letter of 11 px, and around a text
_SVG = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="20" role="img" '
    'aria-label="%s"><title>%s</title>%s%s</svg>\n'
)
_PART = Markup(
    '<rect x="%s" width="%s" height="20" fill="%s"/><text x="%s" y="14" fill="#fff" '
    'text-anchor="middle" font-size="11" font-family="Verdana,DejaVu Sans,sans-serif" '
    'textLength="%s">%s</text>'
)


def svg(last: SuiteRun | None) -> Markup:
    """Return the badge of a suite; ``last``: its last run."""
    told, color = _get_text(last)
    left, right = _width(_NAME), _width(told)
    parts = _part(0, _NAME, _DARK), _part(left, told, color)
    label = f"{_NAME}: {told}"
    return _SVG % (left + right, label, label, *parts)


def _width(text: str) -> int:
    return round(len(text) * _LETTER) + _ROOM


def _part(x: int, text: str, color: str) -> Markup:
    width = _width(text)
    return _PART % (x, width, color, x + width / 2, width - _ROOM, text)


def _get_text(last: SuiteRun | None) -> tuple[str, str]:
    """Return what a badge says, and its color. What was not run or not judged did not pass."""
    if last is None:
        return "no run yet", _NONE
    if last.trouble:
        return "engine could not be run", _BAD
    if last.broken:
        return f"{last.passed} of {last.tests}, engine failure", _BAD
    is_good = not last.failed and not last.undecided and last.tests > 0
    return f"{last.passed} of {last.tests} passed", _GOOD if is_good else _BAD
