"""An environment with compiled packages, built once and sent to workers: the same results."""

import json
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from harness.assignments import workspace
from tests.cluster.clusters import cluster
from tests.cluster.test_carrying import ATTENTION, OK, grade, marks, strip_measurements
from tests.harness import environments
from tests.harness.test_sandbox_boxes import needs
from tests.harness.umasks import strict_umask

pytestmark = [pytest.mark.processes, pytest.mark.long(60)]

ENGINE = """\
import sys
import numpy

print("with", numpy.__version__, numpy.__file__, sys.prefix, file=sys.stderr)
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words and words[0].isdigit() else ""
    answer = ""
    if words[0] == "twice":
        n = int(words[1])
        answer = str(int(round(float(numpy.linalg.solve([[0.5, 0.0], [0.0, 1.0]], [n, 1])[0]))))
    print(f"={number} {answer}\\n", flush=True)
    if words[0] == "quit":
        break
"""


def write_wheel(folder: Path, name: str) -> None:
    """Write a package of this environment as a wheel, compiled modules and all."""
    found = metadata.distribution(name)
    files = [one for one in found.files or () if ".." not in one.parts and one.suffix != ".pyc"]
    tag = next(line[5:] for line in found.read_text("WHEEL").splitlines() if line[:4] == "Tag:")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{found.version}-{tag}.whl", "w") as wheel:
        for one in files:
            if "tests" not in one.parts:
                wheel.write(one.locate(), str(one))


@pytest.fixture(scope="module")
def room():
    """A course whose engines need NumPy, with its environment built in ``cache``."""
    needs(3)
    with workspace.workspace() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        course = environments.make(folder / "course", "--no-index\n--find-links wheels\nnumpy\n")
        write_wheel(course / "counting" / "wheels", "numpy")
        environments.declare(course, python=f'"3.{sys.version_info.minor}"')
        environments.hand_in(course, ENGINE)
        words = ["env", "--assignment", str(course / "counting")]
        subprocess.run([sys.executable, "-m", "harness.cli", *words], check=True)
        yield course


def list_fetched(folder, machine):
    """The environments that a worker has fetched."""
    return [
        path for path in (folder / machine / "cache" / "environments").iterdir() if path.is_dir()
    ]


@pytest.mark.slow
def test_one_that_is_sent_gives_the_results_of_one_that_was_built_there(room, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(room.parent / "cache"))
    with strict_umask(), cluster(room.parent / "c", "one", "two") as found:
        assert grade(room, "--scheduler", found.address) in (OK, ATTENTION)
    assert grade(room, output="alone") in (OK, ATTENTION)
    assert list(marks(room).values()) == ["7"]
    assert marks(room) == marks(room, "alone")
    assert strip_measurements(room) == strip_measurements(room, "alone")
    (text, *_) = strip_measurements(room).values()
    assert "/environment/lib/python3" in json.loads(text)["stderr"]
    assert [path.name for one in ("one", "two") for path in list_fetched(room.parent / "c", one)]
