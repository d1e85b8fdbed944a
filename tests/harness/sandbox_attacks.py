"""``doctor --attack --level 1``, with the attacks that level 1 stops in a way of its own.

``python -m tests.harness.sandbox_attacks``. The others are sent at level 3: the same filter of
system calls stops them, in any language; or no level does, as with most channels.
"""

from __future__ import annotations

import sys
from functools import partial

from harness.cli import machine
from harness.sandbox.redteam import referee
from harness.sandbox.redteam.attack_table import ROSTER, Attack

LEVEL = 1


def is_stopped_otherwise(attack: Attack) -> bool:
    """Whether what stops an attack at level 1 is not proved at level 3."""
    is_filtered = attack.layer[LEVEL] == attack.layer[3] == "seccomp"
    return not (is_filtered or attack.receiver or attack.source in ("java", "javac"))


OWN = tuple(filter(is_stopped_otherwise, ROSTER))


if __name__ == "__main__":
    machine.ROSTER = OWN
    referee.play_at_once = partial(referee.play_at_once, attacks=OWN)  # type: ignore[assignment]
    sys.exit(machine.DOCTOR.main(["--attack", "--level", str(LEVEL)]))
