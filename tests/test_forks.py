"""``pytest --forks``: each test is run once and told about, whatever becomes of its process."""

import os
import subprocess
import sys

import pytest

from tests.documents import ROOT

TESTS = """
import os, pytest, warnings

@pytest.fixture(scope="module")
def thing(tmp_path_factory):
    yield
    print("given back")

@pytest.mark.parametrize("number", range(20))
def test_passes(number, thing, tmp_path):
    (tmp_path / "file").touch()

def test_fails(capfd):
    os.system("echo heard")
    assert capfd.readouterr().out == "heard\\n"
    assert 1 == 2, "as told"

def test_dies():
    os._exit(3)

def test_skips():
    pytest.skip("why not")

def test_warns():
    warnings.warn("be warned")
"""
FOUND = "2 failed, 21 passed, 1 skipped"


@pytest.mark.processes
@pytest.mark.parametrize(("more", "found"), [([], FOUND), (["-x"], "stopping after 1 failures")])
def test_what_happens_is_told(tmp_path, more, found):
    (tmp_path / "test_it.py").write_text(TESTS)
    words = [sys.executable, "-m", "pytest", "-p", "tests.forks", "--forks", "3", "-q", *more, "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("GTP_HARNESS_TESTS_PROCESS", None)
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert found in done.stdout
    if not more:
        assert "the process that ran this test died: 3" in done.stdout
        assert "AssertionError: as told" in done.stdout
        assert "UserWarning: be warned" in done.stdout
