"""The first page: what broke, in which ways, and a row for each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.records import RunResult, Verdict
from harness.report.file_view import FileView, crash_of
from harness.report.html.file import card_addresses
from harness.report.html.page_names import link
from harness.report.html.parts import PageFrame, bar, page, times_in_words
from harness.report.html.templates import render
from harness.report.tally import total
from harness.text import count_rest, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.baseline import Comparison

_COMMAND = 1_000  # characters of a command line


def index_page(
    run: RunResult,
    views: Sequence[FileView],
    names: Sequence[str],
    comparison: Comparison | None = None,
) -> Iterator[str]:
    """Yield the first page; ``views`` and page ``names`` go with ``run.files``."""
    changes = _changes(comparison)
    bad = sum(map(_is_bad, views))
    kinds = [("all", "All", len(views)), ("f", "Failed", bad), ("p", "Passed", len(views) - bad)]
    if comparison:
        kinds.append(("c", "Changed", len(changes)))
    longest = max((view.tally.seconds for view in views), default=0.0)
    pairs = sorted(zip(views, names, strict=True), key=lambda pair: _badness(pair[0]))
    body = render(
        "report/html/index.html",
        run=run,
        counts=total(view.tally for view in views),
        comparison=comparison,
        failures=_failures(run, names),
        ways=_ways(views, names),
        told=f"{bad} of {len(views)} have failures" if bad else f"{len(views)}, all passed",
        kinds=kinds,
        files=[_row(*pair, changes, longest) for pair in pairs],
        command=_repeat(run, views),
    )
    has_boards = any(view.tally.failed and view.boards for view in views)
    frame = PageFrame(boards=has_boards, script=True)
    return page("Regression test summary", [body], frame)


def _failures(run: RunResult, names: Sequence[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Failures of the engine: files in which it failed alike together."""
    found: dict[object, tuple[str, list[tuple[str, str]]]] = {}
    for file, name in zip(run.files, names, strict=True):
        ways = {crash_of(one): one for one in reversed(file.failures)}
        for crash, one in ways.items():
            told = found.setdefault(crash, (one.message, []))
            told[1].append((link(name), file.case.path))
    return list(found.values())


def _ways(views: Sequence[FileView], names: Sequence[str]) -> str:
    if not any(view.tally.failed for view in views):
        return ""
    from harness.report.html.failure_ways import ways

    return ways(views, names)


# --- files -------------------------------------------------------------------------------------

_TIME = 40  # pixels of the longest time
_LISTED = 60  # failed tests of one file that are named
_NAME = 80  # characters of a test


def _is_bad(view: FileView) -> bool:
    counts = view.tally
    return bool(counts.failed or counts.not_run or counts.not_judged or view.file.failure)


def _badness(view: FileView) -> tuple[int, ...]:
    """Sort key: broken first, then the most failures; else the order of the run."""
    counts = view.tally
    broken, lost = view.file.failure is not None, counts.not_run + counts.not_judged
    return (-broken, -counts.failed, -lost, -counts.errors, -counts.unexpected_passes)


Changes = dict[str, list[int]]


def _changes(comparison: Comparison | None) -> Changes:
    """Return by path how many tests broke and were mended."""
    found: Changes = {}
    if comparison:
        for place, some in enumerate((comparison.broke, comparison.mended)):
            for one in some:
                found.setdefault(one.path, [0, 0])[place] += 1
    return found


def _row(view: FileView, name: str, changes: Changes, longest: float) -> dict[str, object]:
    """Return the row of a file; ``longest``: the time of the one that took longest, in seconds."""
    counts, path = view.tally, view.file.case.path
    folder, slash, base = path.rpartition("/")
    broke, mended = changes.get(path, (0, 0))
    failed = [one for one in view.remarkable if one.verdict is Verdict.FAILED]
    steps = [view.file.case.steps[one.step] for one in failed[:_LISTED]]
    addresses = card_addresses(view, name) if steps else {}
    return {
        "kind": "f" if _is_bad(view) else "p",
        "address": link(name),
        "folder": folder + slash,
        "name": base,
        "counts": counts,
        "is_broken": bool(view.file.failure),
        "badness": counts.failed * 1_000_000 + counts.not_run * 1_000 + counts.expected_fails,
        "bar": bar(counts),
        "broke": broke,
        "mended": mended,
        "width": f"{_TIME * counts.seconds / longest:.0f}" if longest else 0,
        "time": times_in_words(counts.seconds),
        "failed": [(addresses[one.line][0], one_line(one.text, _NAME)) for one in steps],
        "rest": count_rest(len(failed) - _LISTED),
    }


# --- at the end --------------------------------------------------------------------------------


def _repeat(run: RunResult, views: Sequence[FileView]) -> str:
    """Return the command line that runs again what failed, where it is not too long to be read."""
    failed = [view.file.case.path for view in views if _is_bad(view)]
    if not failed:
        return ""
    from harness.report.reporters import command_of

    command = command_of(run.repeat, failed)
    return command if len(command) <= _COMMAND else ""
