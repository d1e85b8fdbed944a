"""A match as JUnit XML: "not weaker than the baseline" is a test, and so is "did not break"."""

from __future__ import annotations

from collections.abc import Iterator

from harness.match.records import CRASHED, HUNG, LIMITS, NOT_READY, OUTPUT, TURN
from harness.match.standings import Standings
from harness.match.text import describe
from harness.report import report_files
from harness.report.junit import attribute, test_case

_BROKE = (CRASHED, HUNG, LIMITS, NOT_READY, OUTPUT, TURN)


def report(path: str, found: Standings) -> None:
    """Write the file; see :class:`~harness.report.reporters.Reporter`."""
    report_files.write(path, _document(found))


def _document(found: Standings) -> Iterator[str]:
    title = describe(found.result.match.rules)
    cases = list(_cases(found, title))
    failed = sum(bool(inside) for _, inside in cases)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    numbers = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="0"'
    yield f"<testsuites {numbers}>\n"
    yield f'<testsuite name="{attribute(f"match: {title}")}" {numbers}>\n'
    for name, inside in cases:
        yield test_case(name, "match", inside)
    yield "</testsuite>\n</testsuites>\n"


def _cases(found: Standings, title: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each test, and its failure; "" if it passed."""
    players = found.result.match.players
    for one in found.comparisons:
        name = f"{players[one.player].name} is not weaker than {players[one.baseline].name}"
        yield name, _failure(one.sentence(players)) if one.is_weaker else ""
    for row in found.rows:
        broke = {reason: row.lost[reason] for reason in _BROKE if row.lost[reason]}
        told = ", ".join(f"{reason} {count}" for reason, count in broke.items())
        words = f"lost by: {told} (of {row.score.games} games of {title})"
        yield f"{row.player.name} does not break", _failure(words) if broke else ""


def _failure(message: str) -> str:
    return f'<failure type="FAILED" message="{attribute(message)}"/>'
