"""The autograder for Gradescope: its zip, and what it does in a root that is laid out as theirs.

The root is an ordinary folder with the machine bound into it, without namespaces and with system
calls refused as Docker does: the container that Gradescope runs an autograder in, as root.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

from harness.cli import gradescope, main
from harness.core.errors import SandboxError, UsageError
from harness.sandbox import landlock
from tests.harness import small_class, without_namespaces
from tests.harness.made_class import made_class
from tests.harness.small_class import ENGINE
from tests.harness.test_exports_formats import TEST, TOP, check_members

METADATA = {
    "id": 123456,
    "created_at": "2026-01-28T14:22:32.365935+00:00",
    "assignment": {"due_date": "2026-01-29T23:00:00.000000+00:00", "late_due_date": None},
    "submission_method": "upload",
    "users": [{"email": "student@example.com", "id": 1234, "name": "Student User"}],
    "previous_submissions": [],
}


@pytest.fixture(autouse=True, scope="module")
def _one_wheel():
    """Pack the packages once: it takes most of the time of a zip."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradescope, "wheel", cache(gradescope.wheel))
        yield


def make(room, *options):
    """Make an autograder of the small class's assignment; return the zip's path."""
    small_class.make(room, ())
    path = room / "autograder.zip"
    words = ["gradescope", "--assignment", str(room / "counting"), "-o", str(path)]
    assert main([*words, *options]) == 0
    return path


@pytest.fixture(scope="module")
def autograder_zip(tmp_path_factory):
    """The zip of the small class's assignment."""
    return make(tmp_path_factory.mktemp("zip"))


@pytest.fixture
def autograder(autograder_zip, tmp_path):
    """``/autograder`` as Gradescope makes it, without a submission."""
    return laid_out(autograder_zip, tmp_path / "autograder")


def laid_out(zipped, place):
    for name in ("source", "submission", "results"):
        (place / name).mkdir(parents=True)
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(place / "source")
    shutil.copy(place / "source" / "run_autograder", place)
    (place / "run_autograder").chmod(0o755)
    (place / gradescope.METADATA_FILE).write_text(json.dumps(METADATA))
    return place


def hand_in(autograder, body, readme="Me.\n"):
    shutil.rmtree(autograder / "submission")
    (autograder / "submission").mkdir()
    files = {"engine.py": ENGINE.format(body=body), "readme.txt": readme}
    for name, text in files.items():
        (autograder / "submission" / name).write_text(text)


def results(autograder):
    """Return the document, which is as Gradescope's page "Output Format" has it."""
    found = json.loads((autograder / "results" / "results.json").read_text())
    check_members(found, TOP)
    for test in found["tests"]:
        check_members(test, TEST)
    return found


# --- the zip -----------------------------------------------------------------------------------


def test_the_zip_has_both_scripts_at_its_top_and_is_for_its_owner_alone(autograder_zip):
    assert stat.S_IMODE(autograder_zip.stat().st_mode) == 0o600
    with zipfile.ZipFile(autograder_zip) as archive:
        modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o100755
    assert {"assignment/counting/one.gtp", "assignment/counting/private/three.gtp"} < set(modes)


def test_the_same_makes_the_same_bytes(autograder_zip, tmp_path):
    assert make(tmp_path).read_bytes() == autograder_zip.read_bytes()
    assert gradescope.wheel.__wrapped__() == gradescope.wheel()


def test_private_case_files_travel_with_what_their_commands_name(tmp_path, capsys):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.gtp").write_text("1 twice 4\n#? [8]\n")
    (tmp_path / "one.gtp").write_text("loadsgf games/g.sgf\n2 twice 4\n#? [8]\n")
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "g.sgf").write_text("(;SZ[9])")
    words = [f"--private={tmp_path / name}" for name in ("more", "one.gtp")]
    with zipfile.ZipFile(make(tmp_path, *words)) as archive:
        names = {name for name in archive.namelist() if name.startswith("private/")}
        found = json.loads(archive.read(gradescope.FILE))
    assert names == {"private/1/a.gtp", "private/2/1/one.gtp", "private/2/1/games/g.sgf"}
    assert found["private"] == ["private/1", "private/2/1/one.gtp"]


def test_with_public_ones_alone_no_private_file_travels(tmp_path, capsys):
    with zipfile.ZipFile(make(tmp_path, "--public-only")) as archive:
        assert not [name for name in archive.namelist() if "private" in name]


