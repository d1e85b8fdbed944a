"""The threat model is true: every attack of the red team stands in it, and nothing else."""

import re
from pathlib import Path

from harness.sandbox import levels
from harness.sandbox.redteam.attack_table import ROSTER
from tests.harness.sandbox_mutants import MUTANTS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(title: str, columns: int = 3) -> list[list[str]]:
    """Return the cells of the table of a section that has so many columns, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if len(row) == columns][2:]


def test_every_attack_stands_in_the_table_and_the_other_way_round() -> None:
    tables = (rows("What the sandbox holds"), rows("Channels between runs", 4))
    named = [
        name for table in tables for row in table for name in re.findall("`([^`]+)`", row[-1])
    ]
    assert sorted(named) == sorted(attack.name for attack in ROSTER)


def test_each_channel_that_remains_has_a_rate() -> None:
    """And one that is held everywhere has none."""
    leaks = {attack.name: attack.leaks for attack in ROSTER if attack.receiver}
    for channel, held, rate, attacks in rows("Channels between runs", 4):
        levels_ = {level for name in re.findall("`([^`]+)`", attacks) for level in leaks[name]}
        assert (rate == "0") == (not levels_), channel
        assert (held == "nothing") == (levels_ == {3, 2, 1}), channel
        assert re.search(r"\b[1-9][\d,]*\b", rate) or not levels_, channel


def test_every_layer_is_told_with_its_attack_and_its_second_lock() -> None:
    told = [
        (layer, int(level), attack.strip("`"), () if also == "–" else tuple(also.split(" and ")))
        for layer, levels_, attack, also in rows("What the sandbox holds", 4)
        for level in levels_.split(", ")
    ]
    assert sorted(told) == sorted(mutant[:4] for mutant in MUTANTS)


def test_every_claim_names_an_attack() -> None:
    claims = rows("What the sandbox holds")
    assert len(claims) > 15
    assert all(all(row) for row in claims)


def test_every_other_claim_names_a_test() -> None:
    claims = rows("What else is held")
    for claim, _, tests in claims:
        named = re.findall("`([^`]+)`", tests)
        assert named, claim
        for name in named:
            assert (ROOT / name).is_file(), name
            assert "def test_" in (ROOT / name).read_text(encoding="utf-8"), name


def test_every_threat_to_the_service_names_tests_that_are_there() -> None:
    threats = rows("The service")
    assert len(threats) > 20
    for threat, held, tests in threats:
        assert held, threat
        for path, names in re.findall(r"`(tests/[\w/]+\.py)`: ((?:`\w+`(?:, )?)+)", tests):
            text = (ROOT / path).read_text(encoding="utf-8")
            for name in re.findall(r"\w+", names):
                assert f"def {name}(" in text, f"{threat}: {path} has no {name}"
        assert tests.count("`tests/") and not re.sub(r"`[^`]+`|[:;, ]", "", tests), threat


def test_what_is_not_held_is_told() -> None:
    """Each attack that a level cannot hold, and each gap that results speak of."""
    told = section("What is not held")
    leaks = {attack.name for attack in ROSTER if attack.leaks and not attack.receiver}
    assert leaks == set(re.findall(r"`(\w+)`", told)) & {attack.name for attack in ROSTER}
    assert "#channels-between-runs" in told
    for level in levels.GAPS:
        assert f"Level {level} shows" in told
