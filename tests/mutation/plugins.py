"""Plugins of pytest: one tries a change, one measures which tests reach which blocks."""

from __future__ import annotations

import base64
import compileall
import functools
import json
import mmap
import resource
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

MARKS = Path("reach_marks.bin")  # in the copy of the project where tests run


class _Telling:
    """Tells a file what comes of a run, test by test: the process may be killed."""

    def __init__(self, told: Path) -> None:
        self._told = told.absolute()
        self._said: dict[str, object] = {}

    def tell(self, **said: object) -> None:
        self._said.update(said)
        fresh = self._told.with_suffix(".new")
        fresh.write_text(json.dumps(self._said), encoding="utf-8")
        fresh.replace(self._told)

    def end(self) -> None:
        """Say that the run came to its end."""
        self.tell(ended=True)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Draw the same examples each time, and do not shrink them."""
        from hypothesis import Phase, settings

        phases = [Phase.explicit, Phase.generate]
        own = settings(settings(), derandomize=True, database=None, phases=phases)
        settings.register_profile("mutation", own)
        settings.load_profile("mutation")


class Trial(_Telling):
    """Runs tests in the order in which they are wanted, until one fails or is skipped."""

    def __init__(self, told: Path, tests: list[str]) -> None:
        super().__init__(told)
        self._wanted = {one: place for place, one in enumerate(tests)}
        # Each module is compiled when it is imported; to look at all of them takes long.
        compileall.compile_dir = lambda *_, **__: True  # type: ignore[assignment]

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        missing = {function(one) for one in set(self._wanted) - {one.nodeid for one in items}}
        for one in items:  # a change may give tests other parameters, and so other ids
            if function(one.nodeid) in missing:
                self._wanted.setdefault(one.nodeid, len(self._wanted))
        left = [one for one in items if one.nodeid in self._wanted]
        items[:] = sorted(left, key=lambda one: self._wanted[one.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.tell(current=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        # All tests pass without a change; one that is left out because of it has noticed as well.
        if (report.failed or report.skipped) and "failed" not in self._said:
            self.tell(failed=report.nodeid)
            self._session.shouldstop = "noticed"


def function(test: str) -> str:
    """Return the id of a test without its parameters."""
    return test.partition("[")[0]


class Measuring(_Telling):
    """Measures the time of each test that passes, and which blocks it reaches.

    A test reaches what the fixtures that it shares with others reached when they were set up, and
    what a cached function did when it was computed.
    """

    def __init__(self, told: Path) -> None:
        super().__init__(told)
        self._marks = _Marks()
        self._of_fixtures: dict[object, int] = {}
        self._used: set[object] = set()
        self._passed: set[str] = set()
        self._began = _measure_spent()
        self._reached: dict[str, object] = {}
        functools.cache = self._cache  # type: ignore[assignment]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        self._reached[""] = [*_since(self._began), _pack(self._marks.take())]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[object]:
        self._used = set()
        self._marks.take()
        self.tell(current=item.nodeid)
        began = _measure_spent()
        result = yield
        if item.nodeid in self._passed:
            reached = self._marks.take()
            for one in self._used | set(item._fixtureinfo.name2fixturedefs):
                reached |= self._of_fixtures.get(one, 0)
            self._reached[item.nodeid] = [*_since(began), _pack(reached)]
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[object]:
        outer = self._marks.take()
        result = yield
        inner = self._marks.take()
        if fixturedef.scope != "function":
            self._of_fixtures[fixturedef.argname] = (
                self._of_fixtures.get(fixturedef.argname, 0) | inner
            )
        self._marks.put(outer | inner)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._passed.add(report.nodeid)

    def end(self) -> None:
        self.tell(ended=True, reached=self._reached)

    def _cache(self, function: Callable[..., object]) -> Callable[..., object]:
        """Cache a function's results with what it reached when it computed them."""
        cached = functools.lru_cache(maxsize=None)(function)
        kept: dict[object, int] = {}

        @functools.wraps(function)
        def wrapper(*given: Any, **named: Any) -> object:
            key = (given, tuple(sorted(named.items())), function)
            if key in self._used:
                return cached(*given, **named)
            if key in kept:
                self._marks.put(kept[key])
                self._used.add(key)
                return cached(*given, **named)
            outer = self._marks.take()
            try:
                return cached(*given, **named)
            finally:
                kept[key] = self._marks.take()
                self._marks.put(outer | kept[key])
                self._used.add(key)

        wrapper.cache_clear = cached.cache_clear  # type: ignore[attr-defined]
        wrapper.cache_info = cached.cache_info  # type: ignore[attr-defined]
        return wrapper


class _Marks:
    """The marks of the copy in which we run, as the bits of a number."""

    def __init__(self) -> None:
        with MARKS.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._none = bytes(len(self._map))

    def take(self) -> int:
        """Return which blocks were reached, and forget them."""
        found = self._map[:]
        if found == self._none:
            return 0
        self._map[:] = self._none
        return int(found[::-1].replace(b"\1", b"1").replace(b"\0", b"0"), 2)

    def put(self, reached: int) -> None:
        """Mark blocks as well."""
        both = f"{self.take() | reached:0{len(self._none)}b}"[::-1]
        self._map[:] = both.encode().replace(b"1", b"\1").replace(b"0", b"\0")


def _pack(reached: int) -> str:
    whole = reached.to_bytes(-(-reached.bit_length() // 8), "little")
    return base64.b85encode(zlib.compress(whole)).decode()


def _measure_spent() -> tuple[float, float]:
    """Return seconds of CPU time, ours and of children that ended, and of wall time."""
    used = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used), time.monotonic()


def _since(began: tuple[float, float]) -> tuple[float, float]:
    cpu, wall = _measure_spent()
    return round(cpu - began[0], 4), round(wall - began[1], 4)
