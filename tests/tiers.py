"""Tiers of tests: ``pytest --tier quick|full|rest|ci|slow``; without a word ``ci``.

quick   under a minute: no process but a few, 20 random examples at most for each test
full    what decides about a change, in minutes on two cores: also what starts processes
        or a whole service, on SQLite; 30 random examples at most for each test; needs no browser,
        no database server and no Java
rest    what ``full`` leaves out, but no soaks: browsers, PostgreSQL, Java, long tests
ci      both of these
slow    the soaks alone, and the tests that draw more examples, with all of them

A test says what it costs by marks, and its tier follows:

processes    it starts processes; so does every test that asks for a program of ``conftest.py``
long(30)     it takes about so many seconds: it is left to the rest, and begins before others
             there, so that no core waits for it at the end; as the mark of a module: its tests
             together
full         in the full tier none the less
quick        quick none the less
             A test that asks for a whole service, the fixture ``service`` or ``world``, is not
             quick either: each of them is fast, but they are hundreds.
slow         a soak; the ci tier has a smaller test of its kind
stored       of the service's tests on PostgreSQL the others are in the slow tier alone: pages and
             API ask the storage, and are proved on SQLite. These are about the database itself, or
             execute statements that no other one does: together all of them
soak(1500)   a Hypothesis test that draws as many examples in the ci tier as it says itself, and so
             many in the slow tier

In the quick tier a test without the mark ``processes`` that starts one fails. What a tier leaves
out is told at the end of its run. The full tier begins with quick tests, so that a fault shows
soon.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import settings

TIERS = ("quick", "full", "rest", "ci", "slow")
MARKS = (
    "processes: starts processes, not in the quick tier",
    "long(seconds): takes that long, begins first, not in the full tier",
    "full: in the full tier although it is long",
    "quick: in the quick tier although it starts processes or is long",
    "slow: a soak, in the slow tier alone",
    "stored: on PostgreSQL in the rest tier, too",
    "soak(examples): all its own examples in the full and ci tiers, so many in the slow one",
)
# Fixtures that are programs: who asks for one starts it.
PROGRAMS = frozenset(
    {"gnugo", "chromium", "gawk", "cc", "bwrap", "c_tools", "java"}
    | {"postgresql", "own_postgresql", "database"}
)
SERVERS = frozenset({"postgresql", "own_postgresql"})
# What a machine seldom has, with what it is called.
DEAR = {"chromium": "in a browser", "java": "with Java"}
WHOLE = frozenset({"service", "world"})
# Random examples of one test. Mistakes that were planted were found with 30 to 50.
MOST = {"quick": 20, "full": 30, "rest": 50, "ci": 50}
_SOME = 5.0  # seconds of a long test that does not say
_STARTS = frozenset(
    {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn"}
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=TIERS, default="ci", help="which tests (default: ci)")


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    if config.getoption("tier") == "quick":
        config.pluginmanager.register(NoProcesses(), "no-processes")


_LEFT_OUT = pytest.StashKey[Counter[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests of the tier, in the order in which they are to begin."""
    tier = config.getoption("tier")
    for item in items:
        if PROGRAMS & set(getattr(item, "fixturenames", ())):
            item.add_marker("processes")
    leave_repetitions(items)
    chosen, left_out = [], []
    for item in items:
        (chosen if belongs(item, tier) else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    config.stash[_LEFT_OUT] = Counter(map(why_dear, left_out))
    for item in chosen:
        limit_examples(item, tier)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    first = [item for item in chosen if tier == "full" and belongs(item, "quick")]
    items[:] = arrange(chosen, workers, first)


def leave_repetitions(items: list[pytest.Item]) -> None:
    """Leave all but the first parameters of a service's test on PostgreSQL to the slow tier.

    What the others show is proved on SQLite; that the test's statements work there, by one.
    """
    seen: set[str] = set()
    for item in items:
        if item.path.parent.name == "service" and needs_server(item):
            name = item.nodeid.partition("[")[0]
            if name in seen:
                item.add_marker("slow")
            seen.add(name)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that started this one what is left out here as everywhere."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(session.config.stash.get(_LEFT_OUT, Counter()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    told = getattr(node, "workeroutput", {}).get("left_out", {})
    node.config.stash[_LEFT_OUT] = Counter(told)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what was left out, and how it is run."""
    left_out = config.stash.get(_LEFT_OUT, Counter())
    if config.getoption("tier") in ("quick", "full") and left_out:
        terminalreporter.section("left out")
        for why in ("on PostgreSQL", *DEAR.values(), "that takes long", "that soaks"):
            if left_out[why]:
                noun = "test" if left_out[why] == 1 else "tests"
                words = why if left_out[why] == 1 else why.replace("that takes", "that take")
                words = words if left_out[why] == 1 else words.replace("soaks", "soak")
                terminalreporter.write_line(f"{left_out[why]:,} {noun} {words}")
        terminalreporter.write_line("tox -e rest runs all of these but the soaks (tox -e slow).")


def has(item: pytest.Item, *marks: str) -> bool:
    """Return whether a test has one of the marks."""
    return any(item.get_closest_marker(mark) for mark in marks)


def long_if(is_long: bool, *values: object, seconds: float = 2) -> object:
    """Return the parameters of one test, which is long if that is so."""
    return pytest.param(*values, marks=[pytest.mark.long(seconds)] if is_long else [])


def one_in(step: int, values: Iterable[object]) -> list[object]:
    """Return parameters of which one in so many is tried before the slow tier."""
    return [
        pytest.param(
            *(one if isinstance(one, tuple) else [one]),
            marks=[pytest.mark.slow] if place % step else [],
        )
        for place, one in enumerate(values)
    ]


def belongs(item: pytest.Item, tier: str) -> bool:
    """Return whether a test is one of the tier's."""
    if tier == "slow":
        return is_soak(item) or has(item, "soak") or own_examples(item) > MOST["full"]
    if is_soak(item):
        return False
    if tier == "ci" or (has(item, "quick") and tier != "rest"):
        return True
    if tier == "quick":
        return not is_costly(item)
    return (why_dear(item) == "" or has(item, "quick")) == (tier == "full")


def is_costly(item: pytest.Item) -> bool:
    """Return whether a test is left out of the quick tier unless it says otherwise."""
    return has(item, "processes", "long") or bool(WHOLE & set(getattr(item, "fixturenames", ())))


def is_soak(item: pytest.Item) -> bool:
    """Return whether a test is in the slow tier alone."""
    is_elsewhere = item.path.parent.name == "service" and not has(item, "stored")
    return has(item, "slow") or (needs_server(item) and is_elsewhere)


def why_dear(item: pytest.Item) -> str:
    """Return why a test is left out of the full tier, or ""."""
    if is_soak(item):
        return "that soaks"
    if needs_server(item):
        return "on PostgreSQL"
    asked = set(getattr(item, "fixturenames", ()))
    for program in DEAR.keys() & asked:
        return DEAR[program]
    return "that takes long" if has(item, "long") and not has(item, "full") else ""


def needs_server(item: pytest.Item) -> bool:
    """Return whether a test asks for a database server, by a fixture or a parameter."""
    callspec = getattr(item, "callspec", None)
    words = [one for one in (callspec.params.values() if callspec else ()) if isinstance(one, str)]
    return not SERVERS.isdisjoint({*getattr(item, "fixturenames", ()), *words})


def arrange(items: list[pytest.Item], workers: int, first: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests so that each worker's share begins with its part of the first ones.

    Then come those that are long, so that nobody waits for one at the end.
    ``--dist worksteal`` cuts what is collected into as many pieces, as equal as they can be.
    """
    begun = {id(item) for item in first}
    short = [item for item in items if not has(item, "long") and id(item) not in begun]
    groups: dict[object, list[pytest.Item]] = {}
    for item in items:
        for node, _ in item.iter_markers_with_node("long"):
            together = (node.nodeid, _list_shared(item)) if node is not item else item
            if id(item) not in begun:
                groups.setdefault(together, []).append(item)
            break
    cuts = [len(first) * place // workers for place in range(workers + 1)]
    shares = [first[begin:end] for begin, end in itertools.pairwise(cuts)]
    seconds = [0.0] * workers
    for group in sorted(groups.values(), key=_seconds, reverse=True):
        least = seconds.index(min(seconds))
        shares[least] += group
        seconds[least] += _seconds(group)
    left = len(items)
    for place, share in enumerate(shares):
        size = left // (workers - place)
        room = max(0, size - len(share))
        share.extend(short[:room])
        del short[:room]
        left -= len(share)
    return [item for share in shares for item in share]


def _seconds(group: list[pytest.Item]) -> float:
    mark = group[0].get_closest_marker("long")
    return float(mark.args[0]) if mark and mark.args else _SOME


def _list_shared(item: pytest.Item) -> tuple[str, ...]:
    """Return the parameters of what a test shares with others: fixtures that outlive one test.

    pytest has no public way to tell them from a test's own.
    """
    if not hasattr(item, "callspec"):
        return ()
    scopes, places = item.callspec._arg2scope, item.callspec.indices
    return tuple(
        f"{name} {places[name]}" for name in sorted(places) if scopes[name].value != "function"
    )


def limit_examples(item: pytest.Item, tier: str) -> None:
    """Let a test of Hypothesis draw as many examples as the tier has for it."""
    if not (most := own_examples(item)):
        return
    soak = item.get_closest_marker("soak")
    if tier == "slow" and soak:
        most = soak.args[0]
    elif tier == "quick" or (tier in MOST and not soak):
        most = min(most, MOST[tier])
    test = _get_function(item)
    # All sets of a test's parameters share its function: settings made anew for each would lie in
    # one another, deeper than Python goes.
    if most != _own(test).max_examples:
        setattr(test, _SETTINGS, settings(_own(test), max_examples=most))


def own_examples(item: pytest.Item) -> int:
    """Return how many examples a Hypothesis test says that it draws; 0 for other tests."""
    test = _get_function(item)
    return _own(test).max_examples if getattr(test, "is_hypothesis_test", False) else 0


# Hypothesis has no public way to change what ``@settings`` says.
_SETTINGS = "_hypothesis_internal_use_settings"


def _own(test: object) -> settings:
    return getattr(test, _SETTINGS, None) or settings()


def _get_function(item: pytest.Item) -> object:
    """Return the function of a test."""
    test = getattr(item, "obj", None)
    return getattr(test, "__func__", test)


class NoProcesses:
    """Fails a test of the quick tier that starts a process without saying so."""

    def __init__(self) -> None:
        self.item: pytest.Item | None = None  # the test that runs and may start none
        self.started = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _arguments: object) -> None:
        if event in _STARTS and self.item is not None:
            self.started = True
            raise ProcessRefusedError(self._why(self.item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        return (yield from self._watch(item))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        return (yield from self._watch(item))

    def _watch(self, item: pytest.Item) -> Iterator[None]:
        self.item, self.started = None if has(item, "processes") else item, False
        try:
            result = yield
        finally:
            self.item = None
        if self.started:  # and what was raised went unnoticed
            pytest.fail(self._why(item), pytrace=False)
        return result

    @staticmethod
    def _why(item: pytest.Item) -> str:
        return f"{item.nodeid} starts a process: mark it with @pytest.mark.processes"


class ProcessRefusedError(BaseException):
    """A test of the quick tier starts a process. No code under test catches this one."""
