"""What commands say when a package is missing that only they need."""

import re
import shlex
import subprocess
import sys
import tomllib

import pytest

from harness.cli import main
from harness.core import requirements
from tests.documents import ROOT, read

PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("psycopg", "this needs psycopg, which is not installed: pip install 'psycopg[binary]"),
        ("multipart.multipart", "this needs multipart, which is not installed: pip install "),
        ("httpx", "this needs httpx, which is not installed: pip install 'httpx"),
        ("harness.no_such_part", ""),
        ("no_such_module", ""),
    ],
)
def test_a_missing_module_is_explained_where_an_extra_brings_it(module, expected):
    found = requirements.explain(ModuleNotFoundError(f"No module named {module!r}", name=module))
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_a_missing_package_is_not_a_fault_of_the_harness(monkeypatch, capsys):
    def fail(*_):
        raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")

    monkeypatch.setattr("harness.cli.verify.VERIFY.main", fail)
    assert main(["verify", "x.gtp"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "pip install 'psycopg[binary]" in err
    assert "the harness itself failed" not in err


def test_each_extra_that_code_names_has_packages_and_no_code_names_an_index():
    sources = "".join(map(read, (ROOT / "harness").rglob("*.py")))
    named = set(re.findall(r'requirements\.require\([^)]*?, "(\w+)", ["*]', sources))
    assert named == {"client", "cluster", "fuzz", "grade", "postgresql", "service"}
    assert named <= set(PROJECT["optional-dependencies"])
    assert not re.search(r"pip install '?gtp-harness", sources)


# As if nothing of the extras were installed; a service has its own.
_WITHOUT_EXTRAS = """
import sys

for name in ("cryptography", "distributed", "httpx", "hypothesis", "jinja2", "markupsafe",
             "psycopg", "sqlalchemy"):
    sys.modules[name] = None
from harness.cli import COMMANDS, find_command

for name in sorted(COMMANDS, key="match".__eq__):
    assert "numpy" not in sys.modules, name  # 90 ms, which ratings of a match need
    find_command(name).parser()
import harness.declared.program_process, harness.generating.test_production
import harness.grading.auditing.audit
del sys.modules["sqlalchemy"]
import harness.grading.attempts.attempt_runner
for name in ("cryptography", "jinja2", "markupsafe"):  # a service has them
    del sys.modules[name]
import harness.service.app
"""


@pytest.mark.long(2)
@pytest.mark.processes
def test_help_and_a_service_need_no_other_extra():
    words = [sys.executable, "-c", _WITHOUT_EXTRAS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


_BASE_ONLY = """
import sys

sys.modules |= dict.fromkeys(("jinja2", "markupsafe", "sqlalchemy"))
from harness.cli import main

sys.exit(main(sys.argv[1:]))
"""
_HINT = "sqlalchemy: pip install 'sqlalchemy>=2.0.37'"


@pytest.mark.processes
@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("run 'gtp-oracle gtp' @go-scoring/komi", 0, ""),
        ("run --junit out.xml --json out.json 'gtp-oracle gtp' @go-scoring/komi", 0, ""),
        ("run --history runs.sqlite --output out 'gtp-oracle gtp' @go-scoring/komi", 0, ""),
        ("match --games 2 --size 2 --output out 'gtp-oracle gtp' 'gtp-oracle gtp'", 0, ""),
        ("gradescope --assignment java-go --public-only", 0, ""),
        ("grade . --assignment go-scoring", 2, f"grade needs {_HINT}"),
        ("ledger check .", 2, f"ledger needs {_HINT}"),
        ("bank add ledger.sqlite", 2, f"bank add needs {_HINT}"),
        ("admin people --data .", 2, "the service needs jinja2: pip install "),
        ("prune --data .", 2, "the service needs jinja2: pip install "),
    ],
)
def test_only_what_has_a_ledger_needs_an_extra(line, status, said, tmp_path):
    (tmp_path / "ledger.sqlite").touch()
    words = [sys.executable, "-c", _BASE_ONLY, *shlex.split(line)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert (tmp_path / "out" / "index.html").exists() is ("--output" in line)
    assert not said or (said in done.stderr and done.stderr.count("\n") == 1)
