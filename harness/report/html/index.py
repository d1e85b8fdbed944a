"""The first page: what broke, in which ways, and a row for each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.records import Diagnosis, RunResult, Verdict
from harness.report.file_view import FileView, crash_of
from harness.report.html.file import card_addresses
from harness.report.html.page_names import link
from harness.report.html.parts import (
    PageFrame,
    bar,
    box,
    command_line,
    filter_tools,
    headline,
    items,
    page,
    run_facts,
    sortable_heads,
    times_in_words,
)
from harness.report.markup import NOTHING, Markup, join_markup
from harness.report.tally import Tally, total
from harness.text import count_rest, one_line, show_utc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.baseline import Comparison

_UNFOLDED = 10  # changes of one kind
_COMMAND = 1_000  # characters of a command line


def index_page(
    run: RunResult,
    views: Sequence[FileView],
    names: Sequence[str],
    comparison: Comparison | None = None,
) -> Iterator[Markup]:
    """Yield the first page; ``views`` and page ``names`` go with ``run.files``."""
    counts = total(view.tally for view in views)
    body = [
        _hero(run, counts, comparison),
        _faults(run.faults),
        _box("Errors in case files", run.errors),
        _box("Interrupted: not run, or not to the end", run.unfinished),
        _failures(run, names),
        _box("What explains the failures", [*map(_diagnosis, run.diagnoses)], "odd"),
        _ways(views, names),
        _comparison(comparison),
        _table(run, views, names, comparison),
        _repeat(run, views),
    ]
    has_boards = any(view.tally.failed and view.boards for view in views)
    frame = PageFrame(boards=has_boards, script=True)
    return page("Regression test summary", body, frame)


_HERO = Markup(
    '<div class="hero"><div><h1>Regression test summary</h1>%s</div><div>%s%s</div></div>'
)
_SINCE = Markup('<p class="sub since">%s since the run of %s</p>')


def _hero(run: RunResult, counts: Tally, comparison: Comparison | None) -> Markup:
    known = run_facts(run, run.files[0] if run.files else None)
    since = NOTHING
    if comparison:
        changed = _pills(len(comparison.broke), len(comparison.mended))
        since = _SINCE % (changed or "as before", show_utc(comparison.started))
    return _HERO % (known, headline(counts), since)


def _box(title: str, texts: Sequence[str], kind: str = "") -> Markup:
    return box(title, items(texts), kind) if texts else NOTHING


def _faults(faults: Sequence[str]) -> Markup:
    title = "The harness itself failed; the engine is not to blame"
    told = join_markup(Markup('<pre tabindex="0">%s</pre>') % fault for fault in faults)
    return box(title, told) if faults else NOTHING


def _failures(run: RunResult, names: Sequence[str]) -> Markup:
    """How the engine failed: files in which it did so in the same way together."""
    found: dict[object, tuple[str, list[Markup]]] = {}
    for file, name in zip(run.files, names, strict=True):
        linked = Markup('<a href="%s">%s</a>') % (link(name), file.case.path)
        ways = {crash_of(one): one for one in reversed(file.failures)}
        for crash, one in ways.items():
            found.setdefault(crash, (one.message, []))[1].append(linked)
    if not found:
        return NOTHING
    return box("Engine failures", items(_broke(*told) for told in found.values()))


def _broke(message: str, files: Sequence[Markup]) -> Markup:
    together = f"In {len(files)} files, with the same last words: " if len(files) > 1 else ""
    return Markup("%s%s: %s") % (together, Markup(", ").join(files), message)


def _ways(views: Sequence[FileView], names: Sequence[str]) -> Markup:
    if not any(view.tally.failed for view in views):
        return NOTHING
    from harness.report.html.failure_ways import ways

    return ways(views, names)


def _diagnosis(diagnosis: Diagnosis) -> str | Markup:
    """What explains the failures: the engine *answers as if* ..."""
    first, *others = diagnosis.lines
    return Markup("%s%s") % (first, items(others)) if others else first


_COMPARISON = Markup('<section class="box %s"><h2>Compared with the run of %s</h2>%s</section>\n')
_SECTION = Markup("<details%s><summary>%s</summary>%s</details>")


def _comparison(comparison: Comparison | None) -> Markup:
    """How the run differs from the one it is compared with; long lists are folded."""
    if comparison is None:
        return NOTHING
    sections = join_markup(
        _SECTION % (Markup(" open") if len(lines) <= _UNFOLDED else NOTHING, heading, items(lines))
        for heading, lines in comparison.sections()
    )
    kind = "" if comparison.exit_code else "calm"
    same = Markup("<p>No differences.</p>")
    return _COMPARISON % (kind, show_utc(comparison.started), sections or same)


# --- files -------------------------------------------------------------------------------------

_TABLE = Markup(
    '<section aria-label="Files"><div class="sec-h"><h2>Files</h2><p class="sub">%s</p></div>'
    '%s<div class="card ft"><table><thead><tr>%s</tr></thead>\n<tbody>%s</tbody></table></div>'
    "</section>\n"
)
_TIME = 40  # pixels of the longest time
_ROW = Markup(
    '<tr data-v="%s"><td data-k="%s"><a class="fn" href="%s"><span class="dot %s"></span>'
    '<span>%s<b>%s</b></span></a></td><td data-k="%s"><div class="tb2">%s%s</div></td>'
    '%s<td class="num" data-k="%s"><i class="tl" style="width:%spx">'
    "</i>%s</td></tr>\n"
)
_CHANGED = Markup('<td data-k="%s">%s</td>')


def _table(
    run: RunResult,
    views: Sequence[FileView],
    names: Sequence[str],
    comparison: Comparison | None,
) -> Markup:
    changes = _changes(comparison)
    order = sorted(range(len(views)), key=lambda place: _badness(views[place]))
    longest = max((view.tally.seconds for view in views), default=0.0)
    rows = join_markup(
        _row(views[place], names[place], rank, changes, longest)
        for rank, place in enumerate(order)
    )
    bad = sum(_is_bad(view) for view in views)
    told = f"{bad} of {len(views)} have failures" if bad else f"{len(views)}, all passed"
    count = len(views)
    kinds = [("all", "All", count), ("f", "Failed", bad), ("p", "Passed", count - bad)]
    if changes is not None:
        kinds.append(("c", "Changed", len(changes)))
    tools = filter_tools("Filter files and failed tests", count, kinds)
    since = "Since the baseline; " if comparison else ""
    return _TABLE % (told, tools, sortable_heads(f"File; Tests; {since}#Time"), rows)


def _is_bad(view: FileView) -> bool:
    counts = view.tally
    return bool(counts.failed or counts.not_run or counts.not_judged or view.file.failure)


def _badness(view: FileView) -> tuple[int, ...]:
    """What is broken first, then the most failures; else the order of the run stays."""
    counts = view.tally
    broken, lost = view.file.failure is not None, counts.not_run + counts.not_judged
    return (-broken, -counts.failed, -lost, -counts.errors, -counts.unexpected_passes)


Changes = dict[str, tuple[int, int]]


def _changes(comparison: Comparison | None) -> Changes | None:
    """Return by path how many tests broke and were mended; None if nothing is compared."""
    if comparison is None:
        return None
    found: Changes = {}
    for place, some in ((0, comparison.broke), (1, comparison.mended)):
        for one in some:
            counts = list(found.get(one.path, (0, 0)))
            counts[place] += 1
            found[one.path] = (counts[0], counts[1])
    return found


def _row(view: FileView, name: str, rank: int, changes: Changes | None, longest: float) -> Markup:
    """Return the row of a file; ``longest``: the time of the one that took longest, in seconds."""
    counts, path = view.tally, view.file.case.path
    folder, slash, base = path.rpartition("/")
    kind = "f" if _is_bad(view) else "p"
    changed = changes.get(path, (0, 0)) if changes is not None else (0, 0)
    verdicts = f"{kind} c" if any(changed) else kind
    broke, mended = changed
    told = _pills(broke, mended) or Markup('<span class="sub">as before</span>')
    return _ROW % (
        verdicts,
        rank,
        link(name),
        kind,
        folder + slash,
        base,
        counts.failed * 1_000_000 + counts.not_run * 1_000 + counts.expected_fails,
        bar(counts),
        _file_counts(view, name),
        NOTHING if changes is None else _CHANGED % (broke * 1000 + mended, told),
        f"{counts.seconds:.6f}",
        f"{_TIME * counts.seconds / longest:.0f}" if longest else 0,
        times_in_words(counts.seconds),
    )


_FAILED = Markup(
    '<details class="fl"><summary class="sub">%s</summary><ul class="sub">%s</ul></details>'
)
_LISTED = 60  # failed tests of one file that are named
_NAME = 80  # characters of a test


def _file_counts(view: FileView, name: str) -> Markup:
    """Return the counts of a file, and folded the tests that failed, which a filter finds too."""
    if not view.tally.failed:
        return Markup('<span class="sub">%s</span>') % _words(view)
    addresses = card_addresses(view, name)
    failed = [one for one in view.remarkable if one.verdict is Verdict.FAILED]
    steps = [view.file.case.steps[one.step] for one in failed[:_LISTED]]
    named = join_markup(
        Markup('<li><a href="%s">%s</a></li>')
        % (addresses[step.line][0], one_line(step.text, _NAME))
        for step in steps
    )
    rest = count_rest(len(failed) - _LISTED)
    return _FAILED % (_words(view), named + (Markup("<li>%s</li>") % rest if rest else NOTHING))


def _words(view: FileView) -> Markup:
    counts = view.tally
    told = []
    if view.file.failure:
        told.append(Markup('<b class="fc">broke</b>'))
    if counts.failed:
        told.append(Markup('<b class="fc">%s</b> of %s failed') % (counts.failed, counts.tests))
    others = (
        (counts.not_run, "not run"),
        (counts.not_judged, "not judged"),
        (counts.errors, "refused"),
        (counts.unexpected_passes, "PASSED unexpectedly"),
        (counts.expected_fails, "failed as expected"),
        (counts.flaky, "flaky"),
        (0 if counts.failed else counts.passed, "passed"),
    )
    told += [Markup("%s %s") % pair for pair in others if pair[0]]
    return Markup(", ").join(told) or Markup("no tests")


def _pills(broke: int, mended: int) -> Markup:
    kinds = (("f", broke, "broke"), ("p", mended, "mended"))
    shown = [Markup('<span class="pill %s">%s %s</span>') % one for one in kinds if one[1]]
    return Markup(" ").join(shown)


# --- at the end --------------------------------------------------------------------------------


def _repeat(run: RunResult, views: Sequence[FileView]) -> Markup:
    """Return the command line that runs again what failed, where it is not too long to be read."""
    failed = [view.file.case.path for view in views if _is_bad(view)]
    if not failed:
        return NOTHING
    from harness.report.reporters import command_of

    command = command_of(run.repeat, failed)
    if not command or len(command) > _COMMAND:
        return NOTHING
    return Markup('<section aria-label="Repeat"><h2>Repeat what failed</h2>%s</section>\n') % (
        command_line(command)
    )
