"""Pieces that all pages share. Every function takes plain text and returns markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.records import FileResult, RunResult, Verdict
from harness.report.gogui import at_most_one_decimal
from harness.report.html.names import link, part_name
from harness.report.html.style import STYLE
from harness.report.markup import escape
from harness.report.tally import Tally, phrases
from harness.report.view import WORDS

# Not even a mistake in escaping may run a script or load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

# Tally's fields as gogui names its columns, then those that only exist here.
COLUMNS = (
    ("Tests", "tests", ""),
    ("FAIL", "failed", "FAILED"),
    ("fail", "expected_fails", "failed"),
    ("PASS", "unexpected_passes", "PASSED"),
    ("pass", "passed", "passed"),
    ("Error", "errors", "errors"),
    ("not run", "not_run", "notrun"),
    ("flaky", "flaky", "flaky"),
)


def page(title: str, body: Iterable[str], style: str = "") -> Iterator[str]:
    """Yield a whole page, in the parts of its ``body``; ``style`` is added to the style sheet."""
    yield (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n<body>\n"
    )
    yield from body
    yield "\n<footer>gtp-harness</footer>\n</body></html>\n"


def part_links(name: str, part: int, count: int) -> str:
    """Return links to the other parts of a page that is cut into so many."""
    if count == 1:
        return ""
    links = "".join(
        f"<b>{one}</b>" if one == part else f'<a href="{link(part_name(name, one))}">{one}</a>'
        for one in range(1, count + 1)
    )
    return f"<nav>Part {links}</nav>"


def badge(verdict: Verdict, flaky: bool = False) -> str:
    """Return a verdict as sign and word."""
    sign, word = WORDS[verdict]
    drawn = f'<span class="v {as_class(word)}">{sign} {word}</span>'
    return drawn + ' <span class="v flaky">~ flaky</span>' if flaky else drawn


def as_class(word: str) -> str:
    """Return a verdict's word as the name of a class, which has no blanks."""
    return word.replace(" ", "")


def in_words(counts: Tally) -> str:
    """Return the counts that are not zero as a list, the worst first."""
    drawn = "".join(
        f'<li class="{as_class(kind)}">{sign} {words}</li>'
        for kind, sign, words in phrases(counts)
    )
    return f'<ul class="sum">{drawn}</ul>'


def count_cells(counts: Tally) -> str:
    """Return the table cells of a tally; a zero has the class ``z`` and hides on a phone."""
    cells = []
    for label, field, kind in COLUMNS:
        value = getattr(counts, field)
        kinds = kind if value else "z"
        cells.append(f'<td data-l="{label}" class="{kinds}">{value}</td>')
    for label, seconds in (("Time", counts.seconds), ("CpuTime", counts.cpu_seconds)):
        cells.append(f'<td data-l="{label}">{at_most_one_decimal(seconds)}</td>')
    return "".join(cells)


def count_header() -> str:
    """Return the header cells that belong to :func:`count_cells`."""
    labels = [label for label, _, _ in COLUMNS] + ["Time", "CpuTime"]
    return "".join(f"<th>{label}</th>" for label in labels)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of terms and what they are; empty ones are left out."""
    rows = "".join(f"<dt>{term}</dt><dd>{escape(text)}</dd>" for term, text in pairs if text)
    return f"<dl>{rows}</dl>"


def run_facts(run: RunResult, file: FileResult | None) -> str:
    """Return what was run, when and where; name and version as the engine of a file gave them."""
    name = " ".join((file.name, file.version)).strip() if file else ""
    return facts(
        (
            ("Engine", name),
            ("Command", run.program),
            ("Started", run.started),
            ("Host", run.host),
        )
    )


def box(title: str, body: str, kind: str = "") -> str:
    """Return a framed notice; ``body`` is markup."""
    return f'<section class="box {kind}"><h3>{escape(title)}</h3>{body}</section>\n'


def items(texts: Iterable[str]) -> str:
    """Return plain texts as a list."""
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"
