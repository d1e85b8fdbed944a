"""A history as one page: it stands alone, runs no script and loads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.history import plots, text
from harness.history.records import Change, Flaky, RunKept, Slower, State, Trends
from harness.report.html.parts import Frame, box, facts, page
from harness.report.markup import NOTHING, Markup, joined
from harness.text import more

_CHANGES, _RUNS, _CARDS = 200, 100, 100  # the most that are listed


def history_page(found: Trends) -> Iterator[Markup]:
    """Yield the page about a history."""
    return page("History of test runs", _body(found), Frame(style=plots.STYLE))


def _body(found: Trends) -> Iterator[Markup]:
    yield Markup("<h1>History of test runs</h1>")
    others = ", ".join(found.others)
    yield facts(
        (
            ("Command", found.program),
            ("Runs", text.headline(found)),
            ("Other programs in the file", others),
        )
    )
    broken = joined(Markup("<li>%s</li>") % text.broken(one) for one in found.broken[:_CHANGES])
    if broken:
        more = _more(found.broken, _CHANGES)
        yield box(f"Broken now ({len(found.broken)})", Markup("<ul>%s</ul>%s") % (broken, more))
    yield Markup("<h2>Runs</h2>")
    yield _wide(plots.verdicts(found.runs))
    yield _wide(plots.durations([run for run in found.runs if run.state is State.WHOLE]))
    yield from _flaky(found.flaky)
    yield from _slower(found)
    yield from _changes(found.changes)
    yield _runs(found.runs)
    yield Markup(
        '<p class="sub">Flaky: with the same engine and test the verdict went back and forth, '
        "or a --rerun gave another one. Slower: the last 5 runs against up to 20 before, medians "
        "and quartiles, a one-sided rank test (Mann and Whitney); at most one in 20 of those that "
        "are listed is expected to be there by chance (Benjamini and Hochberg).</p>"
    )


def _wide(picture: Markup) -> Markup:
    return Markup('<div class="wide" tabindex="0">%s</div>') % picture if picture else NOTHING


def _more(listed: Sequence[object], most: int) -> Markup:
    told = more(len(listed) - most, "And {} more: --json has all.")
    return Markup('<p class="sub">%s</p>') % told if told else NOTHING


def _flaky(found: Sequence[Flaky]) -> Iterator[Markup]:
    cards = [
        _card("is-flaky", text.place(one.test.path, one.line, one.test.name), _of_flaky(one))
        for one in found[:_CARDS]
    ]
    if cards:
        yield Markup("<h2>Flaky (%s)</h2>") % len(found)
        yield from cards
        yield _more(found, _CARDS)


def _of_flaky(one: Flaky) -> Markup:
    low, high = one.interval
    told = f"Failed in {one.failed} of {len(one.seen)} runs, 95 % interval {low:.0%} to {high:.0%}"
    rerun = "; a --rerun gave other verdicts" if one.rerun else NOTHING
    return Markup("<p>%s%s.</p>%s") % (told, rerun, _wide(plots.course(one)))


def _slower(found: Trends) -> Iterator[Markup]:
    slower = [*([found.whole] if found.whole else []), *found.slower]
    if slower or not found.compared:
        yield Markup("<h2>Slower (%s)</h2>") % len(slower)
        yield from map(_of_slower, slower[:_CARDS])
        yield _more(slower, _CARDS)
    if not found.compared:
        yield Markup('<p class="sub">%s</p>') % text.NOT_COMPARED


def _of_slower(one: Slower) -> Markup:
    where = text.place(one.test.path, one.line, one.test.name)
    told = text.slower(one).removeprefix(f"{where}: ")
    return _card("is-FAILED", where, Markup("<p>%s</p>%s") % (told, _wide(plots.times(one))))


def _card(kind: str, title: str, body: str) -> Markup:
    return Markup('<section class="card pad %s"><h3><code>%s</code></h3>%s</section>\n') % (
        kind,
        title,
        body,
    )


def _changes(found: tuple[Change, ...]) -> Iterator[Markup]:
    if found:
        rows = joined(_change(one) for one in found[:_CHANGES])
        yield Markup("<h2>What changed (%s)</h2>") % len(found)
        yield (
            Markup(
                "<table><thead><tr><th>Run</th><th>Test</th><th>Verdict</th><th>"
                "What else changed</th></tr></thead><tbody>%s</tbody></table>\n"
            )
            % rows
        )
    yield _more(found, _CHANGES)


def _change(one: Change) -> Markup:
    verdicts = f"{one.before.result.verdict} → {one.now.result.verdict}"
    where = text.place(one.test.path, one.now.result.line, one.test.name)
    return Markup(
        '<tr><td data-l="Run">%s</td><td><code>%s</code></td><td class="v %s">%s</td>'
        "<td>%s</td></tr>\n"
    ) % (one.now.run.number, where, one.now.result.verdict.replace(" ", ""), verdicts, one.cause)


def _runs(runs: tuple[RunKept, ...]) -> Markup:
    rows = joined(_run(run) for run in reversed(runs[-_RUNS:]))
    return (
        Markup(
            "<h2>All runs, the last first</h2><table><thead><tr><th>Run</th><th>"
            "Started</th><th>Engine</th><th>Verdicts and time</th><th>Where</th></tr>"
            "</thead><tbody>%s</tbody></table>\n"
        )
        % rows
    )


def _run(run: RunKept) -> Markup:
    state = (
        ""
        if run.state is State.WHOLE
        else Markup(' <span class="v notrun">%s</span>') % run.state.value
    )
    return Markup(
        '<tr><td data-l="Run">%s</td><td>%s%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n'
    ) % (
        run.number,
        run.started,
        state,
        text.engine_of(run),
        text.counts_text(run),
        run.circumstances,
    )
