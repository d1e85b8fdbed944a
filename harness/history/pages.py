"""A history as pages: ``index.html``, and for each case file its tests × runs.

The first page has what broke when, the flaky, the slower, the files and the runs. A page about a
file has a card for each test with news, and a row for each test: with a cell for each streak of a
verdict, not for each run. 5,386 tests in 50 runs that all passed are as many cells, and a screen
reader says eight runs at once. What failed stands first; a page ends before it is too large, and
the next one continues.

As with the pages of a run, each stands alone and loads nothing, and a click can do no more than
filter, sort and move.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from types import SimpleNamespace
from typing import NamedTuple

from harness.core.records import Verdict
from harness.core.text import one_line
from harness.history import plots, text
from harness.history.records import RunKept, TestIdentity, Trends, VerdictChange, tally
from harness.history.trends import FileCourse, Streak, TestCourse, choose_shown_runs, file_courses
from harness.report import report_files
from harness.report.html.page_names import MATRIX, link, page_names, part_name, style
from harness.report.html.parts import NOTHING, PageFrame, dot, page, part_links
from harness.report.html.templates import Markup, Template

_RUNS = 100  # the last ones that are listed
_CAUSES, _TESTS = 30, 100  # listed of what broke, for each cause
_FLAKY = 100
_LARGEST = 800_000  # characters of rows and cards in one page
_CHANGES = 60  # of one test that are listed
_COMMAND = 80  # characters

STYLE = plots.STYLE + MATRIX + style("history.css")  # of all pages of a history

_index, _file, _test = (Template(f"history/{name}.html") for name in ("index", "file", "test"))

Addresses = dict[TestIdentity, str]
Crumbs = Sequence[tuple[str, str]]  # names and addresses of the pages above, from the top


def write(folder: str, trends: Trends, home: Crumbs = ()) -> None:
    """Write all pages into an existing folder; ``home``: the pages above the first one.

    Raises:
        ReportError: a page cannot be written.
    """
    runs, courses = choose_shown_runs(trends), file_courses(trends)
    names, addresses = page_names([file.path for file in courses]), Addresses()
    for file, name in zip(courses, names, strict=True):
        for part, content in file_pages(trends, runs, file, name, addresses, home=home):
            report_files.write(f"{folder}/{part}.html", content)
    first = _index_page(trends, courses, names, addresses, home)
    report_files.write(f"{folder}/index.html", first)


def _index_page(
    trends: Trends,
    files: Sequence[FileCourse],
    names: Sequence[str],
    addresses: Addresses,
    home: Crumbs,
) -> Iterator[str]:
    """Return the first page in parts.

    ``names``: of the page of each of the ``files``. ``addresses``: of the tests, on these pages.
    """
    last = [run for run in trends.runs if run.files][-1:]

    def since(one: VerdictChange) -> tuple[int, str]:
        return -one.now.run.number, one.cause

    groups = [list(some) for _, some in groupby(sorted(trends.broken, key=since), since)]
    runs = trends.runs[-_RUNS:]
    changes: dict[int, list[VerdictChange]] = defaultdict(list)
    for one in trends.changes:
        changes[one.now.run.number].append(one)
    scale = plots.Scale(seconds for file in files for _, seconds in file.times)
    body = _index.body(
        text=text,
        plots=plots,
        found=trends,
        addresses=addresses,
        courses={one.test: one for file in files for one in file.courses},
        engine=text.engine_of(last[0]) if last else "",
        last=tally(*last[0].files) if last else None,
        # The first change since one run, the tests that are listed, how many there are.
        causes=[
            (some[0], [(one.test, one.now.result.line) for one in some[:_TESTS]], len(some))
            for some in groups[:_CAUSES]
        ],
        left_causes=sum(map(len, groups[_CAUSES:])),
        flaky=[(one.test, one.line, text.flakiness(one)) for one in trends.flaky[:_FLAKY]],
        files=[
            SimpleNamespace(
                file=file,
                address=link(name),
                counts=tally(file.last),
                changes=sum(len(one.changes) for one in file.courses),
                failures=plots.failures(file),
                median=plots.median(file.times),
                time=plots.time(file.times, scale),
            )
            for file, name in sorted(zip(files, names, strict=True), key=_badness)
        ],
        drawn=choose_shown_runs(trends),
        runs=[(run, tally(*run.files), changes[run.number]) for run in reversed(runs)],
        earlier=[run.number for run in trends.runs[:-_RUNS]],
    )
    heading = f"History of {one_line(trends.program, 40)}"
    crumbs = (*home, (heading, "")) if home else ()
    return page(heading, [body], PageFrame(crumbs, script=True, style=STYLE))


def _badness(pair: tuple[FileCourse, str]) -> tuple[bool, int]:
    """Return the sort key of a file: those with an engine failure first, then most failures."""
    last = pair[0].last
    return not last.failure, -tally(last).failed


# --- the pages about a file --------------------------------------------------------------------

_CHOICES = {"f": "Failing", "c": "Changed", "k": "Flaky", "s": "Slower", "p": "Passing"}


def file_pages(  # noqa: PLR0913 - what a page is made of
    trends: Trends,
    runs: Sequence[RunKept],
    file: FileCourse,
    name: str,
    addresses: Addresses,
    *,
    home: Crumbs = (),
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the names and the contents of the pages about a file.

    ``name``: of the first, without ``.html``. ``addresses``: gets the address of each test.
    """
    scale = plots.Scale(seconds for one in file.courses for _, seconds in one.times)
    parts = list(_split_pages(_draw_test(one, scale, runs) for one in file.courses))
    for number, rows in enumerate(parts, 1):
        address = link(part_name(name, number))
        for row in rows:
            place = f"{'t' if row.card else 'r'}{row.course.number}"
            addresses[row.course.test] = f"{address}#{place}"
    first = (f"History of {one_line(trends.program, 40)}", "index.html")
    for number, rows in enumerate(parts, 1):
        counts = Counter(kind for row in rows for kind in _kinds(row.course).split())
        body = _file.body(
            path=file.path,
            last=tally(file.last) if number == 1 else None,
            times=plots.times_of_runs("Time of the file", file.times),
            links=part_links(name, number, len(parts)),
            shortest=text.seconds(scale.first),
            longest=text.seconds(scale.last),
            runs=runs,
            heads=[_head(before, run) for before, run in pairwise([*runs[:1], *runs])],
            kinds=[
                ("all", "All", len(rows)),
                *((kind, words, counts[kind]) for kind, words in _CHOICES.items() if counts[kind]),
            ],
            rows=[row.row for row in rows],
            cards=[row.card for row in rows if row.card],
            key=plots.template.key,
        )
        heading = file.path + (f", part {number}" if number > 1 else "")
        frame = PageFrame((*home, first, (heading, "")), script=True, style=STYLE)
        yield part_name(name, number), page(heading, [body], frame)


