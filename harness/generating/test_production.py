"""A set of tests for a declared game: chosen from drafts, reported on, and written."""

import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import cycle, islice
from operator import or_
from pathlib import Path
from typing import NamedTuple

from harness.banks.banks import EngineBench
from harness.core.text import number_of
from harness.declared.declaration import Declaration
from harness.generating.drafts import Draft, Drafter
from harness.generating.record_reading import Choices
from harness.generating.scene_text import comment, describe_shares
from harness.judging.strength import KnownWrong

_LENGTHS = (2, 4, 8, 16, 32)  # of conversations, in turn: short ones are read
_LONGER = (16, 32, 64)  # where engines get away: games that are played to the end
_IN_A_ROUND = 30  # conversations
_AT_LEAST = 2  # rounds of drawing, where no engine gets away
_TRIES = 4  # choices, where the chosen tests by themselves do not catch all
_AGAIN = 3  # times that a test is asked in which an engine chooses, before it is relied on
_EFFORT = 0.02  # what a command of the setup counts against a test
_TOGETHER = 200  # tests of one case file that is put to engines


class TestRequest(NamedTuple):
    """Request for a set."""

    choices: Choices
    most: int  # tests
    excluded: Collection[tuple[str, ...]] = ()  # identities of tests not to be made again
    other_catches: int = 0  # the engines that other cases catch, as bits
    only_survivors: bool = False  # take only what catches an engine these leave alive
    rounds: int = 24  # of drawing at most, where engines get away


class ProducedTests(NamedTuple):
    """A set of tests, and how it came about."""

    drafts: tuple[Draft, ...]
    drawn: Counter[str]  # command: tests that could be made
    engines: tuple[KnownWrong, ...]
    other_catches: int
    caught: int  # by these tests, put to the engines as they are written
    candidates: tuple[Draft, ...] = ()  # all that were drawn, these among them

    @property
    def survivors(self) -> list[KnownWrong]:
        """The engines that nothing catches."""
        done = self.caught | self.other_catches
        return [one for place, one in enumerate(self.engines) if not done >> place & 1]


def produce(
    request: TestRequest, drafter: Drafter, bench: EngineBench, on_step: Callable[[str], None]
) -> ProducedTests:
    """Return the set of tests that a request asks for."""
    pool = _DrawnTests(request, drafter, bench)
    chosen: list[Draft] = []
    caught = 0
    for number in range(request.rounds):
        alive = pool.every & ~request.other_catches & ~caught
        if number >= _AT_LEAST and not alive:
            break
        on_step(f"round {number + 1}: {len(pool.drafts)} tests, {alive.bit_count()} not caught")
        pool.fill(number)
        if number + 1 >= _AT_LEAST and pool.alive.bit_count() < alive.bit_count():
            chosen, caught = pool.choose()
    if not chosen:
        chosen, caught = pool.choose()
    drawn, other = Counter(one.name for one in pool.drafts), request.other_catches
    return ProducedTests(tuple(chosen), drawn, bench.engines, other, caught, tuple(pool.drafts))


