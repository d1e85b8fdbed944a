"""``doctor --attack`` at one level, with the attacks that decide something there.

``python -m tests.harness.sandbox_attacks LEVEL``. Channels that a level does not stop, or of which
nothing is left when the next box looks, decide nothing. At level 1 only those are sent that are
not stopped as at level 3: there the same filter of system calls stops the others, in any language.
"""

from __future__ import annotations

import sys
from functools import partial

from harness.cli import machine
from harness.sandbox.redteam import referee
from harness.sandbox.redteam.attack_table import ROSTER, Attack


def decides(attack: Attack, level: int) -> bool:
    """Whether an attack is to be sent at a level."""
    if attack.receiver:
        return level == 3 and not attack.layer[level].startswith("nothing")
    is_filtered = attack.layer[1] == attack.layer[3] == "seccomp"
    return level == 3 or not (is_filtered or attack.source in ("java", "javac"))


def deciding(level: int) -> tuple[Attack, ...]:
    """Return the attacks that are sent at a level."""
    return tuple(attack for attack in ROSTER if decides(attack, level))


def main(level: int) -> int:
    """Send them, and print what ``doctor`` says."""
    machine.ROSTER = deciding(level)
    referee.play_at_once = partial(  # type: ignore[assignment]
        referee.play_at_once, attacks=machine.ROSTER
    )
    return machine.DOCTOR.main(["--attack", "--level", str(level)])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