BAD = [
    (["--private", "nowhere"], "there is no nowhere"),
    (["--private", "x", "--public-only"], "--private and --public-only exclude each other"),
    (["--timeout", "3"], "found '3', expected at least 4 minutes"),
    (["-o", "/dev/null/x.zip"], "cannot make the folder /dev/null: File exists"),
    (["--grade", "/autograder"], "give --assignment: "),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_what_is_wrong_is_said(words, message, tmp_path, monkeypatch, capsys):
    small_class.make(tmp_path, ())
    monkeypatch.chdir(tmp_path)
    assert main(["gradescope", "--assignment", "counting", *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "autograder.zip").exists()


def test_an_assignment_whose_course_folder_is_missing_makes_no_zip(tmp_path, capsys):
    out = tmp_path / "a.zip"
    words = ["gradescope", "--assignment", "go-scoring", "--public-only", "-o", str(out)]
    assert main(words) == 2
    assert "course folder util not found; give it with --overlay" in capsys.readouterr().err
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "board.py").write_text("")
    assert main([*words, "--overlay", str(tmp_path / "course")]) == 0
    with zipfile.ZipFile(out) as archive:
        assert "assignment/go-scoring/util/board.py" in archive.namelist()


def test_setup_installs_what_the_assignment_needs(tmp_path, capsys):
    out = tmp_path / "a.zip"
    words = ["--assignment", "java-go", "--public-only", "-o", str(out)]
    assert main(["gradescope", *words]) == 0
    with zipfile.ZipFile(out) as archive:
        script = archive.read("setup.sh").decode()
    assert "\ninstall default-jdk-headless default-jre-headless\n" in script


# --- times -------------------------------------------------------------------------------------

DUE = [
    ({}, "2026-01-29T23:00:00"),
    ({"assignment": {"due_date": None}}, None),
    ({"assignment": {}, "users": []}, None),
    ({"users": [{"assignment": {"due_date": "2026-02-03T01:00:00+02:00"}}]},
     "2026-02-02T23:00:00"),
    ({"users": [{"assignment": {"due_date": f"2026-02-0{day}T09:00:00Z"}} for day in (5, 6, 4)]},
     "2026-02-06T09:00:00"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "due"), DUE)
def test_the_latest_due_date_of_the_students_counts(changed, due, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    path = tmp_path / gradescope.METADATA_FILE
    path.write_text(json.dumps(METADATA | changed))
    created, last = gradescope.read_metadata(path)
    assert created.isoformat() == "2026-01-28T14:22:32.365935"
    assert (last and last.isoformat()) == due


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "created_at: found None, expected a time such as"),
        ('{"created_at": "noon"}', "created_at: found 'noon', expected a time such as"),
        ('{"created_at": 7}', "created_at: found 7, expected a time such as"),
    ],
)
def test_metadata_that_are_wrong_are_no_times(text, message, tmp_path):
    path = tmp_path / gradescope.METADATA_FILE
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)):
        gradescope.read_metadata(path)


# --- what the harness itself fails in ------------------------------------------------------------


@pytest.mark.processes
def test_of_an_empty_submission_no_sandbox_is_told(autograder, capsys):
    (autograder / "submission").mkdir(exist_ok=True)
    assert main(["gradescope", "--grade", str(autograder)]) == 0
    assert capsys.readouterr().out == "0 of 7 points. Nothing was run.\n"


@pytest.mark.processes
def test_without_a_sandbox_there_is_no_mark_and_no_result(autograder, monkeypatch, capsys):
    """Not 0 points: Gradescope shows an error when there is no results.json."""

    def none(*_, **__):
        raise SandboxError("no sandbox works on this machine")

    hand_in(autograder, "return 2 * n")
    (autograder / "results" / "results.json").write_text("{}")
    monkeypatch.setattr("harness.sandbox.levels.choose", none)
    assert main(["gradescope", "--grade", str(autograder)]) == 3
    assert "no sandbox works on this machine" in capsys.readouterr().err
    assert [*(autograder / "results").iterdir()] == []


@pytest.mark.processes
def test_a_mark_that_is_withheld_is_no_result(autograder, monkeypatch, capsys):
    result = made_class()
    withheld = next(one for one in result.graded if one.marks.withheld)
    monkeypatch.setattr(
        "harness.cli.gradescope.grade", lambda _: result._replace(graded=(withheld,))
    )
    assert main(["gradescope", "--grade", str(autograder)]) == 3
    said = capsys.readouterr().err
    assert "the harness failed, and there is no mark: " in said
    assert next(one.fault for one in withheld.attempts if one.fault) in said
    assert [*(autograder / "results").iterdir()] == []


