"""The assignments that ship, as parameters of tests that go through all their case files."""

from oracle.mistakes import ASSIGNMENTS
from tests.tiers import long_if

# Those with the most tests take half a second each.
SOME_LONG = [
    long_if(name.startswith(("go-", "gomoku-")), name, seconds=0.5) for name in ASSIGNMENTS
]
