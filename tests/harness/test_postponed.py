"""Modules that a command imports and does not execute."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.postponed import postpone

pytestmark = pytest.mark.processes

ENGINES = Path(__file__).resolve().parents[1] / "engines"


def print_result(code: str, *words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_postponed_module_is_executed_when_something_is_taken_from_it():
    code = (
        "from harness.postponed import postpone; postpone('pexpect', 'traceback', 'no_such');"
        " import sys; print('no_such' in sys.modules, 'ptyprocess' in sys.modules);"
        " import pexpect.spawnbase; print('ptyprocess' in sys.modules);"
        " import pexpect, traceback; print(pexpect.spawn.__name__, 'ptyprocess' in sys.modules);"
        " from traceback import format_exc; print(traceback.format_exc is format_exc);"
        " print(type(pexpect) is type(sys), hasattr(pexpect, 'nothing'))"
    )
    assert " ".join(print_result(code)) == "False False False spawn True True True False"


def test_what_was_imported_before_stays():
    before = sys.modules["pytest"]
    postpone("pytest")
    assert sys.modules["pytest"] is before


def test_a_run_takes_nothing_from_them(tmp_path):
    case = tmp_path / "case.gtp"
    case.write_text("1 name\n#? [name]\n")
    code = (
        "import sys; from harness.cli import main; status = main(sys.argv[1:]);"
        " print(status, *{'ptyprocess', 'tokenize'} & set(sys.modules))"
    )
    engine = f"{sys.executable} {ENGINES / 'in_order.py'}"
    assert print_result(code, "run", engine, str(case))[-1] == "0"
