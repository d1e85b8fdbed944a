"""A match as JUnit XML: "not weaker than the baseline" is a test, and so is "did not break"."""

from harness.match.records import CRASHED, HUNG, LIMITS, NOT_READY, OUTPUT, TURN
from harness.match.standings import Standings
from harness.report import report_files
from harness.report.junit import attribute, test_case

_BROKE = (CRASHED, HUNG, LIMITS, NOT_READY, OUTPUT, TURN)


def report(path: str, standings: Standings) -> None:
    """Write the file; see :class:`~harness.report.reporters.Reporter`."""
    title = standings.result.match.rules.title
    cases = {  # the name of each test, and its failure; "" if it passed
        f"{one.player.name} is not weaker than {one.baseline.name}": str(one)
        if one.is_weaker
        else ""
        for one in standings.comparisons
    }
    for row in standings.rows:
        broke = ", ".join(f"{one} {row.lost[one]}" for one in _BROKE if row.lost[one])
        words = f"lost by: {broke} (of {row.score.games} games of {title})" if broke else ""
        cases[f"{row.player.name} does not break"] = words
    failed = sum(map(bool, cases.values()))
    numbers = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="0"'
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n', f"<testsuites {numbers}>\n"]
    parts.append(f'<testsuite name="{attribute(f"match: {title}")}" {numbers}>\n')
    for name, told in cases.items():
        failure = f'<failure type="FAILED" message="{attribute(told)}"/>' if told else ""
        parts.append(test_case(name, "match", failure))
    report_files.write(path, [*parts, "</testsuite>\n</testsuites>\n"])
