"""The threat model is true: each claim has attacks or tests, and each attack a claim."""

import re
import tomllib

from docs.reference_pages import EVIDENCE
from harness.sandbox import levels
from harness.sandbox.redteam.attack_table import ROSTER
from tests.documents import ROOT, read, section

FOUND = tomllib.loads(read(EVIDENCE))
# Under which heading the claims of each part stand.
HEADINGS = {
    "sandbox": "What the sandbox holds",
    "channels": "Channels between runs",
    "others": "What else is held",
}


def rows(part: str) -> list[list[str]]:
    """Return the cells of a part's table, without its head."""
    lines = [line for line in section(HEADINGS[part]).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines][2:]


def test_every_claim_has_its_evidence_and_the_other_way_round() -> None:
    for part in HEADINGS:
        assert all(all(row) for row in rows(part))
        assert [row[0] for row in rows(part)] == list(FOUND[part])
        assert all(FOUND[part].values())


def test_every_attack_tries_a_claim() -> None:
    named = [
        name for part in ("sandbox", "channels") for one in FOUND[part].values() for name in one
    ]
    assert sorted(named) == sorted(attack.name for attack in ROSTER)


def test_each_channel_that_remains_has_a_rate() -> None:
    """And one that is held everywhere has none."""
    leaks = {attack.name: attack.leaks for attack in ROSTER if attack.receiver}
    for channel, held, rate in rows("channels"):
        levels_ = {level for name in FOUND["channels"][channel] for level in leaks[name]}
        assert (rate == "0") == (not levels_), channel
        assert (held == "nothing") == (levels_ == {3, 2, 1}), channel
        assert re.search(r"\b[1-9][\d,]*\b", rate) or not levels_, channel


def test_every_threat_says_what_holds_it() -> None:
    assert len({one["threat"] for one in FOUND["service"]}) == len(FOUND["service"]) > 30
    assert all(one["held"] and one["tests"] for one in FOUND["service"])


def test_every_test_that_is_named_is_there() -> None:
    named = [*FOUND["others"].values(), *(one["tests"] for one in FOUND["service"])]
    for one in (test for tests in named for test in tests):
        path, _, name = one.partition("::")
        assert f"def {name or 'test_'}" in read(ROOT / path), one


def test_what_is_not_held_is_told() -> None:
    """Each attack that a level cannot hold, and each gap that results speak of."""
    told = section("What is not held")
    leaks = {attack.name for attack in ROSTER if attack.leaks and not attack.receiver}
    assert leaks == set(re.findall(r"`(\w+)`", told)) & {attack.name for attack in ROSTER}
    assert "#channels-between-runs" in told
    for level in levels.GAPS:
        assert f"Level {level} shows" in told
