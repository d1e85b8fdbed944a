"""The report on what a generated set covers, and what it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.generating.record_reading import Harvest
from harness.generating.scene_production import ProducedScenes, SceneRequest
from harness.text import number_of

_USED = ("files", "games", "used", "positions")


def report(request: SceneRequest, harvest: Harvest, produced: ProducedScenes) -> Iterator[str]:
    """Yield the lines of the report."""
    yield from _read(harvest)
    yield from _features(request, harvest, produced)
    yield from _size_lines(produced)
    yield from _section("Left out", produced.left_out)
    yield from _strength(produced)


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


def _features(request: SceneRequest, harvest: Harvest, produced: ProducedScenes) -> Iterator[str]:
    """Yield a row for each feature: positions that had it, and the scenes and tests chosen."""
    width = max(len(feature.name) for feature in request.specification.kind.features)
    yield f"\n{'':{width}}  {'in games':>8}  {'usable':>6}  {'chosen':>6}  {'made':>4}  answers"
    for feature in request.specification.kind.features:
        able = [one for one in produced.candidates if one.scene.find.feature == feature.name]
        taken = [one for one in produced.scenes if one.scene.find.feature == feature.name]
        made = sum(not one.scene.find.moment.origin.game for one in taken)
        answers = ", ".join(sorted({one.scene.find.answer for one in taken}))
        yield (
            f"{feature.name:{width}}  {harvest.seen[feature.name]:8}  {len(able):6}"
            f"  {len(taken):6}  {made:4}  {answers}"
        ).rstrip()
    absent = [
        one.name for one in request.specification.kind.features if not harvest.seen[one.name]
    ]
    if harvest.counts["games"] and absent:
        yield f"no position of a game had: {', '.join(absent)}"
    chosen = {one.scene.find.feature for one in produced.scenes}
    missing = [one.name for one in request.specification.kind.features if one.name not in chosen]
    if missing:
        yield f"not in the set: {', '.join(missing)}"


def _size_lines(produced: ProducedScenes) -> Iterator[str]:
    sizes = Counter(one.scene.find.moment.size for one in produced.scenes)
    if sizes:
        yield "sizes: " + ", ".join(f"{size} ({sizes[size]})" for size in sorted(sizes))


def _strength(produced: ProducedScenes) -> Iterator[str]:
    tests = sum(len(one.asked) for one in produced.scenes)
    scenes = len(produced.scenes)
    total, engines = len(produced.mistakes), len(produced.engines)
    alive = [one.name for one in produced.survivors]
    away = sum(one in produced.engines for one in produced.survivors)
    caught = total - (len(alive) - away)
    yield f"\n{number_of(tests, 'test')} in {number_of(scenes, 'scene')}"
    yield f"kill rate {int(1000 * caught / total) / 10:g} % ({caught} of {total} mistakes)"
    if engines:
        yield f"{engines - away} of {number_of(engines, 'engine')} caught"
    if produced.caught_beside:
        beside, alone = produced.caught_beside.bit_count(), produced.caught.bit_count()
        yield f"of these {beside} by the cases given already, {alone} by this set alone"
    if alive:
        yield f"not caught: {', '.join(alive)}"
