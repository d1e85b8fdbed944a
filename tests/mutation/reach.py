"""Which tests reach which blocks, and how long each takes: measured once and kept.

``.mutation/reach.json`` has an entry for each file of tests; it holds as long as the file is the
same. A block whose function was written anew since is looked up by its function, or its module.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests import architecture
from tests.mutation import blocks
from tests.mutation.copying import Copy
from tests.mutation.modules import ROOT
from tests.mutation.plugins import MARKS
from tests.mutation.servers import Server
from tests.mutation.serving import Request
from tests.mutation.sharing import share

PLACE = ROOT / ".mutation" / "reach.json"
_PACKAGES = ("oracle", "harness")
_LONGEST = 1800.0  # seconds that one file of tests may take
# Tests to ask: the quick tier; of some files also the full one; all but soaks.
TIERS = ("quick", "short", "ci")
# What deciding modules do in processes. Others start them too, and run the whole product.
_STARTING = (
    *("alarm", "building", "confined_reading", "crew", "deadline", "deciding_constants"),
    *("diagnosis", "failed_tests"),
    *("grade.", "grade_summary", "intake", "interrupted", "killed_engines", "last_words"),
    *("ledger", "one_fault", "own_time", "patience", "play", "receive", "sandbox_"),
    *("status_last", "umask", "untrusted_folders", "work.", "work_"),
)
# Tests that look at modules and call nothing in them: constants, and what holds where nobody says
# anything. They reach each line that runs on import.
_LOOKING = ("tests/harness/test_deciding_constants.py", "tests/harness/test_ledger_tables.py")


class Reacher(NamedTuple):
    """A test that reaches a block: its id, seconds, and how many blocks it reaches in all."""

    test: str
    cpu: float
    wall: float
    blocks: int


class Reach:
    """The measured reach of tests."""

    def __init__(self) -> None:
        said = json.loads(PLACE.read_text(encoding="utf-8")) if PLACE.exists() else {}
        self._numbers: dict[str, int] = said.get("blocks", {})
        self._files: dict[str, dict[str, object]] = said.get("files", {})
        self._tests: list[tuple[Reacher, int]] = []

    def tests(self, module: str, text: str, line: int) -> list[Reacher]:
        """Return the tests that reach the block around a line, those first that reach little else.

        A line that runs on import has the tests that reach anything of its module, and then those
        that reach what imports it: who uses a constant need not call a function beside it.
        """
        block = blocks.enclosing(text, line)
        if not block:
            own = self._reaching(lambda name: name.startswith(f"{module} "))
            users = self._reaching(lambda name: name.partition(" ")[0] in _importers()[module])
            return list(dict.fromkeys([*self._looking(), *own, *users]))
        callers = self._calling(module, block)
        return [*self._looking(), *callers] if blocks.is_head(text, line) else callers

    def _calling(self, module: str, block: str) -> list[Reacher]:
        """Return the tests that reach a block, or what is known of its function or module."""
        function = block.rpartition(" ")[0]
        return (
            self._reaching(lambda name: name == f"{module} {block}")
            or self._reaching(lambda name: name.startswith(f"{module} {function} "))
            or self._reaching(lambda name: name.startswith(f"{module} "))
            or self._reaching(lambda name: name.partition(" ")[0] in _importers()[module])
        )

    def _looking(self) -> list[Reacher]:
        return [one for one, _ in self._all() if one.test.startswith(_LOOKING)]

    def _reaching(self, wanted: Callable[[str], bool]) -> list[Reacher]:
        """Return the tests that reach one of the blocks whose names are wanted."""
        mask = sum(1 << number for name, number in self._numbers.items() if wanted(name))
        found = [one for one, reached in self._all() if reached & mask]
        return sorted(found, key=lambda one: ((one.cpu + 0.005) * one.blocks, one.test))

    def collecting(self, file: str) -> float:
        """Return the seconds of CPU time until the tests of a file begin."""
        return float(self._files[file]["tests"][""][0])  # type: ignore[index]

    def _all(self) -> list[tuple[Reacher, int]]:
        if not self._tests:
            for entry in self._files.values():
                for test, (cpu, wall, packed) in entry["tests"].items():  # type: ignore[attr-defined]
                    reached = _unpack(packed)
                    if test:
                        one = Reacher(test, cpu, wall, reached.bit_count())
                        self._tests.append((one, reached))
        return self._tests

    def measure(self, folder: Path, tier: str, jobs: int) -> Iterator[str]:
        """Measure the files of tests that changed since; yield each one's name.

        ``folder``: for copies of the project; ``jobs``: how many files at a time.
        """
        if not (stale := [one for one in test_files() if not self._holds(one, tier)]):
            return
        workers = (_Measurer(folder / f"marked-{number}", tier) for number in range(jobs))
        for file, found in share(stale, workers, _Measurer.measure):
            tests = {
                test: [cpu, wall, self._packed(names)] for test, cpu, wall, names in found.tests
            }
            own = _tier_of(file, tier)
            self._files[file] = {"hash": _hash(file), "tier": own, "tests": tests}
            self._save()
            yield f"{file}: {len(tests) - 1} tests, {found.cpu:.1f} s {found.hung}"

    def _holds(self, file: str, tier: str) -> bool:
        known = self._files.get(file, {})
        enough = TIERS[TIERS.index(_tier_of(file, tier)) :]
        return known.get("hash") == _hash(file) and known.get("tier") in enough

    def _packed(self, names: list[str]) -> str:
        """Return blocks as bits of :attr:`_numbers`."""
        reached = 0
        for name in names:
            reached |= 1 << self._numbers.setdefault(name, len(self._numbers))
        whole = reached.to_bytes(-(-reached.bit_length() // 8), "little")
        return base64.b85encode(zlib.compress(whole)).decode()

    def _save(self) -> None:
        PLACE.parent.mkdir(exist_ok=True)
        fresh = PLACE.with_suffix(".new")
        said = {"blocks": self._numbers, "files": self._files}
        fresh.write_text(json.dumps(said), encoding="utf-8")
        fresh.replace(PLACE)
        self._tests = []


class _Measured(NamedTuple):
    """A file of tests: each test with its CPU and wall time in seconds, and the blocks it reaches.

    ``hung``: the test at which the run ended before its end; "" if it did not.
    """

    tests: list[tuple[str, float, float, list[str]]]
    cpu: float
    hung: str


class _Measurer:
    """A marked copy, and a server for it."""

    def __init__(self, folder: Path, tier: str) -> None:
        """``folder``: is made."""
        copy = Copy(folder)
        self._places = _mark(copy)
        self._server = Server(copy)
        self._tier = tier

    def close(self) -> None:
        self._server.close()

    def measure(self, file: str) -> _Measured:
        """Run the tests of a file."""
        tier = _tier_of(file, self._tier)
        answer = self._server.run(Request([file], None, tier, _LONGEST, _LONGEST))
        tests = [
            (test, cpu, wall, self._names(packed))
            for test, (cpu, wall, packed) in answer.reached.items()  # type: ignore[misc]
        ]
        return _Measured(tests, answer.cpu, answer.hung)

    def _names(self, packed: str) -> list[str]:
        """Return the names of the blocks that are marked."""
        bits = reversed(f"{_unpack(packed):b}")
        return [self._places[place] for place, bit in enumerate(bits) if bit == "1"]


def _unpack(packed: str) -> int:
    return int.from_bytes(zlib.decompress(base64.b85decode(packed)), "little")


@cache
def _importers() -> dict[str, set[str]]:
    """Return the modules that import each one or have its name in a string, all by path."""
    known = architecture.modules()
    paths = {name: str(path.relative_to(ROOT)) for name, path in known.items()}
    found: dict[str, set[str]] = defaultdict(set)
    for one in architecture.imports(known):
        found[paths[one.imported]].add(paths[one.importer])
    return found


def test_files() -> list[str]:
    """Return the files of tests, by path."""
    return sorted(str(one.relative_to(ROOT)) for one in (ROOT / "tests").rglob("test_*.py"))


def _tier_of(file: str, tier: str) -> str:
    """Return which tests of a file are asked."""
    is_quick = not file.rpartition("/test_")[2].startswith(_STARTING)
    return "quick" if tier == "short" and is_quick else tier


def _hash(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()


def _mark(copy: Copy) -> list[str]:
    """Mark all modules of a copy; return the blocks by the numbers of their marks."""
    paths = [path for one in _PACKAGES for path in sorted((ROOT / one).rglob("*.py"))]
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
    found = {module: blocks.find(text) for module, text in texts.items()}
    places = [f"{module} {one.name}" for module, within in found.items() for one in within]
    marks = copy.folder / MARKS
    marks.write_bytes(bytes(len(places)))
    number = 0
    for module, text in texts.items():
        copy.write(module, blocks.mark_blocks(text, number, str(marks), len(places)))
        number += len(found[module])
    marks.chmod(0o666)
    return places
