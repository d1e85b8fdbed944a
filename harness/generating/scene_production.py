"""Makes a set of scenes from a harvest: builds, stages, completes and chooses them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count, islice
from operator import or_
from typing import NamedTuple

from harness import open_folders
from harness.generating import scene_text
from harness.generating.choices import Choices
from harness.generating.pool import Pool
from harness.generating.record_reading import Harvest
from harness.generating.record_replay import turn
from harness.generating.records import Staged, TestBench
from harness.generating.scene_selection import SceneChoice
from harness.generating.staging import LeftOut, Stage
from harness.judging import strength
from harness.judging.likeness import identities
from harness.judging.strength import KnownWrong
from harness.records import CaseFile
from harness.specifications.record import Specification
from harness.vocabulary.features import Feature
from harness.vocabulary.scenes import Find, Scene, SceneMoment
from oracle.mistakes import Mistake
from oracle.symmetry import ALL

FROM_GAMES = 6  # scenes of a feature that are staged, from game records …
FROM_NOTHING = 3  # … and made ones, where no game has it (more when mistakes survive)
_LARGE, _FEW = 80, 1  # stones of a large board, and how many such scenes a feature has
_TOGETHER = 40  # scenes of one case file that is put to engines
_PATIENCE = 200  # positions made before a feature is given up for this time
_ROUNDS = 15  # of looking for scenes that catch what nothing has caught


class SceneRequest(NamedTuple):
    """What set is wanted."""

    specification: Specification
    choices: Choices
    sizes: range
    most: int  # tests
    secret: bool  # whether positions are turned, so that nobody knows them from the record
    beside: tuple[CaseFile, ...] = ()  # the set is to complete these
    excluded: tuple[CaseFile, ...] = ()  # and has no test the same as any of these
    only_survivors: bool = False  # take only what catches a mistake these leave alive
    bench: TestBench | None = None  # engines to be caught beside the mistakes


class ProducedScenes(NamedTuple):
    """A set of scenes, in the order of the file, and how it came about."""

    scenes: tuple[Staged, ...]
    candidates: tuple[Staged, ...]
    left_out: Counter[str]  # reason: scenes
    mistakes: tuple[Mistake, ...]
    caught_beside: int  # by the cases beside them
    caught: int  # by these scenes, as bits: of the mistakes, and then of the engines
    engines: tuple[KnownWrong, ...] = ()

    @property
    def survivors(self) -> list[KnownWrong]:
        """The mistakes and engines that nothing catches."""
        done, all_ = self.caught | self.caught_beside, (*self.mistakes, *self.engines)
        return [one for place, one in enumerate(all_) if not done >> place & 1]


def produce(
    request: SceneRequest, harvest: Harvest, on_step: Callable[[str], None]
) -> ProducedScenes:
    """Return the set of scenes that a request asks for."""
    specification = request.specification
    mistakes = specification.settled_mistakes
    workshop = _Workshop(request, mistakes)
    on_step("positions of games")
    workshop.from_games(harvest.pool)
    on_step("positions made for what no game has")
    workshop.complete()
    beside = find_caught(request.beside, specification)
    if request.bench:
        on_step("what engines do with them")
        workshop.measure(request.bench)
        beside |= request.bench.find_caught(request.beside) << len(mistakes)
    on_step("scenes for mistakes that survive")
    workshop.hunt(beside | workshop.caught)
    choice = _choose(request, workshop, beside)
    order = {feature.name: place for place, feature in enumerate(specification.kind.features)}
    scenes = sorted(choice.chosen, key=lambda one: order[one.scene.find.feature])
    candidates, engines = tuple(workshop.staged), request.bench.engines if request.bench else ()
    return ProducedScenes(
        tuple(scenes), candidates, workshop.left_out, mistakes, beside, choice.caught, engines
    )


def _choose(request: SceneRequest, workshop: _Workshop, beside: int) -> SceneChoice:
    """Return the choice among all that is staged, and more where that is not enough."""
    specification = request.specification
    features = specification.kind.features
    choice = SceneChoice(request.most, {one.name: one.least for one in features}, beside)
    for case in (*request.beside, *request.excluded):
        choice.exclude(same for _, same in identities(case, specification))
    choice.catch(workshop.staged)
    if choice.tests < request.most:
        # What catches the rest was asked before, or is of a game that has given enough.
        workshop.hunt(choice.done)
        choice.catch(workshop.staged)
    if not request.only_survivors:
        choice.beside = 0  # by itself, too, the set should catch what it can
        choice.catch(workshop.staged)
        choice.cover(workshop.staged)
    return choice


def find_caught(cases: Sequence[CaseFile], specification: Specification) -> int:
    """Return the settled mistakes that case files catch, as bits."""
    return strength.measure(cases, specification).caught if cases else 0


class _Workshop:
    """Where finds become staged scenes.

    Attributes: ``staged``, those from games first; ``left_out``, why others are not among them.
    """

    def __init__(self, request: SceneRequest, mistakes: tuple[Mistake, ...]) -> None:
        self._request = request
        self._features = {feature.name: feature for feature in request.specification.kind.features}
        self._stage = Stage(request.specification, mistakes)
        self.staged: list[Staged] = []
        self.left_out: Counter[str] = Counter()
        self._commands: dict[str, set[str]] = {}  # that the scenes of a feature use
        self._rounds = count(1)

    @property
    def caught(self) -> int:
        """The mistakes that all staged scenes together catch, as bits."""
        return reduce(or_, (one.caught for one in self.staged), 0)

    def measure(self, bench: TestBench) -> None:
        """Put all staged scenes to engines, which follow the mistakes in what a scene catches."""
        starts = range(0, len(self.staged), _TOGETHER)
        heaps = [self.staged[start : start + _TOGETHER] for start in starts]
        for name, content in scene_text.files(self.staged).items():
            open_folders.write(bench.folder / name, content.encode())
        written = [self._as_file(heap) for heap in heaps]
        everyone = (1 << len(bench.engines)) - 1
        caught = bench.map_catches([text for text, _ in written], everyone)
        first = len(self._stage.mistakes)
        self.staged = [
            one._replace(caught=one.caught | _of_lines(found, lines) << first)
            for heap, (_, spans), found in zip(heaps, written, caught, strict=True)
            for one, lines in zip(heap, spans, strict=True)
        ]

    def _as_file(self, heap: Sequence[Staged]) -> tuple[str, list[range]]:
        """Return scenes as one case file, and the lines of each of them."""
        lines, spans = [""], []  # counted from 1
        for one in heap:
            start = len(lines)
            lines += scene_text.commands(one, 1, self._request.specification.commands)
            spans.append(range(start, len(lines)))
        return "\n".join(lines[1:]) + "\n", spans

    # --- from games ------------------------------------------------------------------------

    def from_games(self, pool: Pool) -> None:
        """Stage finds of every feature, as different in size and answer as there are."""
        for name in self._features:
            cells = _by_cell(find for find in pool if find.feature == name)
            for find in _mostly_small(_in_turns(cells))[:FROM_GAMES]:
                self._add(self._hide(find))

    def _hide(self, find: Find) -> Find:
        """Return a find turned as the secret has it, if there is one and its feature stays."""
        if not self._request.secret:
            return find
        for symmetry, swap in self._ways(find):
            moment = turn(find.moment, symmetry, swap)
            answer = self._features[find.feature].find(moment)
            if answer:
                how = " and colors exchanged" * swap
                origin = moment.origin.but(f"turned or mirrored{how}")
                return find._replace(answer=answer, moment=moment._replace(origin=origin))
        return find

    def _ways(self, find: Find) -> list[tuple[int, bool]]:
        """Return all that hides a find, as symmetry and exchange of colors, in its own order."""
        swaps = (False, True) if self._request.specification.kind.swaps else (False,)
        ways = [(symmetry, swap) for symmetry in ALL if symmetry for swap in swaps]
        self._request.choices.random("turn", find.rank).shuffle(ways)
        return ways

    # --- made ------------------------------------------------------------------------------

    def complete(self) -> None:
        """Make scenes for every feature without a usable scene from the games."""
        have = Counter(one.scene.find.feature for one in self.staged)
        for feature in self._features.values():
            if not have[feature.name]:
                self._make(feature, FROM_NOTHING * feature.least, 0)

    def hunt(self, caught: int) -> None:
        """Make scenes for as long as some mistake is not ``caught`` by them, up to a limit."""
        everything = (1 << len(self._stage.mistakes)) - 1
        for number in islice(self._rounds, _ROUNDS):
            for feature in self._features.values():
                if self._may_catch(feature, everything & ~caught):
                    for one in self._stage_made(feature, 1, number):
                        if one.caught & ~caught:
                            self.staged.append(one)
                            caught |= one.caught

    def _may_catch(self, feature: Feature, alive: int) -> bool:
        """Return whether scenes of a feature use a command in which a mistake survives."""
        used = self._commands.get(feature.name, set())
        mistakes = self._stage.mistakes
        return any(
            alive >> place & 1 and not used.isdisjoint(one.commands)
            for place, one in enumerate(mistakes)
        )

    def _make(self, feature: Feature, most: int, number: int) -> None:
        self.staged += self._stage_made(feature, most, number)

    def _stage_made(self, feature: Feature, most: int, number: int) -> Iterator[Staged]:
        """Yield staged scenes for a feature from positions that are made."""
        if feature.sizes and not any(size in self._request.sizes for size in feature.sizes):
            return
        random = self._request.choices.random("made", feature.name, number)
        found = 0
        for _ in range(_PATIENCE):
            moment = feature.make(random)
            answer = self._answer(feature, moment)
            if moment is None or not answer:
                continue
            staged = self._try(Find(random.getrandbits(64), feature.name, answer, moment))
            if staged:
                yield staged
                found += 1
                if found == most:
                    return

    def _answer(self, feature: Feature, moment: SceneMoment | None) -> str:
        if moment is None or moment.size not in self._request.sizes:
            return ""
        return feature.find(moment)

    # --- both ------------------------------------------------------------------------------

    def _add(self, find: Find) -> None:
        staged = self._try(find)
        if staged:
            self.staged.append(staged)

    def _try(self, find: Find) -> Staged | None:
        feature = self._features[find.feature]
        choices = self._request.choices
        steps = tuple(feature.steps(find.moment, choices.random("steps", find.rank)))
        files = feature.files(find.moment, choices.random("steps", find.rank))
        self._commands[find.feature] = {step.command.partition(" ")[0] for step in steps}
        try:
            return self._stage.stage(Scene(find, steps, files))
        except LeftOut as reason:
            self.left_out[str(reason)] += 1
            return None


def _of_lines(caught: Mapping[int, int], lines: range) -> int:
    return reduce(or_, (bits for line, bits in caught.items() if line in lines), 0)


def _by_cell(finds: Iterable[Find]) -> list[list[Find]]:
    cells: dict[tuple[int, str], list[Find]] = {}
    for find in finds:
        cells.setdefault((find.moment.size, find.answer), []).append(find)
    return list(cells.values())


def _mostly_small(finds: list[Find]) -> list[Find]:
    """Return the finds without most of those with many stones: they take longest to read."""
    is_large = [find.moment.board.stones.bit_count() > _LARGE for find in finds]
    kept = [find for find, large in zip(finds, is_large, strict=True) if large][:_FEW]
    return [find for find, large in zip(finds, is_large, strict=True) if not large or find in kept]


def _in_turns(cells: list[list[Find]]) -> list[Find]:
    """Return one find of each cell, then another of each, and so on."""
    depth = max(map(len, cells), default=0)
    return [cell[place] for place in range(depth) for cell in cells if place < len(cell)]
