"""The count of memory where no control group does it."""

import os
import subprocess

import pytest

from harness.sandbox import memory

pytestmark = pytest.mark.processes


def test_a_process_that_ends_while_its_files_are_listed_holds_nothing(monkeypatch):
    process = subprocess.Popen(["sleep", "60"])
    opened = os.open

    def ends_meanwhile(*arguments, **options):
        descriptor = opened(*arguments, **options)
        process.kill()
        process.wait()
        return descriptor

    monkeypatch.setattr(memory.os, "open", ends_meanwhile)
    assert memory._open_files([process.pid], most=1 << 30) == 0
