"""``python -m tests.mutation``: draw changes, try each, tell which no test noticed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.mutation import drawing, known, results, table
from tests.mutation.drawing import Change
from tests.mutation.modules import deciding
from tests.mutation.reach import TIERS, Reach
from tests.mutation.results import Result
from tests.mutation.sharing import share
from tests.mutation.trying import Outcome, Trial, Tried

_FLOOR = 0.95
MOST = "CPU time of tests after which a change is not noticed (default: %(default)s)"


def main() -> int:
    """Return 0 if as many changes as we want are noticed, else 1."""
    given = _command_line().parse_args()
    if given.page:
        return _write_page()
    with tempfile.TemporaryDirectory(prefix="copies-", dir=_place()) as folder:
        for line in Reach().measure(Path(folder), given.tier, given.jobs):
            print(line, flush=True)
        found = list((_tried_again if given.again else _yield_results)(given, Path(folder)))
    print(table.markdown(found))
    noticed = table.share(one.now for one in found)
    print(f"{noticed:.1%} of the changes that change something are noticed (seed {given.seed})")
    return 0 if noticed >= _FLOOR else 1


def _place() -> Path:
    """Return the folder of what is kept; copies are made there, for sandboxes hide ``/tmp``."""
    results.PLACE.parent.mkdir(exist_ok=True)
    return results.PLACE.parent


def _write_page() -> int:
    text = table.page(list(results.read(results.SAMPLE)), table.PAGE.read_text(encoding="utf-8"))
    table.PAGE.write_text(text, encoding="utf-8")
    return 0


def _yield_results(given: argparse.Namespace, folder: Path) -> Iterator[Result]:
    """Yield the result of each change that is drawn, and tell of it."""
    done = {one[:4]: one for one in results.read(given.results) if one.seed == given.seed}
    drawn = drawing.draw(deciding(given.module), given.count, given.seed)
    left = [one for one in drawn if one[:4] not in done]
    yield from done.values()
    for change, tried in _try_changes(left, folder, given):
        yield results.add(given.results, change, tried, given.seed)


def _tried_again(given: argparse.Namespace, folder: Path) -> Iterator[Result]:
    """Try what survived once more; yield all results."""
    survived = [one for one in results.read(given.results) if one.now == Outcome.SURVIVED]
    found = {drawing.find(*one[:4]): one for one in survived}
    changes = [one for one in found if one is not None]
    for change, tried in _try_changes(changes, folder, given):
        if tried.by:
            results.note_later(given.results, found[change], tried.by)
    yield from results.read(given.results)


def _try_changes(
    changes: list[Change], folder: Path, given: argparse.Namespace
) -> Iterator[tuple[Change, Tried]]:
    """Try changes, several at a time; tell of each as it is yielded with what came of it."""
    # Who noticed much in a module is asked first, whatever sample that was.
    reach = Reach()
    kills = results.kills([*results.read(results.SAMPLE), *results.read(given.results)])
    workers = (
        Trial(folder / str(number), reach, lambda *key: kills[key], given.most)
        for number in range(given.jobs)
    )
    for number, (change, tried) in enumerate(share(changes, workers, _attempt), 1):
        print(
            f"{number}: {tried.outcome}: {change}\n    {tried.by} ({tried.cpu:.1f} s)", flush=True
        )
        kills[change.module, tried.by] += bool(tried.by)
        yield change, tried


def _attempt(trial: Trial, change: Change) -> Tried:
    if known.is_equivalent(change.module, change.before, change.after):
        return Tried(Outcome.EQUIVALENT)
    return trial.attempt(change)


def _command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    add = parser.add_argument
    add("--count", type=int, default=40, help="changes (default: %(default)s)")
    add("--seed", type=int, default=1, help="draws the same again (default: %(default)s)")
    add("--module", default="", metavar="TEXT", help="only modules whose path has it")
    add("--jobs", type=int, default=2, help="at a time (default: %(default)s)")
    add("--tier", choices=TIERS, default="short", help="tests to ask (default: %(default)s)")
    add("--most", type=float, default=60.0, metavar="SECONDS", help=MOST)
    add("--results", type=Path, default=results.PLACE, metavar="FILE", help="adds results to it")
    add("--again", action="store_true", help="try again what survived, with the tests of today")
    add("--page", action="store_true", help="write the documentation's table; run nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
