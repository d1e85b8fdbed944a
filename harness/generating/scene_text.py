"""The records that travel while case files are made, chosen scenes as their text, and reports."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.banks.banks import EngineBench
from harness.core.records import CaseFile
from harness.core.text import number_of
from harness.generating.record_reading import Choices, Harvest
from harness.judging.strength import KnownWrong
from harness.specifications.record import Specification
from harness.vocabulary.scenes import FeatureKind, Scene, SceneMoment
from oracle.command_properties import SIZE, PropertyTable
from oracle.mistakes import Mistake


class SceneTest(NamedTuple):
    """A test of a scene: the right answer, why it is right, and what it looks at."""

    command: str
    expression: str
    reason: str
    identity: tuple[object, ...]  # equal for tests that are the same except for a symmetry


class Staged(NamedTuple):
    """A scene with its answers."""

    scene: Scene
    asked: tuple[SceneTest, ...]  # in the order of the steps that ask
    caught: int  # the mistakes that its tests catch, as bits of their places


class SceneRequest(NamedTuple):
    """Request for a set."""

    specification: Specification
    choices: Choices
    sizes: range
    most: int  # tests
    secret: bool  # whether positions are turned, so that nobody knows them from the record
    existing_cases: tuple[CaseFile, ...] = ()  # the set is to complete these
    excluded: tuple[CaseFile, ...] = ()  # and has no test the same as any of these
    only_survivors: bool = False  # take only what catches a mistake these leave alive
    bench: EngineBench | None = None  # engines to be caught beside the mistakes


class ProducedScenes(NamedTuple):
    """A set of scenes, in the order of the file, and how it came about."""

    scenes: tuple[Staged, ...]
    candidates: tuple[Staged, ...]
    left_out: Counter[str]  # reason: scenes
    mistakes: tuple[Mistake, ...]
    other_catches: int  # of the existing cases, as bits
    caught: int  # by these scenes, as bits: of the mistakes, and then of the engines
    engines: tuple[KnownWrong, ...] = ()

    @property
    def survivors(self) -> list[KnownWrong]:
        """The mistakes and engines that nothing catches."""
        done, all_ = self.caught | self.other_catches, (*self.mistakes, *self.engines)
        return [one for place, one in enumerate(all_) if not done >> place & 1]


# --- Chosen scenes as the text of a case file, with comments for a reader ------------------------


_WIDTH = 98


def case_file(
    kind: FeatureKind,
    staged: Sequence[Staged],
    heading: Sequence[str],
    command_properties: PropertyTable,
) -> str:
    """Return the text of a case file: a heading, then each scene with its comments."""
    sentences = {feature.name: feature.sentence for feature in kind.features}
    lines = [f"# {line}" for line in heading]
    number = 10
    for one in staged:
        find = one.scene.find
        lines += ["", *comment(f"{find.feature}: {sentences[find.feature]}.")]
        lines += comment(provenance(find.moment))
        rows = find.moment.position().to_rows()
        lines += (f"# {' '.join(kind.marks[color] for color in row)}" for row in rows)
        lines += commands(one, number, command_properties, with_reasons=True)
        number += 10 * len(one.asked)
    return "\n".join(lines) + "\n"


def files(staged: Sequence[Staged]) -> Mapping[str, str]:
    """Return the board files that the scenes need."""
    return dict(file for one in staged for file in one.scene.files)


def provenance(moment: SceneMoment) -> str:
    """Return the sentence that says where a position comes from."""
    text = moment.origin.sentence
    if not moment.origin.game:
        return f"The position was {text}."
    return f"From {text}, {f'after move {moment.number}' if moment.number else 'at its start'}."


def commands(
    staged: Staged, first_id: int, command_properties: PropertyTable, *, with_reasons: bool = False
) -> Iterator[str]:
    """Yield the lines of a scene's commands and expectations.

    Before each test stands all that leads to it, from a new board on. So a run can continue after
    an engine failed (:mod:`harness.running.restarting`), and a crash costs one test. What was
    asked before is sent, too: an answer may have changed the board, which must show.
    """
    asked = iter(staged.asked)
    done = (command_properties[one.command.partition(" ")[0]] for one in staged.scene.steps)
    # Is the board cleared before anything else is done with it?
    first = next((one for one in done if one.lays or SIZE not in one.sets), None)
    led = [] if first and first.clears else ["clear_board"]
    number = first_id
    for step in staged.scene.steps:
        if step.asked:
            test = next(asked)
            if number > first_id and with_reasons:
                yield ""
                yield "# The same again, for a test of its own."
            yield from led
            yield from comment(test.reason) if with_reasons else ()
            yield f"{number} {test.command}"
            yield f"#? [{test.expression}]"
            number += 10
        led.append(step.command)


def comment(text: str) -> Iterator[str]:
    """Yield a comment of as many lines as it needs."""
    yield from (f"# {line}" for line in textwrap.wrap(text, _WIDTH, break_long_words=False))


# --- The report on what a generated set of scenes covers, and what it does not -------------------

_USED = ("files", "games", "used", "positions")


def report(request: SceneRequest, harvest: Harvest, result: ProducedScenes) -> Iterator[str]:
    """Yield the lines of the report."""
    counts = harvest.counts
    if counts["files"]:
        files, games = (number_of(counts[one], one[:-1]) for one in ("files", "games"))
        yield f"{files}, {games}, {counts['used']} used, {counts['positions']} positions looked at"
        rest = Counter({name: number for name, number in counts.items() if name not in _USED})
        yield from _section("Not used", rest)
        yield from _section("Odd, but used", harvest.notes)
    else:
        yield "no game was read: all positions are made"
    yield from _features(request, harvest, result)
    sizes = Counter(one.scene.find.moment.size for one in result.scenes)
    if sizes:
        yield "sizes: " + ", ".join(f"{size} ({sizes[size]})" for size in sorted(sizes))
    yield from _section("Left out", result.left_out)
    tests, scenes = sum(len(one.asked) for one in result.scenes), len(result.scenes)
    total, engines = len(result.mistakes), len(result.engines)
    alive = [one.name for one in result.survivors]
    away = sum(one in result.engines for one in result.survivors)
    caught = total - (len(alive) - away)
    yield f"\n{number_of(tests, 'test')} in {number_of(scenes, 'scene')}"
    yield f"kill rate {int(1000 * caught / total) / 10:g} % ({caught} of {total} mistakes)"
    if engines:
        yield f"{engines - away} of {number_of(engines, 'engine')} caught"
    yield from describe_shares(result.other_catches, result.caught, alive)


def _section(heading: str, counts: Counter[str]) -> Iterator[str]:
    if counts:
        yield f"\n{heading}:"
        yield from (f"{number:6}  {name}" for name, number in counts.most_common())


def _features(request: SceneRequest, harvest: Harvest, result: ProducedScenes) -> Iterator[str]:
    """Yield a row for each feature: positions that had it, and the scenes and tests chosen."""
    names = [feature.name for feature in request.specification.kind.features]
    usable = Counter(one.scene.find.feature for one in result.candidates)
    width = max(map(len, names))
    missing = []
    yield f"\n{'':{width}}  {'in games':>8}  {'usable':>6}  {'chosen':>6}  {'made':>4}  answers"
    for name in names:
        chosen = [one.scene.find for one in result.scenes if one.scene.find.feature == name]
        made = sum(not one.moment.origin.game for one in chosen)
        answers = ", ".join(sorted({one.answer for one in chosen}))
        missing += [] if chosen else [name]
        yield (
            f"{name:{width}}  {harvest.seen[name]:8}  {usable[name]:6}"
            f"  {len(chosen):6}  {made:4}  {answers}"
        ).rstrip()
    absent = [name for name in names if not harvest.seen[name]]
    if harvest.counts["games"] and absent:
        yield f"no position of a game had: {', '.join(absent)}"
    if missing:
        yield f"not in the set: {', '.join(missing)}"


def describe_shares(other_catches: int, catches: int, survivors: Sequence[str]) -> Iterator[str]:
    """Yield what cases that were given and new ones catch (bitmasks), and what neither does."""
    if other_catches:
        beside, alone = other_catches.bit_count(), catches.bit_count()
        yield f"of these {beside} by the cases given already, {alone} by this set alone"
    if survivors:
        yield f"not caught: {', '.join(survivors)}"
