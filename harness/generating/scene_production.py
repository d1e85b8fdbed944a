"""A set of scenes: made from a harvest or from nothing, put before the oracle, and chosen.

A scene that does not do what it is meant to do is left out, and counted with the reason.
"""

import contextlib
import copy
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count, islice, zip_longest
from operator import or_
from pathlib import Path

from harness.banks.banks import EngineBench
from harness.core import file_system
from harness.generating import scene_text
from harness.generating.record_reading import Harvest, Pool
from harness.generating.record_replay import turn
from harness.generating.scene_text import ProducedScenes, SceneRequest, SceneTest, Staged
from harness.judging import in_process, strength
from harness.judging.board_replay import reason
from harness.reading import casefile
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.scenes import Feature, Find, Scene, SceneCommand
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Mistake
from oracle.symmetry import ALL

UNDERSPECIFIED = "underspecified"


class LeftOut(Exception):  # noqa: N818 - no error, but something to count
    """Reason a scene is unusable."""


class Stage:
    """Trial runs of one specification's scenes.

    Attribute ``mistakes``: those that tests may catch.
    """

    def __init__(self, specification: Specification, mistakes: Sequence[Mistake]) -> None:
        self._specification = specification
        self.mistakes = tuple(mistakes)

    def stage(self, scene: Scene) -> Staged:
        """Return a scene with its answers and what it catches.

        Raises :class:`LeftOut` for one that is underspecified, asks the same twice, or does not
        replay.
        """
        with _among(scene.files) as folder:
            asked = tuple(self._play(scene, folder))
            if len({one.identity for one in asked}) < len(asked):
                raise LeftOut("it asks the same twice")
            staged = Staged(scene, asked, 0)
            lines = scene_text.commands(staged, 1, self._specification.commands)
            case = casefile.parse("\n".join(lines).encode(), str(Path(folder, "scene.gtp")))
            good, wrong = strength.of_file(case, self.mistakes, self._specification)
            if wrong:
                raise LeftOut("the reference engine fails it")
            return staged._replace(caught=reduce(or_, (test.caught for test in good), 0))

    def _play(self, scene: Scene, folder: str) -> Iterator[SceneTest]:
        """Yield the tests of a scene, as the reference engine goes through it."""
        engine = self._specification.reference_engine(folder)
        reached, intended = False, (scene.find.moment.size, *scene.find.moment.board)
        for number, step in enumerate(scene.steps):
            now = engine.session.game.position
            reached = reached or (now.grid.rows, now.black, now.white) == intended
            if step.asked:
                yield self._ask(engine, step, is_last=number == len(scene.steps) - 1)
            elif engine.session.explain_open_answer(split(step.command)):
                raise LeftOut(UNDERSPECIFIED)
            else:
                raw = engine.handle(step.command)
                # Gomoku's ``illegal move`` is not an error.
                if not raw.startswith("=") or "illegal" in raw:
                    raise LeftOut("a command of its setup is refused")
        if not reached:
            raise LeftOut("the intended board is not reached")

    def _ask(self, engine: Engine, step: SceneCommand, *, is_last: bool) -> SceneTest:
        command = step.command
        if in_process.is_underspecified(engine, command):
            raise LeftOut(UNDERSPECIFIED)
        same = in_process.identity(engine, command, self._specification)
        choice = self._specification.choices(engine, command)
        told = step.why or reason(engine, command)
        reply = reply_of(engine.handle(command))
        if not reply.ok:
            raise LeftOut("its answer is an error")
        if len(choice) > 1 and not is_last:
            raise LeftOut("what follows depends on a free choice")
        if choice:
            expression = f"(?i){'|'.join(choice).lower()}"
        else:
            expression = in_process.expression(command, reply, self._specification)
        return SceneTest(command, expression, told, same)