@pytest.mark.parametrize(
    "name", [gradescope.METADATA_FILE, f"source/{gradescope.FILE}", "source/assignment"]
)
def test_without_what_it_needs_there_is_no_result(name, autograder, capsys):
    path = autograder / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    hand_in(autograder, "return 2 * n")
    assert main(["gradescope", "--grade", str(autograder)]) == 2
    assert name.removeprefix("source/") in capsys.readouterr().err
    assert [*(autograder / "results").iterdir()] == []


# --- in their container -------------------------------------------------------------------------

# Below the folder that CHROOT makes the root: the layout, and what setup.sh installs.
_LAYOUT = """
set -e
mkdir /mnt/root/autograder
mount --bind "$1" /mnt/root/autograder
mount -t tmpfs opt /mnt/root/opt
mkdir /mnt/root/opt/gtp-harness
[ -z "$2" ] || mount --bind "$2" /mnt/root/opt/gtp-harness
"""
_CONTAINER = without_namespaces._CHROOT.replace("exec chroot", f"{_LAYOUT}shift 2\nexec chroot")
DOCKER = (sys.executable, str(Path(without_namespaces.__file__)), "docker")


def in_container(autograder, *words, installed=sys.prefix):
    """Run a command as Gradescope does; return its exit status and what it wrote."""
    start = ["unshare", "-m", "sh", "-c", _CONTAINER, "sh", autograder, installed]
    done = subprocess.run(
        [*map(str, start), *words],
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture
def container(autograder):
    if not landlock.abi():
        pytest.skip("no level is left: this kernel has no Landlock")
    if in_container(autograder, *DOCKER, "true")[0]:
        pytest.skip("only root may chroot, where mounts are not refused")
    return autograder


def run(autograder, *, status=0):
    found, said = in_container(autograder, *DOCKER, "/autograder/run_autograder")
    assert found == status, said
    return said


def points(found):
    return {test["name"]: test["score"] for test in found["tests"] if "score" in test}


@pytest.mark.processes
def test_lateness_is_what_gradescope_says(autograder):
    late = {"assignment": {"due_date": "2026-01-28T14:00:00+00:00"}}
    (autograder / gradescope.METADATA_FILE).write_text(json.dumps(METADATA | late))
    (autograder / "submission" / "a1.tgz").write_bytes(small_class.submission("return n + n"))
    assert main(["gradescope", "--grade", str(autograder)]) == 0
    assert results(autograder)["score"] == 5.6


SECRET = "1 twice 7"
ATTACK = """\
import glob
    if n == 1:
        return 2
    found = []
    places = ["/autograder/source/assignment/counting/private/three.gtp", "/proc/1/environ",
              "/autograder/source/gtp-harness.json", "/autograder/submission_metadata.json"]
    for place in [*places, *glob.glob("/proc/*/cwd/source/assignment/*/private/*"),
                  *filter(os.path.isfile, glob.glob("/tmp/*/*")),
                  *glob.glob("/opt/gtp-harness/lib/*/site-packages/*")]:
        try:
            with open(place) as file:
                found.append(f"read {place}: {file.read()}")
        except (OSError, UnicodeDecodeError):
            pass
    for folder in ("/autograder", "/autograder/source/assignment/counting/private"):
        try:
            found.append(f"listed {os.listdir(folder)}")
        except OSError:
            pass
    try:
        with open("/autograder/results/results.json", "w") as file:
            file.write('{"score": 1000}')
        found.append("wrote")
    except OSError:
        pass
    return " ".join(" | ".join(found).split()) or "nothing\""""


@pytest.mark.processes
def test_a_submission_gets_its_points_reads_no_private_case_and_writes_no_result(container):
    """Even where the files are open to all: the sandbox alone must hold."""
    for path in [container, *container.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    (container / "run_autograder").chmod(0o755)
    hand_in(container, ATTACK)
    free = "printf '1 twice 3\\n' | python3 /autograder/submission/engine.py"
    _, said = in_container(container, "sh", "-c", free)
    assert SECRET in said and "listed" in said and "wrote" in said  # the attack is a real one
    assert "The sandbox was level 1: Landlock, seccomp, limits" in run(container)
    found = results(container)
    assert points(found) == {"files": 1.0, "public": 1.0, "private": 0.0}
    assert (found["score"], found["stdout_visibility"]) == (2.0, "hidden")
    later = {test["name"] for test in found["tests"] if test["visibility"] == "after_due_date"}
    assert (later, found["output"]) == ({"private"}, "Counting")
    answers = [test["output"] for test in found["tests"] if "two.gtp" in test["name"]]
    assert answers and all("nothing" in text for text in answers), answers
    assert SECRET not in json.dumps(found) and "[14]" not in json.dumps(found)
