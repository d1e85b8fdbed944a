"""The first page: what broke, in which ways, and a row for each file."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace

from harness.core.records import RunResult, Verdict
from harness.core.text import count_rest, one_line
from harness.report.file_view import FileView, crash_of
from harness.report.html.file import card_addresses
from harness.report.html.page_names import link
from harness.report.html.parts import PageFrame, page, times_in_words
from harness.report.html.templates import Template
from harness.report.reporters import command_of
from harness.report.tally import total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.baseline import Comparison

_COMMAND = 1_000  # characters of a command line
_LISTED = 60  # failed tests of one file that are named
_NAME = 80  # characters of a test
_template = Template("report/html/index.html")


def index_page(
    run: RunResult,
    views: Sequence[FileView],
    names: Sequence[str],
    comparison: "Comparison | None" = None,
) -> Iterator[str]:
    """Yield the first page; ``views`` and page ``names`` go with ``run.files``."""
    changes: dict[str, list[int]] = {}  # by path how many tests broke and were mended
    for place, some in enumerate((comparison.broke, comparison.mended) if comparison else ()):
        for one in some:
            changes.setdefault(one.path, [0, 0])[place] += 1
    bad = [view.file.case.path for view in views if _is_bad(view)]
    ways = ""
    if any(view.tally.failed for view in views):
        from harness.report.html import failure_ways

        ways = failure_ways.ways(views, names)
    command = command_of(run.repeat, bad) if bad else ""
    body = _template.body(
        run=run,
        counts=total(view.tally for view in views),
        comparison=comparison,
        failures=_failures(run, names),
        ways=ways,
        bad=len(bad),
        changed=len(changes),
        longest=max((view.tally.seconds for view in views), default=0.0),
        times_in_words=times_in_words,
        files=[
            _row(view, name, changes.get(view.file.case.path, [0, 0]))
            for view, name in sorted(zip(views, names, strict=True), key=_badness)
        ],
        command=command if len(command) <= _COMMAND else "",  # one that can be read
    )
    has_boards = any(view.tally.failed and view.boards for view in views)
    return page("Regression test summary", [body], PageFrame(boards=has_boards, script=True))


def _failures(run: RunResult, names: Sequence[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Failures of the engine: files in which it failed alike together."""
    found: dict[object, tuple[str, list[tuple[str, str]]]] = {}
    for file, name in zip(run.files, names, strict=True):
        ways = {crash_of(one): one for one in reversed(file.failures)}
        for crash, one in ways.items():
            _, places = found.setdefault(crash, (one.message, []))
            places.append((link(name), file.case.path))
    return list(found.values())


def _is_bad(view: FileView) -> bool:
    counts = view.tally
    return bool(counts.failed or counts.not_run or counts.not_judged or view.file.failure)


def _badness(pair: tuple[FileView, str]) -> tuple[int, ...]:
    """Sort key: broken first, then the most failures; else the order of the run."""
    counts, broken = pair[0].tally, pair[0].file.failure is not None
    lost = counts.not_run + counts.not_judged
    return (-broken, -counts.failed, -lost, -counts.errors, -counts.unexpected_passes)


def _row(view: FileView, name: str, changes: Sequence[int]) -> SimpleNamespace:
    failed = [one for one in view.remarkable if one.verdict is Verdict.FAILED]
    steps = [view.file.case.steps[one.step] for one in failed[:_LISTED]]
    addresses = card_addresses(view, name) if steps else {}
    return SimpleNamespace(
        view=view,
        kind="f" if _is_bad(view) else "p",
        address=link(name),
        changes=changes,
        failed=[(addresses[one.line][0], one_line(one.text, _NAME)) for one in steps],
        rest=count_rest(len(failed) - _LISTED),
    )
