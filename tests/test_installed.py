"""The package as the README's first command installs it: the command works, and nothing lacks."""

import email
import email.message
import filecmp
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.consoles import shell
from tests.documents import README, ROOT, blocks, read
from tests.harness.spoilt_submissions import write

# Together: they share what takes seconds to make.
pytestmark = [pytest.mark.processes, pytest.mark.long(30)]

RUN, SHOWN = (blocks(read(README), language)[0].strip() for language in ("sh", "text"))
# What is not checked in, and what a run leaves behind.
LEAVINGS = (".git", ".venv", ".tox", ".*_cache", "__pycache__", ".hypothesis")


class Installed(NamedTuple):
    """A fresh checkout in which the README's first command was run, and what it said."""

    checkout: Path
    done: subprocess.CompletedProcess[str]

    @property
    def site(self) -> Path:
        (found,) = self.checkout.glob(".venv/lib/python3*/site-packages")
        return found

    def run(self, program: str, *words: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run an installed program."""
        path = self.checkout / ".venv" / "bin" / program
        how |= {"capture_output": True, "text": True, "timeout": 300}
        return subprocess.run([path, *words], check=False, **how)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    room = tmp_path_factory.mktemp("installed")
    room.chmod(0o755)
    leavings = shutil.ignore_patterns(*LEAVINGS)
    checkout = Path(shutil.copytree(ROOT, room / "checkout", ignore=leavings))
    pip = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    # Little of it is run here, and what is compiles itself: half of the time.
    pip |= {"PIP_NO_COMPILE": "1", "PYTHONPATH": ""}
    return Installed(checkout, shell(RUN, checkout, **pip))


def test_first_command_works_on_a_fresh_checkout(installed: Installed) -> None:
    # pip may have had something to say before
    done = installed.done
    assert (done.returncode, done.stdout.strip()[-len(SHOWN) :]) == (0, SHOWN)


@pytest.mark.parametrize("folder", ["oracle", "harness", "cases"])
def test_every_file_is_there(folder: str, installed: Installed) -> None:
    source = ROOT / folder
    target = installed.site / ("harness/cases" if folder == "cases" else folder)
    names = sorted(
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    assert names
    assert filecmp.cmpfiles(source, target, names, shallow=False) == (names, [], [])


ADAPTED = [
    ("gosensei", "with-make", "c_tools"),
    pytest.param("java-go", "static", "java", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("key", "right", "tools"), ADAPTED)
def test_an_assignment_that_ships_is_checked(
    key: str, right: str, tools: str, installed: Installed, tmp_path: Path, request
) -> None:
    """With its case files, and with the adapter that runs beside the student's program."""
    request.getfixturevalue(tools)
    write(key, right, tmp_path)
    environment = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1", "NO_COLOR": "1"}
    words = ("check", "--assignment", key)
    done = installed.run("gtp-harness", *words, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "nothing wrong was found" in done.stdout


def test_cases_that_ship_are_run_by_name_from_anywhere(
    installed: Installed, tmp_path: Path
) -> None:
    """Without a PATH: the oracle's program lies beside the harness's."""
    words = ("run", "gtp-oracle", "@go-scoring/public")
    done = installed.run("gtp-harness", *words, cwd=tmp_path, env={"PATH": ""})
    assert (done.returncode, done.stderr) == (0, "4 files: 18 tests, 18 passed\n"), done.stdout


# --- for a package index ------------------------------------------------------------------------


def read_metadata(installed: Installed) -> email.message.Message:
    (path,) = installed.site.glob("gtp_harness-*.dist-info/METADATA")
    return email.message_from_string(path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_an_index_would_take_the_wheel(tmp_path: Path) -> None:
    for words in (
        ["pip", "wheel", "-q", "--no-deps", "--wheel-dir", tmp_path, ROOT],
        ["twine", "check", "--strict", tmp_path / "*.whl"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_link_and_picture_of_the_long_description_has_an_address(
    installed: Installed,
) -> None:
    found = read_metadata(installed)
    text = found.get_payload()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    readme = read(README)
    links = re.compile(r"\]\(([^)\s]+)\)")
    near = [one for one in links.findall(readme) if (ROOT / one.partition("#")[0]).exists()]
    assert near
    assert not re.findall(r"!\[", prose)
    assert set(links.findall(prose)) == {one for one in links.findall(readme) if one not in near}
    code = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    assert code == re.findall(r"^```.*?^```$", readme, re.MULTILINE | re.DOTALL)


def test_the_changelog_tells_of_this_version(installed: Installed) -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (first, *_) = re.findall(r"^## ([\d.]+)", log, re.MULTILINE)
    assert first == read_metadata(installed)["Version"]