class _DrawnTest(NamedTuple):
    course: TestCourse
    row: Markup
    card: Markup


def _split_pages(rows: Iterable[_DrawnTest]) -> Iterator[list[_DrawnTest]]:
    """Yield the rows of each page: as many as it has room for."""
    page_rows: list[_DrawnTest] = []
    size = 0
    for row in rows:
        size += len(row.row) + len(row.card)
        if size > _LARGEST and page_rows:
            yield page_rows
            page_rows, size = [], len(row.row) + len(row.card)
        page_rows.append(row)
    yield page_rows


def _head(before: RunKept, run: RunKept) -> SimpleNamespace:
    engine = text.engine_of(run)
    is_other = (text.engine_of(before), before.digest) != (engine, run.digest)
    words = f"run {run.number}, {run.started[:16]}, {engine}{', another engine' * is_other}"
    return SimpleNamespace(number=run.number, is_other_engine=is_other, words=words)


def _draw_test(one: TestCourse, scale: plots.Scale, runs: Sequence[RunKept]) -> _DrawnTest:
    """Return the row of a test, and its card if it has news."""
    name, kinds = one_line(one.test.name, _COMMAND), _kinds(one)
    sign, card = dot(Verdict(one.verdict), one.last.result.flaky), NOTHING
    if one.has_news:
        compared = (one.slower.before, one.slower.now) if one.slower else (one.times,)
        drawn, times = plots.course(one), plots.times_of_runs("Time", *compared)
        card = _test.card(one, text, kinds, sign, name, drawn, times, one.changes[:_CHANGES])
    asked = [seen for seen in one.seen if seen]
    row = _test.row(
        one,
        kinds,
        sign,
        name,
        is_linked=bool(card),
        failed=sum(seen.passed is False for seen in asked),
        asked=len(asked),
        median=plots.median(one.times),
        time=plots.time(one.times, scale),
        cells=[_cell(streak, one, runs) for streak in one.streaks()],
    )
    return _DrawnTest(one, row, card)


def _kinds(one: TestCourse) -> str:
    """Return the letters of :data:`_CHOICES` by which a filter finds a test; "x" for none."""
    kinds = {
        "f": one.verdict == "FAILED" and not one.is_gone,
        "c": one.changes,
        "k": one.flaky,
        "s": one.slower,
        "p": one.last.passed,
    }
    return " ".join(kind for kind, is_so in kinds.items() if is_so) or "x"


def _cell(streak: Streak, one: TestCourse, runs: Sequence[RunKept]) -> tuple[str, int, str, int]:
    """Return one cell for all runs of a streak: class, number of runs, words, first run.

    The first run, its number, is 0 unless the test failed: then the cell links to its card.
    """
    if not streak.verdict:
        return "n", streak.size, "", 0
    kind = plots.kind_of(one.seen[streak.first]) or "w"
    words = streak.verdict + (f" in {streak.size} runs" if streak.size > 1 else "")
    since = runs[streak.first].number if kind == "f" else 0
    return f"{kind} k" if streak.flaky else kind, streak.size, words, since
