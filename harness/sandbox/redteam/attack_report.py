"""Findings of the red team, as text and for JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator

from harness.sandbox.redteam import scene
from harness.sandbox.redteam.attack_table import Attack
from harness.sandbox.redteam.referee import AttackResult


def is_held(finding: AttackResult) -> bool:
    """Whether an attack was held, or is one that its level is known not to hold."""
    return not finding.escapes or finding.level in finding.attack.leaks


def is_stopped(finding: AttackResult) -> bool:
    """Whether an attack was tried, and held."""
    return not finding.escapes and not finding.untested


def layer(finding: AttackResult) -> str:
    """Return the layer that is to stop an attack."""
    return finding.attack.layer[finding.level]


def text(attacks: dict[int, list[AttackResult]], roster: Iterable[Attack]) -> Iterator[str]:
    """Yield all lines about attacks on some levels."""
    for level, findings in attacks.items():
        yield f"\nAttacks on level {level}: an engine or a build step that tries to"
        for finding in findings:
            attack = finding.attack
            if finding.untested:
                yield f"  untried  {attack.title:62}{finding.untested}"
            elif not finding.escapes:
                by = str(finding.end.hit) if finding.end.hit else layer(finding)
                yield f"  held     {attack.title:62}{by}"
            else:
                known = " (this level cannot hold it)" if level in attack.leaks else ""
                yield f"  ESCAPED  {attack.title:62}{'; '.join(finding.escapes)}{known}"
        held = sum(map(is_stopped, findings))
        yield f"{held} of {len(findings)} held at level {level}{_count_untested(findings)}."
    for attack in roster:
        if missing := scene.missing_programs(attack):
            yield f"  left out {attack.title:61}{' and '.join(missing)} not installed"
    yield from _layers(attacks)
    if attacks:
        yield from _bandwidths(attacks)
        yield from conclusion([one for findings in attacks.values() for one in findings])


def _bandwidths(attacks: dict[int, list[AttackResult]]) -> Iterator[str]:
    """Yield a table: bits a second that get through each channel that levels do not hold."""
    rows: dict[str, dict[int, str]] = {}
    for level, findings in attacks.items():
        for one in findings:
            if one.bandwidth:
                rows.setdefault(one.attack.title, {})[level] = f"{one.bandwidth:,g}"
    if rows:
        yield from _table("bits a second that get through, at least", attacks, rows)


def _table(heading: str, levels: Iterable[int], rows: dict[str, dict[int, str]]) -> Iterator[str]:
    yield f"\n{heading:62}" + "".join(f"level {level:<4}" for level in levels).rstrip()
    for title, cells in rows.items():
        columns = (cells.get(level, "-") for level in levels)
        yield f"  {title:60}" + "".join(f"{cell:<10}" for cell in columns).rstrip()


def conclusion(findings: list[AttackResult]) -> Iterator[str]:
    """Yield what it comes to: a line, and another one if that is bad."""
    held = sum(map(is_stopped, findings))
    bad = sorted({finding.level for finding in findings if not is_held(finding)})
    known = sum(bool(one.escapes) for one in findings if is_held(one))
    told = f", {known} not: their level cannot hold them (docs/threat-model.md)" if known else ""
    yield f"\n{held} of {len(findings)} attacks held{told}{_count_untested(findings)}."
    if bad:
        where = " and ".join(map(str, bad))
        yield f"Do not run programs that you do not trust at level {where}: attacks ESCAPED there."


def _count_untested(findings: Iterable[AttackResult]) -> str:
    number = sum(bool(finding.untested) for finding in findings)
    return f", {number} could not be tried" if number else ""


def _layers(attacks: dict[int, list[AttackResult]]) -> Iterator[str]:
    """Yield a table: how many attacks each layer holds on each level."""
    rows: dict[str, dict[int, str]] = {}
    for level, findings in attacks.items():
        for name, count in Counter(map(layer, filter(is_stopped, findings))).items():
            rows.setdefault(name, {})[level] = str(count)
    yield from _table("attacks held by", attacks, dict(sorted(rows.items())))


def describe_left_out(attacks: Iterable[Attack]) -> list[dict[str, object]]:
    """Return what JSON has of the attacks that cannot be run here."""
    return [
        {"attack": attack.name, "missing": list(missing)}
        for attack in attacks
        if (missing := scene.missing_programs(attack))
    ]


def as_json(finding: AttackResult) -> dict[str, object]:
    """Return what JSON has of one attack."""
    attack = finding.attack
    return {
        "attack": attack.name,
        "title": attack.title,
        "at": attack.at,
        "level": finding.level,
        "held": is_stopped(finding),
        "seconds": finding.seconds,
        "layer": layer(finding),
        "limit": str(finding.end.hit) if finding.end.hit else None,
        "escapes": list(finding.escapes),
        "known": finding.level in attack.leaks,
        "bandwidth": finding.bandwidth,
        "untested": finding.untested or None,
    }