class _DrawnTests:
    """The tests drawn so far, and what each of them catches."""

    def __init__(self, request: TestRequest, drafter: Drafter, bench: EngineBench) -> None:
        self.drafts: list[Draft] = []
        self._request = request
        self._drafter = drafter
        self._bench = bench
        self.every = (1 << len(bench.engines)) - 1
        self._known: set[tuple[str, ...]] = set(request.excluded)

    @property
    def alive(self) -> int:
        """The engines that are still to be caught, as bits."""
        return self.every & ~self._request.other_catches & ~_find_caught(self.drafts)

    def fill(self, number: int) -> None:
        """Draw one round of tests, and put them to the engines."""
        random = self._request.choices.random("own", number)
        new = []
        lengths = _LENGTHS if number < _AT_LEAST else _LONGER
        for length in islice(cycle(lengths), _IN_A_ROUND):
            for one in self._drafter.drafts(random, length):
                if one.identity not in self._known:
                    self._known.add(one.identity)
                    new.append(one)
        asked = self.every if number < _AT_LEAST else self.alive
        self.drafts += self._ask(new, asked)

    def _ask(self, drafts: Sequence[Draft], engines: int, *, alone: bool = False) -> list[Draft]:
        """Return tests with what they catch; ``alone``: each by itself."""
        if not engines:
            return list(drafts)
        starts = range(0, len(drafts), _TOGETHER)
        files = [plain(drafts[start : start + _TOGETHER], alone=alone) for start in starts]
        caught = self._bench.map_catches([text for text, _ in files], engines)
        bits = (
            found.get(line, 0)
            for (_, places), found in zip(files, caught, strict=True)
            for line in places
        )
        return [one._replace(caught=each) for one, each in zip(drafts, bits, strict=True)]

    def choose(self) -> tuple[list[Draft], int]:
        """Return the chosen tests, and what they catch by themselves.

        A test that caught an engine after others may not do so alone, and an engine may choose
        its moves at random: what was caught by chance is not relied on.
        """
        for _ in range(_TRIES):
            chosen = self._choice()
            # The reference may have answered otherwise before.
            text, places = plain(chosen)
            bad = self._bench.find_wrong(text)
            chosen = [one for one, n in zip(chosen, places, strict=True) if n not in bad]
            again = self._again(chosen)
            lost = {
                one.identity: before.caught & one.caught
                for before, one in zip(chosen, again, strict=True)
                if before.caught & ~one.caught
            }
            self.drafts = [
                one._replace(caught=lost[one.identity]) if one.identity in lost else one
                for one in self.drafts
            ]
            if not lost:
                break
        ordered = sorted(chosen, key=lambda one: (one.name, len(one.setup), one.identity))
        return ordered, _find_caught(again)

    def _again(self, tests: Sequence[Draft]) -> list[Draft]:
        """Return tests with what they catch by themselves, those with a choice each time."""
        found = {one.identity: one for one in self._ask(tests, self.every, alone=True)}
        for _ in range(_AGAIN - 1):
            free = [one for one in found.values() if one.is_free]
            for one in self._ask(free, _find_caught(free), alone=True):
                found[one.identity] = one._replace(caught=one.caught & found[one.identity].caught)
        return [found[one.identity] for one in tests]

    def _choice(self) -> list[Draft]:
        """Return few tests that catch all, if possible by no chance, and what adds most."""
        request = self._request
        ordered = sorted(self.drafts, key=lambda one: len(one.setup))
        settled = [one for one in ordered if not one.is_free]
        chosen = _choose_catching(settled, request.most, request.other_catches)
        done = _find_caught(chosen) | request.other_catches
        chosen += _choose_catching(ordered, request.most - len(chosen), done)
        if request.only_survivors:
            return chosen
        # Fill up with what is covered least: engines, commands, sizes, kinds of answers.
        covered = Counter(kind for one in chosen for kind in _kinds(one))
        left = [one for one in ordered if one not in chosen]
        while left and len(chosen) < request.most:
            best = max(left, key=lambda one: _gain(one, covered))
            chosen.append(best)
            left.remove(best)
            covered.update(_kinds(best))
        return chosen


def _choose_catching(ordered: Sequence[Draft], limit: int, catches: int) -> list[Draft]:
    """Return tests that catch what is not done yet, each time the one that catches most of it."""
    chosen: list[Draft] = []
    before = catches
    while len(chosen) < limit:
        one = max(ordered, key=lambda one: (one.caught & ~catches).bit_count(), default=None)
        if one is None or not one.caught & ~catches:
            break
        chosen.append(one)
        catches |= one.caught
    # Of these, some may catch nothing that the others do not.
    for one in sorted(chosen, key=lambda one: one.caught.bit_count()):
        rest = [other for other in chosen if other is not one]
        if not one.caught & ~(_find_caught(rest) | before):
            chosen = rest
    return chosen


def _find_caught(drafts: Iterable[Draft]) -> int:
    return reduce(or_, (one.caught for one in drafts), 0)


def _gain(one: Draft, covered: Counter[object]) -> float:
    return sum(1 / (1 + 2 * covered[kind]) for kind in _kinds(one)) - _EFFORT * len(one.setup)


