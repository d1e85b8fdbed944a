"""The first page: the run as a whole and a row for each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.records import RunResult
from harness.report.html.names import link
from harness.report.html.parts import (
    box,
    count_cells,
    count_header,
    in_words,
    items,
    page,
    run_facts,
)
from harness.report.markup import escape
from harness.report.tally import Tally, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.records import Diagnosis
    from harness.report.baseline import Comparison


def index_page(
    run: RunResult,
    tallies: Sequence[Tally],
    names: Sequence[str],
    comparison: Comparison | None = None,
) -> Iterator[str]:
    """Yield the first page; ``tallies`` and page ``names`` go with ``run.files``."""
    body = [
        "<h1>Regression test summary</h1>",
        in_words(total(tallies)),
        run_facts(run, run.files[0] if run.files else None),
        _faults(run.faults),
        _box("What is wrong with case files", run.errors),
        _box("Interrupted: not run, or not to the end", run.unfinished),
        _failures(run, names),
        _diagnoses(run.diagnoses),
        _comparison(comparison),
        _table(run, tallies, names),
        '<p class="dim">Columns as gogui-regress has them: FAIL and PASS are unexpected, '
        "Error counts commands between the tests that the engine refused.</p>",
    ]
    return page("Regression test summary", body)


def _box(title: str, texts: Sequence[str]) -> str:
    return box(title, items(texts)) if texts else ""


def _faults(faults: Sequence[str]) -> str:
    title = "The harness itself failed; the engine is not to blame"
    return box(title, "".join(f"<pre>{escape(fault)}</pre>" for fault in faults)) if faults else ""


def _failures(run: RunResult, names: Sequence[str]) -> str:
    broken = [(file, name) for file, name in zip(run.files, names, strict=True) if file.failure]
    if not broken:
        return ""
    rows = "".join(
        f'<li><a href="{link(name)}">{escape(file.case.path)}</a>: {escape(one.message)}</li>'
        for file, name in broken
        for one in file.failures
    )
    return box("The engine broke", f"<ul>{rows}</ul>")


def _diagnoses(found: Sequence[Diagnosis]) -> str:
    """What explains the failures: the engine *answers as if* ..."""
    return box("What explains the failures", items(map(str, found)), "warn") if found else ""


def _comparison(comparison: Comparison | None) -> str:
    """How the run differs from the one it is compared with."""
    if comparison is None:
        return ""
    sections = "".join(
        f"<h4>{escape(heading)}</h4>{items(lines)}" for heading, lines in comparison.sections()
    )
    kind = "" if comparison.exit_code else "warn"
    title = f"Compared with the run of {comparison.started}"
    return box(title, sections or "<p>The same results.</p>", kind)


def _table(run: RunResult, tallies: Sequence[Tally], names: Sequence[str]) -> str:
    rows = "".join(
        f'<tr><td><a href="{link(name)}">{escape(file.case.path)}</a></td>'
        f"{count_cells(counts)}</tr>\n"
        for file, counts, name in zip(run.files, tallies, names, strict=True)
    )
    return (
        f'<table class="n"><thead><tr><th>File</th>{count_header()}</tr></thead>\n'
        f"<tbody>{rows}</tbody><tfoot><tr><td>Total</td>{count_cells(total(tallies))}</tr></tfoot>"
        "</table>"
    )