@contextlib.contextmanager
def _among(files: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Give a folder that has the board files of a scene; "" if it has none."""
    if not files:
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        yield folder


# --- The choice of scenes: first those that together catch the mistakes, then those that add most
# What a scene adds is counted in features, sizes and kinds of answers, the rarer the more. Pure.


PER_GAME = 3  # scenes of one game
_EFFORT = 0.02  # what a command of the setup counts against a scene: short ones are read


class SceneChoice:
    """Scenes chosen so far, and what they cover.

    Attributes: ``chosen``; ``caught``, the mistakes, as bits, and ``other_catches``, those that
    other cases catch, which need not be caught; ``tests``, how many they are.
    """

    def __init__(self, max_tests: int, quotas: Mapping[str, int], other_catches: int = 0) -> None:
        self.chosen: list[Staged] = []
        self.caught = 0
        self.other_catches = other_catches
        self.tests = 0
        self._most = max_tests
        self._quotas = quotas
        self._identities: set[object] = set()
        self._games: Counter[str] = Counter()
        self._moments: set[tuple[str, int]] = set()
        self._covered: Counter[object] = Counter()

    @property
    def done(self) -> int:
        """The mistakes that need no more tests, as bits."""
        return self.caught | self.other_catches

    def exclude(self, identities: Iterable[object]) -> None:
        """Take no test that is the same as one of these."""
        self._identities.update(identities)

    def is_open(self, staged: Staged) -> bool:
        """Return whether a scene may be taken: each moment of a game once, and few of one game."""
        if self.tests + len(staged.asked) > self._most:
            return False
        if not self._identities.isdisjoint(one.identity for one in staged.asked):
            return False
        moment = staged.scene.find.moment
        game = moment.origin.game
        seen = (game, moment.number) in self._moments or self._games[game] >= PER_GAME
        return not (game and seen)

    def take(self, staged: Staged) -> None:
        """Take a scene."""
        self.chosen.append(staged)
        self.caught |= staged.caught
        self.tests += len(staged.asked)
        self._identities.update(one.identity for one in staged.asked)
        moment = staged.scene.find.moment
        self._games[moment.origin.game] += 1
        self._moments.add((moment.origin.game, moment.number))
        self._covered.update(_kinds(staged))

    def catch(self, candidates: Sequence[Staged]) -> None:
        """Take few tests that catch what candidates can catch and nothing has caught yet.

        Fewest scenes are not always fewest tests: both ways are tried, and the better is taken.
        """

        def effort(staged: Staged) -> tuple[bool, int]:
            return not staged.scene.find.moment.origin.game, len(staged.scene.steps)

        # Of two as good, the first is taken: a real game, then few commands.
        ordered = sorted(candidates, key=effort)
        attempts = [self._attempt(ordered, how) for how in (_fewest, _densest)]
        best = max(attempts, key=lambda one: (one.done.bit_count(), -one.tests))
        for staged in best.chosen[len(self.chosen) :]:
            self.take(staged)

    def _attempt(self, candidates: Sequence[Staged], plan: "Plan") -> "SceneChoice":
        """Return this choice after taking what a plan says, again and again: some close others."""
        tried = copy.deepcopy(self, {id(one): one for one in self.chosen})
        while True:
            able = [one for one in candidates if one.caught & ~tried.done and tried.is_open(one)]
            if not able:
                return tried
            for one in plan(able, tried.done):
                if tried.is_open(one):
                    tried.take(one)

    def cover(self, candidates: Sequence[Staged]) -> None:
        """Fill up with scenes that cover what is covered least."""
        while able := [one for one in candidates if self.is_open(one)]:
            self.take(max(able, key=self._gain))

    def _gain(self, staged: Staged) -> tuple[float, bool, int]:
        """Return what a scene adds for each of its tests; a real game's position comes first."""
        find = staged.scene.find
        short = max(0, self._quotas[find.feature] - self._covered[find.feature])
        gain = 8.0 * short + sum(1 / (1 + 2 * self._covered[kind]) for kind in _kinds(staged))
        effort = _EFFORT * len(staged.scene.steps)
        return gain / len(staged.asked) - effort, bool(find.moment.origin.game), -find.rank


Plan = Callable[[Sequence[Staged], int], list[Staged]]


def _fewest(candidates: Sequence[Staged], caught: int) -> list[Staged]:
    """Return the fewest scenes that catch what all do, the most powerful first."""
    places, _ = strength.smallest([one.caught & ~caught for one in candidates])
    return sorted((candidates[place] for place in places), key=lambda one: -_power(one, caught))


def _densest(candidates: Sequence[Staged], caught: int) -> list[Staged]:
    """Return scenes that catch the most for each of their tests, none of them needlessly."""
    chosen: list[Staged] = []
    now = caught
    while any(one.caught & ~now for one in candidates):
        chosen.append(max(candidates, key=lambda one: _power(one, now)))
        now |= chosen[-1].caught
    for one in sorted(chosen, key=lambda one: -len(one.asked)):
        rest = [other for other in chosen if other is not one]
        if not one.caught & ~reduce(or_, (other.caught for other in rest), caught):
            chosen = rest
    return chosen


def _power(staged: Staged, caught: int) -> float:
    """Return how many mistakes a scene adds for each of its tests."""
    return (staged.caught & ~caught).bit_count() / len(staged.asked)


def _kinds(staged: Staged) -> tuple[object, ...]:
    """Return what a scene is one of."""
    find = staged.scene.find
    feature, size, answer = find.feature, find.moment.size, find.answer
    return feature, ("size", size), (feature, answer), (feature, size)


# --- Makes a set of scenes from a harvest: builds, stages, completes and chooses them ------------


FROM_GAMES = 6  # scenes of a feature that are staged, from game records …
FROM_NOTHING = 3  # … and made ones, where no game has it (more when mistakes survive)
_LARGE, _FEW = 80, 1  # stones of a large board, and how many such scenes a feature has
_TOGETHER = 40  # scenes of one case file that is put to engines
_PATIENCE = 200  # positions made before a feature is given up for this time
_ROUNDS = 15  # of looking for scenes that catch what nothing has caught


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
    existing, other_catches = request.existing_cases, 0  # of mistakes, and then of engines
    if existing:
        other_catches = strength.measure(existing, specification).caught
    if request.bench:
        on_step("what engines do with them")
        workshop.measure(request.bench)
        other_catches |= request.bench.find_caught(existing) << len(mistakes)
    on_step("scenes for mistakes that survive")
    workshop.hunt(other_catches | workshop.caught)
    choice = _choose(request, workshop, other_catches)
    order = {feature.name: place for place, feature in enumerate(specification.kind.features)}
    scenes = sorted(choice.chosen, key=lambda one: order[one.scene.find.feature])
    return ProducedScenes(
        tuple(scenes),
        tuple(workshop.staged),
        workshop.left_out,
        mistakes,
        other_catches,
        choice.caught,
        request.bench.engines if request.bench else (),
    )


def _choose(request: SceneRequest, workshop: "_Workshop", other_catches: int) -> SceneChoice:
    """Return the choice among all that is staged, and more where that is not enough."""
    specification = request.specification
    features = specification.kind.features
    choice = SceneChoice(request.most, {one.name: one.least for one in features}, other_catches)
    for case in (*request.existing_cases, *request.excluded):
        choice.exclude(same for _, same in in_process.identities(case, specification))
    choice.catch(workshop.staged)
    if choice.tests < request.most:
        # What catches the rest was asked before, or is of a game that has given enough.
        workshop.hunt(choice.done)
        choice.catch(workshop.staged)
    if not request.only_survivors:
        choice.other_catches = 0  # by itself, too, the set should catch what it can
        choice.catch(workshop.staged)
        choice.cover(workshop.staged)
    return choice


class _Workshop:
    """Producer of scenes from finds.

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

    def measure(self, bench: EngineBench) -> None:
        """Put all staged scenes to engines, which follow the mistakes in what a scene catches."""
        starts = range(0, len(self.staged), _TOGETHER)
        heaps = [self.staged[start : start + _TOGETHER] for start in starts]
        for name, content in scene_text.files(self.staged).items():
            file_system.write_open(bench.folder / name, content.encode())
        texts, spans = [], []  # the lines of each scene in its file, counted from 1
        for heap in heaps:
            lines, own = [""], []
            for one in heap:
                start = len(lines)
                lines += scene_text.commands(one, 1, self._request.specification.commands)
                own.append(range(start, len(lines)))
            texts.append("\n".join(lines[1:]) + "\n")
            spans.append(own)
        caught = bench.map_catches(texts, (1 << len(bench.engines)) - 1)
        first = len(self._stage.mistakes)
        self.staged = [
            one._replace(
                caught=one.caught
                | reduce(or_, (bits for line, bits in found.items() if line in lines), 0) << first
            )
            for heap, own, found in zip(heaps, spans, caught, strict=True)
            for one, lines in zip(heap, own, strict=True)
        ]

    # --- from games ------------------------------------------------------------------------

    def from_games(self, pool: Pool) -> None:
        """Stage finds of every feature, as different in size and answer as there are."""
        for name in self._features:
            cells: dict[tuple[int, str], list[Find]] = {}
            for find in pool:
                if find.feature == name:
                    cells.setdefault((find.moment.size, find.answer), []).append(find)
            # One of each cell, again and again.
            finds = [find for row in zip_longest(*cells.values()) for find in row if find]
            # Those with many stones take longest to read.
            large = [find for find in finds if find.moment.board.stones.bit_count() > _LARGE]
            kept = [find for find in finds if find not in large or find in large[:_FEW]]
            for find in kept[:FROM_GAMES]:
                if staged := self._try(self._hide(find)):
                    self.staged.append(staged)

    def _hide(self, find: Find) -> Find:
        """Return a find turned as the secret has it, if there is one and its feature stays."""
        if not self._request.secret:
            return find
        swaps = (False, True) if self._request.specification.kind.swaps else (False,)
        ways = [(symmetry, swap) for symmetry in ALL if symmetry for swap in swaps]
        self._request.choices.random("turn", find.rank).shuffle(ways)
        for symmetry, swap in ways:
            moment = turn(find.moment, symmetry, swap)
            if answer := self._features[find.feature].find(moment):
                how = " and colors exchanged" * swap
                origin = moment.origin.but(f"turned or mirrored{how}")
                return find._replace(answer=answer, moment=moment._replace(origin=origin))
        return find

    # --- made ------------------------------------------------------------------------------

    def complete(self) -> None:
        """Make scenes for every feature without a usable scene from the games."""
        have = Counter(one.scene.find.feature for one in self.staged)
        for feature in self._features.values():
            if not have[feature.name]:
                self.staged += self._stage_made(feature, FROM_NOTHING * feature.least, 0)

    def hunt(self, caught: int) -> None:
        """Make scenes for as long as some mistake is not ``caught`` by them, up to a limit."""
        for number in islice(self._rounds, _ROUNDS):
            for feature in self._features.values():
                # Do its scenes use a command in which a mistake survives?
                used = self._commands.get(feature.name, set())
                if all(
                    caught >> place & 1 or used.isdisjoint(one.commands)
                    for place, one in enumerate(self._stage.mistakes)
                ):
                    continue
                for one in self._stage_made(feature, 1, number):
                    if one.caught & ~caught:
                        self.staged.append(one)
                        caught |= one.caught

    def _stage_made(self, feature: Feature, most: int, number: int) -> Iterator[Staged]:
        """Yield staged scenes for a feature from positions that are made."""
        if feature.sizes and not any(size in self._request.sizes for size in feature.sizes):
            return
        random = self._request.choices.random("made", feature.name, number)
        found = 0
        for _ in range(_PATIENCE):
            moment = feature.make(random)
            if moment is None or moment.size not in self._request.sizes:
                continue
            if not (answer := feature.find(moment)):
                continue
            find = Find(random.getrandbits(64), feature.name, answer, moment)
            if staged := self._try(find):
                yield staged
                found += 1
                if found == most:
                    return

    # --- both ------------------------------------------------------------------------------

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
