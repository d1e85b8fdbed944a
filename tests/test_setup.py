"""``.ci/setup``: what it installs, and what it says where it may not."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.documents import ROOT

# A machine whose python3 lacks venv until apt-get has brought it. All calls are written down.
LOG = 'echo "${0##*/} $*" >> "$LOG"'
PYTHON = f"""#!/bin/sh
{LOG}
case "$1" in
-c) [ -e "$HAS_VENV" ];;
-m) mkdir -p .venv/bin && cp "$PIP" .venv/bin/pip;;
esac
"""
# Whose configuration is CONFIGURED, and that cannot install what LACKS names.
PIP = f"""#!/bin/sh
{LOG}
case "$1" in
config) echo "$CONFIGURED";;
*) case " $* " in *" $LACKS "*) exit 1;; esac;;
esac
"""
APT = f"""#!/bin/sh
{LOG}
case "$*" in *python3-venv) touch "$HAS_VENV";; esac
"""


class Machine:
    """A folder with the script, and programs that only write down how they were called."""

    def __init__(self, folder: Path, user: int) -> None:
        self.folder, self.log, self.has_venv = folder, folder / "log", folder / "has_venv"
        programs = {"python3": PYTHON, "pip": PIP, "apt-get": APT}
        programs["id"] = f"#!/bin/sh\necho {user}\n"
        for name, text in programs.items():
            self._write(folder / "bin" / name, text)
        self._write(folder / "project/.ci/setup", (ROOT / ".ci/setup").read_text())

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def set_up(self, *packages: str, **variables: str) -> tuple[int, str, list[str]]:
        """Return the exit status, what was said, and what was called to change something."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        variables = {"CONFIGURED": "", "LACKS": "nothing", **variables, "PATH": path}
        variables |= {"LOG": str(self.log), "HAS_VENV": str(self.has_venv)}
        variables |= {"PIP": str(self.folder / "bin/pip")}
        words = [self.folder / "project/.ci/setup", *packages]
        done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
        called = self.log.read_text().splitlines()
        asked = (" -c ", " config list")
        changes = [one for one in called if not any(words in one for words in asked)]
        return done.returncode, done.stderr, changes


MADE = ["python3 -m venv .venv"]
UV = "pip install -q --only-binary=uv tox-uv"
BROUGHT = ["apt-get -qq update", "apt-get -qqy install python3-venv"]


@pytest.mark.processes
@pytest.mark.parametrize(
    ("user", "has_venv", "packages", "called"),
    [
        (1000, True, [], [*MADE, "pip install -q .[grade]"]),
        (1000, True, ["tox"], [*MADE, f"{UV} tox"]),
        (1000, True, ["-e", ".", "tox"], [*MADE, f"{UV} -e . tox"]),
        (0, True, ["a", "b"], [*MADE, "pip install -q a b"]),
        (0, False, [], [*BROUGHT, *MADE, "pip install -q .[grade]"]),
    ],
)
def test_what_is_called(tmp_path, user, has_venv, packages, called):
    machine = Machine(tmp_path, user)
    if has_venv:
        machine.has_venv.touch()
    assert machine.set_up(*packages) == (0, "", called)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("variables", "called"),
    [
        ({"LACKS": "tox-uv"}, [f"{UV} tox", "pip install -q tox"]),
        ({"CONFIGURED": "global.index-url='https://mirror.example'"}, ["pip install -q tox"]),
        ({"CONFIGURED": ":env:.no-index='1'"}, ["pip install -q tox"]),
        ({"CONFIGURED": "global.extra-index-url='file:///more'"}, [f"{UV} tox"]),
    ],
)
def test_tox_stays_with_pip_where_uv_cannot_do_it(tmp_path, variables, called):
    machine = Machine(tmp_path, 1000)
    machine.has_venv.touch()
    assert machine.set_up("tox", **variables) == (0, "", [*MADE, *called])
