"""The package as it is installed, not as it lies in a checkout: the wheel lacks nothing."""

import email
import email.message
import filecmp
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.spoilt_submissions import write

# Together: they share what takes seconds to make.
pytestmark = [pytest.mark.processes, pytest.mark.long(15)]

ROOT = Path(__file__).parent.parent
LEAVINGS = shutil.ignore_patterns(".*", "__pycache__", "tests")


@pytest.fixture(scope="module")
def installed_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ``checkout``, its wheel in ``dist``, and a ``site`` that has it."""
    room = tmp_path_factory.mktemp("installed")
    room.chmod(0o755)
    checkout = shutil.copytree(ROOT, room / "checkout", ignore=LEAVINGS)
    python("-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", room / "dist", checkout)
    (wheel,) = (room / "dist").iterdir()
    python("-m", "pip", "install", "-q", "--no-deps", "--target", room / "site", wheel)
    return room


def python(*words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def harness(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(site), "PYTHONUTF8": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("folder", ["oracle", "harness", "cases"])
def test_every_file_is_there(folder: str, installed_site: Path) -> None:
    source = installed_site / "checkout" / folder
    target = installed_site / "site" / ("harness/cases" if folder == "cases" else folder)
    names = sorted(p.relative_to(source).as_posix() for p in source.rglob("*") if p.is_file())
    assert names
    assert filecmp.cmpfiles(source, target, names, shallow=False) == (names, [], [])


ADAPTED = [("gosensei", "with-make", "c_tools"), ("java-go", "static", "java")]


@pytest.mark.parametrize(("key", "right", "tools"), ADAPTED)
def test_an_assignment_that_ships_is_checked(
    key: str, right: str, tools: str, installed_site: Path, tmp_path: Path, request
) -> None:
    """With its case files, and with the adapter that runs beside the student's program."""
    request.getfixturevalue(tools)
    write(key, right, tmp_path)
    done = harness(installed_site / "site", tmp_path, "check", "--assignment", key)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "nothing wrong was found" in done.stdout


def test_cases_that_ship_are_run_by_name_from_anywhere(
    installed_site: Path, tmp_path: Path
) -> None:
    """Without a PATH: the oracle's program lies beside the harness's."""
    done = subprocess.run(
        [
            installed_site / "site" / "bin" / "gtp-harness",
            "run",
            "gtp-oracle",
            "@go-scoring/public",
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed_site / "site"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "4 files: 18 tests, 18 passed\n"), done.stdout


# --- for a package index ------------------------------------------------------------------------


def read_metadata(installed: Path) -> email.message.Message:
    (path,) = (installed / "site").glob("gtp_harness-*.dist-info/METADATA")
    return email.message_from_string(path.read_text(encoding="utf-8"))


def test_an_index_would_take_the_wheel(installed_site: Path) -> None:
    (wheel,) = (installed_site / "dist").iterdir()
    python("-m", "twine", "check", "--strict", wheel)


def test_every_link_and_picture_of_the_long_description_has_an_address(
    installed_site: Path,
) -> None:
    found = read_metadata(installed_site)
    text = found.get_payload()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.compile(r"\]\(([^)\s]+)\)")
    near = [one for one in links.findall(readme) if (ROOT / one.partition("#")[0]).exists()]
    assert near
    assert not re.findall(r"!\[", prose)
    assert set(links.findall(prose)) == {one for one in links.findall(readme) if one not in near}
    code = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    assert code == re.findall(r"^```.*?^```$", readme, re.MULTILINE | re.DOTALL)


def test_the_changelog_tells_of_this_version(installed_site: Path) -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (first, *_) = re.findall(r"^## ([\d.]+)", log, re.MULTILINE)
    assert first == read_metadata(installed_site)["Version"]
