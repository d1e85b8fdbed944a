"""Constants that decide, and what holds where nobody says anything: a change must be meant.

A limit that is a little larger, a word of a table or a default that is another one breaks nothing
at once. So the golden files hold the constants and the defaults of the modules that decide marks,
verdicts and sandboxes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import golden
from tests.mutation.modules import ROOT

GOLDEN = Path(__file__).with_name("golden")


@pytest.mark.processes
@pytest.mark.parametrize("kind", ["constants", "defaults"])
def test_what_decides_is_as_it_was_meant(kind):
    words = [sys.executable, "-m", "tests.harness.constant_listing", kind]
    listed = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    golden.check(GOLDEN / f"deciding-{kind}.txt", listed.decode())
