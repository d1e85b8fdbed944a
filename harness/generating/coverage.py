"""The report on what a generated set of scenes covers, and what it does not. Pure."""

from collections import Counter
from collections.abc import Iterator

from harness.generating.record_reading import Harvest
from harness.generating.scene_production import ProducedScenes, SceneRequest
from harness.generating.test_production import describe_shares
from harness.text import number_of

_USED = ("files", "games", "used", "positions")


def report(request: SceneRequest, harvest: Harvest, result: ProducedScenes) -> Iterator[str]:
    """Yield the lines of the report."""
    yield from _read(harvest)
    yield from _features(request, harvest, result)
    sizes = Counter(one.scene.find.moment.size for one in result.scenes)
    if sizes:
        yield "sizes: " + ", ".join(f"{size} ({sizes[size]})" for size in sorted(sizes))
    yield from _section("Left out", result.left_out)
    yield from _strength(result)


def _read(harvest: Harvest) -> Iterator[str]:
    counts = harvest.counts
    if not counts["files"]:
        yield "no game was read: all positions are made"
        return
    yield (
        f"{number_of(counts['files'], 'file')}, "
        f"{number_of(counts['games'], 'game')}, {counts['used']} used, {counts['positions']}"
        " positions looked at"
    )
    rest = Counter({name: number for name, number in counts.items() if name not in _USED})
    yield from _section("Not used", rest)
    yield from _section("Odd, but used", harvest.notes)


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


def _strength(result: ProducedScenes) -> Iterator[str]:
    tests = sum(len(one.asked) for one in result.scenes)
    scenes = len(result.scenes)
    total, engines = len(result.mistakes), len(result.engines)
    alive = [one.name for one in result.survivors]
    away = sum(one in result.engines for one in result.survivors)
    caught = total - (len(alive) - away)
    yield f"\n{number_of(tests, 'test')} in {number_of(scenes, 'scene')}"
    yield f"kill rate {int(1000 * caught / total) / 10:g} % ({caught} of {total} mistakes)"
    if engines:
        yield f"{engines - away} of {number_of(engines, 'engine')} caught"
    yield from describe_shares(result.other_catches, result.caught, alive)