def _kinds(one: Draft) -> list[object]:
    """Return what a test is one of."""
    name = one.name
    engines = [n for n in range(one.caught.bit_length()) if one.caught >> n & 1]
    return [name, (name, one.size), (name, one.expression), *engines]


# --- The report on what a generated set for a declared game covers, and what it does not ---------


_USED = ("files", "games", "used")
_WIDTH = 88
_UNSAID = (
    "no test expects a refusal of {}: the case file cannot say so; tests ask what holds after one,"
    " and fuzz compares refusals themselves"
)


def report(
    result: ProducedTests, records: Counter[str], openings: int, unsaid: Counter[str]
) -> Iterator[str]:
    """Yield the lines of the report.

    ``records``: counts of game records. ``openings``: positions to continue from. ``unsaid``:
    commands whose right answer was an error.
    """
    if records["files"]:
        files, games = (number_of(records[one], one[:-1]) for one in ("files", "games"))
        yield f"{files}, {games}, {records['used']} used"
        yield from (
            f"{count:6}  {why}" for why, count in records.most_common() if why not in _USED
        )
    if openings:
        yield f"{number_of(openings, 'position')} to continue from"
    chosen = Counter(one.name for one in result.drafts)
    width = max(map(len, result.drawn), default=0)
    yield f"\n{'':{width}}  usable  chosen"
    for name, count in sorted(result.drawn.items()):
        yield f"{name:{width}}  {count:6}  {chosen[name]:6}"
    sizes = Counter(one.size for one in result.drafts)
    told = (f"{columns}x{rows} ({sizes[columns, rows]})" for columns, rows in sorted(sizes))
    yield f"sizes: {', '.join(told)}"
    if names := [name for name, count in sorted(unsaid.items()) if count]:
        yield from textwrap.wrap(_UNSAID.format(", ".join(names)), _WIDTH)
    yield f"\n{number_of(len(result.drafts), 'test')}"
    total, alive = len(result.engines), [one.name for one in result.survivors]
    if total:
        yield f"{total - len(alive)} of {number_of(total, 'engine')} caught"
    yield from describe_shares(result.other_catches, result.caught, alive)


# --- Tests for a declared game as the text of a case file ----------------------------------------


_REFUSED = "# refused, on purpose:"  # above a command, so that verify knows


def case_file(drafts: Sequence[Draft], heading: Iterable[str]) -> str:
    """Return the text of a case file: a heading, then each test with all that leads to it."""
    lines = [f"# {line}" for line in heading]
    for number, one in enumerate(drafts, 1):
        lines += ["", *comment(f"{one.name}. {describe_origin(one)}")]
        for place, line in enumerate(commands(one, 10 * number)):
            lines += [*([_REFUSED] if place in one.refused else []), line]
    return "\n".join(lines) + "\n"


def describe_origin(one: Draft) -> str:
    """Return the sentence that says where the position of a test comes from."""
    taken = "taken " if one.origin.startswith("from ") else ""
    return f"The position was {taken}{one.origin}."


def commands(one: Draft, number: int) -> Iterator[str]:
    """Yield the lines of a test; ``number``: its id."""
    yield from one.setup
    yield f"{number} {one.command}"
    yield f"#? [{one.expression}]"


def find_named_files(drafts: Iterable[Draft], declaration: Declaration, folder: Path) -> list[str]:
    """Return the files that tests name, as they name them; ``folder``: in which they lie."""
    naming = {
        one.name for one in declaration.commands if any(word.files for word in one.arguments)
    }
    lines = (line.split() for one in drafts for line in (*one.setup, one.command))
    named = {word for name, *words in lines if name in naming for word in words}
    return sorted(word for word in named if (folder / word).is_file())


def plain(drafts: Iterable[Draft], *, alone: bool = True) -> tuple[str, list[int]]:
    """Return tests as the text of a case file to be run, and the line of each one's command.

    Without ``alone`` what leads to several tests in a row is said once, which is much faster.
    """
    lines: list[str] = []
    places = []
    before: tuple[str, ...] | None = None
    for one in drafts:
        added = list(commands(one, 1))
        lines += added if alone or one.setup != before else added[len(one.setup) :]
        places.append(len(lines) - 1)
        before = one.setup
    return "\n".join(lines) + "\n", places
