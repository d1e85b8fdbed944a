"""The formats of a match's reports: a row for each, and a module that writes it."""

from __future__ import annotations

from harness.report.reporters import Reporter

# In the order in which they are written; see :data:`harness.report.reporters.REPORTERS`. Each
# module has ``report(path, standings)``.
REPORTERS = (
    Reporter(
        "output",
        "DIR",
        "write pages: the crosstable, plots, and each game on a board",
        "harness.match.pages",
    ),
    Reporter(
        "sgf",
        "DIR",
        "write each game as SGF; a game that is declared as GTP commands",
        "harness.match.game_records",
    ),
    Reporter(
        "json",
        "FILE",
        "write all results as JSON (-: to standard output)",
        "harness.match.document",
    ),
    Reporter(
        "junit",
        "FILE",
        "write JUnit XML: for each engine whether it is weaker than --baseline, or broke"
        " (-: to standard output)",
        "harness.match.junit",
    ),
)
