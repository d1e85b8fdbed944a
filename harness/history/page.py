"""A history as one page: it stands alone, runs no script and loads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.history import plots, text
from harness.history.records import Change, Flaky, RunKept, Slower, State, Trends
from harness.report.html.parts import box, facts, page
from harness.report.markup import escape
from harness.text import more

_CHANGES, _RUNS, _CARDS = 200, 100, 100  # the most that are listed


def history_page(found: Trends) -> Iterator[str]:
    """Yield the page about a history."""
    return page("History of test runs", _body(found), plots.STYLE)


def _body(found: Trends) -> Iterator[str]:
    yield "<h1>History of test runs</h1>"
    others = ", ".join(found.others)
    yield facts(
        (
            ("Command", found.program),
            ("Runs", text.headline(found)),
            ("Other programs in the file", others),
        )
    )
    broken = "".join(f"<li>{escape(text.broken(one))}</li>" for one in found.broken[:_CHANGES])
    if broken:
        more = _more(found.broken, _CHANGES)
        yield box(f"Broken now ({len(found.broken)})", f"<ul>{broken}</ul>{more}")
    yield "<h2>Runs</h2>"
    yield _wide(plots.verdicts(found.runs))
    yield _wide(plots.durations([run for run in found.runs if run.state is State.WHOLE]))
    yield from _flaky(found.flaky)
    yield from _slower(found)
    yield from _changes(found.changes)
    yield _runs(found.runs)
    yield (
        '<p class="dim">Flaky: with the same engine and test the verdict went back and forth, '
        "or a --rerun gave another one. Slower: the last 5 runs against up to 20 before, medians "
        "and quartiles, a one-sided rank test (Mann and Whitney); at most one in 20 of those that "
        "are listed is expected to be there by chance (Benjamini and Hochberg).</p>"
    )


def _wide(picture: str) -> str:
    return f'<div class="wide">{picture}</div>' if picture else ""


def _more(listed: Sequence[object], most: int) -> str:
    return more(len(listed) - most, '<p class="dim">And {} more: --json has all.</p>')


def _flaky(found: Sequence[Flaky]) -> Iterator[str]:
    cards = [
        _card("is-flaky", text.place(one.test.path, one.line, one.test.name), _of_flaky(one))
        for one in found[:_CARDS]
    ]
    if cards:
        yield f"<h2>Flaky ({len(found)})</h2>"
        yield from cards
        yield _more(found, _CARDS)


def _of_flaky(one: Flaky) -> str:
    low, high = one.interval
    told = f"Failed in {one.failed} of {len(one.seen)} runs, 95 % interval {low:.0%} to {high:.0%}"
    rerun = "; a --rerun gave other verdicts" if one.rerun else ""
    return f"<p>{told}{rerun}.</p>{_wide(plots.course(one))}"


def _slower(found: Trends) -> Iterator[str]:
    slower = [*([found.whole] if found.whole else []), *found.slower]
    if slower or not found.compared:
        yield f"<h2>Slower ({len(slower)})</h2>"
        yield from map(_of_slower, slower[:_CARDS])
        yield _more(slower, _CARDS)
    if not found.compared:
        yield f'<p class="dim">{escape(text.NOT_COMPARED)}</p>'


def _of_slower(one: Slower) -> str:
    where = text.place(one.test.path, one.line, one.test.name)
    told = text.slower(one).removeprefix(f"{where}: ")
    return _card("is-FAILED", where, f"<p>{escape(told)}</p>{_wide(plots.times(one))}")


def _card(kind: str, title: str, body: str) -> str:
    return f'<section class="card {kind}"><h3><code>{escape(title)}</code></h3>{body}</section>\n'


def _changes(found: tuple[Change, ...]) -> Iterator[str]:
    if found:
        rows = "".join(_change(one) for one in found[:_CHANGES])
        yield f"<h2>What changed ({len(found)})</h2>"
        yield (
            "<table><thead><tr><th>Run</th><th>Test</th><th>Verdict</th><th>What else changed</th>"
            f"</tr></thead><tbody>{rows}</tbody></table>\n"
        )
    yield _more(found, _CHANGES)


def _change(one: Change) -> str:
    verdicts = f"{one.before.result.verdict} → {one.now.result.verdict}"
    where = text.place(one.test.path, one.now.result.line, one.test.name)
    return (
        f'<tr><td data-l="Run">{one.now.run.number}</td><td><code>{escape(where)}</code></td>'
        f'<td class="v {one.now.result.verdict.replace(" ", "")}">{escape(verdicts)}</td>'
        f"<td>{escape(one.cause)}</td></tr>\n"
    )


def _runs(runs: tuple[RunKept, ...]) -> str:
    rows = "".join(_run(run) for run in reversed(runs[-_RUNS:]))
    return (
        "<h2>All runs, the last first</h2><table><thead><tr><th>Run</th><th>Started</th>"
        "<th>Engine</th><th>Verdicts and time</th><th>Where</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>\n"
    )


def _run(run: RunKept) -> str:
    state = "" if run.state is State.WHOLE else f' <span class="v notrun">{run.state.value}</span>'
    return (
        f'<tr><td data-l="Run">{run.number}</td><td>{escape(run.started)}{state}</td>'
        f"<td>{escape(text.engine_of(run))}</td><td>{escape(text.counts_text(run))}</td>"
        f"<td>{escape(run.circumstances)}</td></tr>\n"
    )
