"""What came of changes, kept line by line in a file of JSON."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.mutation import known
from tests.mutation.modules import ROOT
from tests.mutation.trying import Outcome, Tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.mutation.drawing import Change

PLACE = ROOT / ".mutation" / "results.jsonl"
SAMPLE = Path(__file__).with_name("sample.jsonl")  # the one that the documentation shows


class Result(NamedTuple):
    """What came of a change, without its text; see :class:`Change` and :class:`Tried`.

    ``seed``, ``date``, ``commit``: of the sample. ``later``: the test that noticed the change when
    it was tried again, with more tests, and ``later_commit``; "" if none did.
    """

    module: str
    line: int
    before: str
    after: str
    outcome: str
    by: str
    tests: int
    cpu: float
    seed: int
    date: str
    commit: str
    later: str = ""
    later_commit: str = ""

    @property
    def first(self) -> str:
        """The outcome in the sample, after survivors were read: some change nothing."""
        change = (self.module, self.before, self.after)
        is_named = self.outcome == Outcome.SURVIVED and known.is_equivalent(*change)
        return Outcome.EQUIVALENT if is_named else self.outcome

    @property
    def now(self) -> str:
        """The outcome with the tests that were written since."""
        return Outcome.NOTICED if self.later else self.first


def read(path: Path) -> Iterator[Result]:
    """Yield the results in a file; none if there is no such file."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Result(**json.loads(line))


def add(path: Path, change: Change, tried: Tried, seed: int) -> Result:
    """Write the result of a change at the end of a file."""
    date = datetime.now(UTC).date().isoformat()
    seconds = round(tried.cpu, 2)
    place = (change.module, change.line, change.before, change.after)
    outcome = (tried.outcome.value, tried.by, tried.tests, seconds)
    result = Result(*place, *outcome, seed, date, commit())
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(_line(result))
    return result


def note_later(path: Path, result: Result, by: str) -> None:
    """Write into the result of a survivor which test notices it now."""
    noticed = result._replace(later=by, later_commit=commit())
    text = "".join(_line(noticed if one == result else one) for one in read(path))
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def _line(result: Result) -> str:
    return json.dumps(result._asdict(), ensure_ascii=False) + "\n"


def kills(found: Iterable[Result]) -> Counter[tuple[str, str]]:
    """Return how many changes in a module a test noticed."""
    return Counter((one.module, one.by) for one in found if one.by)


@cache
def commit() -> str:
    """Return the commit on which the project stood when we first asked: copies are made then."""
    words = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
