"""The container: what is copied into it, and the script that makes it of a bare Debian."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness.cli.gradescope import wheel
from harness.sandbox import landlock
from tests.conftest import program
from tests.harness import small_class, without_namespaces
from tests.harness.small_class import CLASS
from tests.harness.test_grade import marks, of

ROOT = Path(__file__).parents[1]
CONTAINERFILE = (ROOT / "Containerfile").read_text()
INSTALL = ROOT / "container" / "install"


def test_all_that_a_wheel_is_made_of_is_copied_and_no_private_case() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    with (ROOT / "pyproject.toml").open("rb") as file:
        found = tomllib.load(file)
    targets = found["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*targets["packages"], *targets["force-include"], *found["project"]["license-files"]}
    assert kept == {*needed, "README.md", "hatch_build.py", "pyproject.toml", "container"}
    assert "*" in lines and lines.index("cases/*/private") > lines.index("!cases")


def test_the_containerfile_calls_the_script_that_is_there() -> None:
    called = re.findall(
        r"/usr/src/gtp-harness/(\S+) /usr/src/gtp-harness \$PACKAGES", CONTAINERFILE
    )
    assert called == ["container/install"]
    assert INSTALL.stat().st_mode & 0o111


def run_successfully(*words: object) -> str:
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Gives a root its /proc, in a mount namespace that goes with the command.
_PROC = 'mount -t proc proc "$0/proc"; exec "$@"'
DOCKER = (sys.executable, without_namespaces.__file__, "docker")


@pytest.fixture(scope="module")
def debian(tmp_path_factory) -> Path:
    """The root of a bare Debian, the one that the Containerfile begins with."""
    debootstrap = program("debootstrap")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root may chroot, where mounts are not refused")
    if not landlock.abi():
        pytest.skip("no level is left: this kernel has no Landlock")
    (release,) = re.findall(r"debian:(\w+)-slim", CONTAINERFILE)
    root = tmp_path_factory.mktemp("debian")
    root.chmod(0o755)
    run_successfully("unshare", "-m", debootstrap, "--variant=minbase", release, root)
    return root


@pytest.mark.slow
@pytest.mark.processes
def test_a_class_is_graded_in_a_bare_debian_after_the_script(debian: Path) -> None:
    """Without namespaces, as in Docker. pip in the root gets its packages from a folder."""
    house = debian / "wheels"
    house.mkdir()
    name, content = wheel()
    (house / name).write_bytes(content)
    fetch = ["-m", "pip", "download", "-q", "--python-version=3.11", "--only-binary=:all:"]
    run_successfully(sys.executable, *fetch, "-d", house, f"{house / name}[fuzz,grade]")
    (debian / "install").write_bytes(INSTALL.read_bytes())
    inside = ("unshare", "-m", "sh", "-c", _PROC, debian)
    offline = ("env", "-i", "PATH=/usr/bin:/usr/sbin", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/wheels")
    run_successfully(
        *inside, "chroot", debian, *offline, "sh", "/install", f"/wheels/{name}", "make"
    )

    room = small_class.make(debian / "work", CLASS[:4])
    words = ("grade", "/work/submissions", "--assignment", "/work/counting", "--no-images")
    run = ("env", "-i", "PATH=/usr/local/bin:/usr/bin", "gtp-harness", *words)
    run_successfully(*inside, *DOCKER, "chroot", debian, *run, "--output", "/work/out")
    found = marks(room)
    assert [of(one, found) for one in CLASS[:4]] == [one.mark for one in CLASS[:4]]
    assert "level 1" in (room / "out" / "class.html").read_text()
    assert (debian / "usr/bin/make").exists()
