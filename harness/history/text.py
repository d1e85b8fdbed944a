"""A history as text for a terminal, and as JSON: ``gtp-harness/history``, version 1.

Members: ``schema``, ``version`` (of this document), ``path``, ``format`` (the version of the
SQLite file), ``program``, ``others`` (programs that are not looked at), ``runs``, ``broken``,
``changes``, ``flaky``, ``slower``, ``whole`` (like a member of ``slower``, or null) and
``compared``, the number of tests whose times could be compared. A test is ``path``, ``id`` (-1:
none), ``command``, ``alike`` (how many such come before it in its file) and ``line``. Times are
seconds; a spread has the quartiles ``low`` and ``high``, the ``median`` and the ``size``, how many
times it is made of. What was ``seen`` of a flaky test are pairs of run and verdict, ``before`` and
``now`` of a slower one pairs of run and seconds.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from harness.core.text import at_most, number_of, one_line
from harness.history import records
from harness.report.paint import Paint

_RUNS, _MOST, _SEEN = 10, 20, 40  # the most that are listed
_COMMAND = 80  # characters
_STATES = {
    records.RunState.WHOLE: "",
    records.RunState.INTERRUPTED: "interrupted",
    records.RunState.BEGUN: "not ended, or ended without a word",
}


def lines(trends: records.Trends, paint: Paint, *, unicode: bool = True) -> Iterator[str]:
    """Yield the lines about a history."""
    yield headline(trends)
    if trends.others:
        listed = ", ".join(one_line(other, _COMMAND) for other in trends.others)
        yield f"other programs in it (--program shows one): {listed}"
    signs = "✓✗" if unicode else ".F"
    slow = [*([trends.whole] if trends.whole else []), *trends.slower]
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("Runs", _runs(trends.runs)),
        ("Broken now", (f"{_place_of(one)}: {since(one)}" for one in trends.broken)),
        ("Flaky", (_flaky_line(one, signs) for one in trends.flaky)),
        ("Slower", map(slower, slow)),
        (
            "What changed, the latest first",
            (
                f"{_place_of(one)}: {verdicts(one)} in {run_of(one.now)}; {one.cause}"
                for one in trends.changes
            ),
        ),
    )
    for title, some in sections:
        if shown := at_most(some, _MOST, "and {} more (--json has all)"):
            yield ""
            yield paint("bold", title)
            yield from (f"  {line}" for line in shown)
    if not trends.compared:
        yield ""
        yield NOT_COMPARED


NOT_COMPARED = (
    "No times were compared: that takes 10 runs on one host with the same options and tests."
)


def headline(trends: records.Trends) -> str:
    """Return what was looked at, in one sentence."""
    cut = sum(run.state is not records.RunState.WHOLE for run in trends.runs)
    dates = f" from {trends.runs[0].started} to {trends.runs[-1].started}" if trends.runs else ""
    return (
        f"{trends.path} (format version {records.FORMAT}): "
        f"{number_of(len(trends.runs), 'run')} of {one_line(trends.program, _COMMAND)}{dates}"
        + (f", {cut} not whole" if cut else "")
    )


def _runs(runs: Sequence[records.RunKept]) -> Iterator[str]:
    if len(runs) > _RUNS:
        yield f"the last {_RUNS} of {len(runs)}"
    for run in runs[-_RUNS:]:
        parts = [f"{run.number:>4}  {run.started}  {engine_of(run)}  {counts_text(run)}"]
        if run.state is not records.RunState.WHOLE:
            parts.append(_STATES[run.state])
        yield ", ".join(parts)


def counts(run: records.RunKept) -> dict[str, int]:
    """Return how often each verdict came, the worst first."""
    order = ("FAILED", "not run", "not judged", "PASSED", "failed", "passed")
    verdicts = [result.verdict for file in run.files for result in file.results]
    return {verdict: verdicts.count(verdict) for verdict in order if verdict in verdicts}


def counts_text(run: records.RunKept) -> str:
    """Return the counts of a run in words."""
    return f"{in_words(counts(run))} in {seconds(sum(file.seconds for file in run.files))}"


def in_words(counts: dict[str, int]) -> str:
    """Return how often each verdict came."""
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no tests"


def engine_of(run: records.RunKept) -> str:
    """Return the names and versions that the engines of a run gave."""
    return one_line(" and ".join(dict.fromkeys(file.engine for file in run.files if file.engine)))


def _place(test: records.TestIdentity, line: int) -> str:
    """Return where a test stands, and what it asks."""
    if not test.path:
        return test.name
    return f"{one_line(test.path)}:{line}  {one_line(test.name, _COMMAND)}"


def _place_of(one: records.VerdictChange) -> str:
    return _place(one.test, one.now.result.line)


def since(one: records.VerdictChange) -> str:
    """Return since when a test fails."""
    return f"FAILED since {run_of(one.now)}, passed in {run_of(one.before)}; {one.cause}"


def verdicts(one: records.VerdictChange) -> str:
    """Return from what to what a verdict changed."""
    return f"{one.before.result.verdict} → {one.now.result.verdict}"


def run_of(entry: records.TestInRun) -> str:
    """Return the number and the day of a run."""
    return f"run {entry.run.number} ({entry.run.started[:10]})"


def _flaky_line(one: records.Flaky, signs: str) -> str:
    """Return which test is flaky and how, and a sign for each run, the last on the right."""
    row = "".join(signs[not seen.passed] for seen in one.seen[-_SEEN:])
    return f"{_place(one.test, one.line)}: {flakiness(one)}  {row}"


def flakiness(one: records.Flaky) -> str:
    """Return how often a flaky test failed, with the 95 % interval of the share."""
    low, high = one.interval
    told = f"failed in {one.failed} of {len(one.seen)} runs ({low:.0%} to {high:.0%})"
    return f"{told}{'; --rerun gave other verdicts' if one.rerun else ''}"


def slower(one: records.Slower) -> str:
    """Return which test got slower, and how."""
    return f"{_place(one.test, one.line)}: {describe_slowdown(one)}"


def describe_slowdown(one: records.Slower) -> str:
    """Return how much slower a test got, with the spread of its times."""
    if one.test.path:
        before, now = (
            f"{seconds(each.median)} ({seconds(each.low)} to {seconds(each.high)})"
            for each in (one.spread_before, one.spread_now)
        )
        return f"{before} → {now}, {factor(one)}"
    low, middle, high = (f"{value:.2f}" for value in one.spread_now[:3])
    times = f"{middle} times as long as usual ({low} to {high}); it may be the machine"
    return f"{times}; p = {one.chance:.2g}"


def factor(one: records.Slower) -> str:
    """Return how many times as long a test takes, and how likely that is by chance."""
    return f"{one.ratio:.2f} times; p = {one.chance:.2g}"


def seconds(value: float) -> str:
    """Return a time with at most three digits, or in whole seconds from 100 s on.

    >>> [seconds(value) for value in (0.01234, 0.9996, 1234.5)]
    ['12.3 ms', '1 s', '1234 s']
    """
    if value >= 100:
        return f"{value:.0f} s"
    # What is rounded to 1000 ms is written as 1 s.
    return f"{value:.3g} s" if value >= 0.9995 else f"{value * 1000:.3g} ms"


# --- JSON ----------------------------------------------------------------------------------------

SCHEMA, VERSION = "gtp-harness/history", 1


def document(trends: records.Trends) -> str:
    members = {
        "schema": SCHEMA,
        "version": VERSION,
        "path": trends.path,
        "format": records.FORMAT,
        "program": trends.program,
        "others": trends.others,
        "runs": [_run(run) for run in trends.runs],
        "broken": [*map(_change, trends.broken)],
        "changes": [*map(_change, trends.changes)],
        "flaky": [*map(_flaky, trends.flaky)],
        "slower": [*map(_slower, trends.slower)],
        "whole": _slower(trends.whole) if trends.whole else None,
        "compared": trends.compared,
    }
    return json.dumps(members, ensure_ascii=False, indent=1) + "\n"


def _run(run: records.RunKept) -> dict[str, Any]:
    files = []
    for file in run.files:
        *known, seconds, cpu, results = file._asdict().items()
        rounded = {name: round(value, 6) for name, value in (seconds, cpu)}
        files.append({**dict(known), **rounded, "tests": len(results[1])})
    kept = run._asdict()
    del kept["files"]
    return kept | {"state": run.state.value, "counts": counts(run), "files": files}


def _test(test: records.TestIdentity, line: int) -> dict[str, Any]:
    return test._asdict() | {"line": line}


def _as_json(entry: records.TestInRun) -> dict[str, Any]:
    return {
        "run": entry.run.number,
        "started": entry.run.started,
        "engine": entry.engine,
        "verdict": entry.result.verdict,
    }


def _change(one: records.VerdictChange) -> dict[str, Any]:
    told = {"before": _as_json(one.before), "now": _as_json(one.now), "cause": one.cause}
    return _test(one.test, one.now.result.line) | told


def _flaky(one: records.Flaky) -> dict[str, Any]:
    return _test(one.test, one.line) | {
        "failed": one.failed,
        "changes": one.changes,
        "interval": [round(end, 4) for end in one.interval],
        "rerun": one.rerun,
        "seen": [[seen.run.number, seen.result.verdict] for seen in one.seen],
    }


def _slower(one: records.Slower) -> dict[str, Any]:
    return _test(one.test, one.line) | {
        "before": one.before,
        "now": one.now,
        "spread_before": one.spread_before._asdict(),
        "spread_now": one.spread_now._asdict(),
        "ratio": round(one.ratio, 4),
        "chance": one.chance,
    }
