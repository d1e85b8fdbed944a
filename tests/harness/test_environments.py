"""The Python that engines get: declared, built once, named; never the harness's by accident."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.assignments import assignment, public_tests, workspace
from harness.assignments import needs as python
from harness.core.errors import AssignmentError, UsageError
from harness.environments import environment_cache, interpreters
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.attempt_plan import GradeOptions
from harness.grading.records import Submission
from tests.conftest import SEARCH_PATH
from tests.harness import environments, small_class
from tests.harness.test_sandbox_boxes import needs

pytestmark = [
    *(pytest.mark.processes, pytest.mark.long(10)),
    pytest.mark.usefixtures("warm_commands"),
]

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="module")
def _without_uv():
    """Let pip build environments, whether there is uv or not, except where a test says so."""
    with pytest.MonkeyPatch.context() as patch:
        folders = os.environ["PATH"].split(os.pathsep)
        found = [one for one in folders if not os.access(Path(one, "uv"), os.X_OK)]
        patch.setenv("PATH", os.pathsep.join(found))
        yield


@pytest.fixture
def room():
    """A folder that engines of any user can enter: pytest's own is for its user alone."""
    with workspace.workspace() as folder:
        yield folder


@pytest.fixture
def cache(room, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(room / "cache"))
    return room / "cache" / "gtp-harness" / "environments"


@pytest.fixture
def course(room, cache):
    return environments.make(room / "course")


@pytest.fixture(scope="module")
def lasting():
    """A course whose environment is built, for tests that only use it."""
    with workspace.workspace() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        made = environments.make(folder / "course")
        assert command("env", "--assignment", made / "counting").returncode == 0
        yield made


@pytest.fixture
def ready(lasting, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(lasting.parent / "cache"))
    return lasting


def command(*words: str | Path, **settings: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def grade(course: Path, *more: str) -> subprocess.CompletedProcess:
    where = ("--assignment", course / "counting", "--output", course / "graded")
    return command("grade", course / "submissions", *where, "--no-images", *more)


def read_class(course: Path) -> dict:
    return json.loads((course / "graded" / "class.json").read_text())


def mark(course: Path) -> float:
    return read_class(course)["submissions"][0]["marks"]["total"]["rounded"]


def read_with_python(place: Path, named: str = "") -> assignment.Assignment:
    """The assignment with its Python; nothing is built."""
    with python.with_python(assignment.find(str(place)), named) as found:
        return found


# --- declared: built once, by env or check; grade asks for it


@pytest.mark.long(4)
def test_grade_asks_for_it_check_builds_it_once_and_all_name_it(course, cache, room, monkeypatch):
    for name, value in some_uv(room).items():
        monkeypatch.setenv(name, value)
    place, folder = course / "counting", room / "assignment1"
    refused = grade(course)
    assert refused.returncode == 2
    assert f"gtp-harness env --assignment {place} builds it once" in refused.stderr
    assert not (course / "graded" / "class.json").exists()
    folder.mkdir()
    (folder / "engine.py").write_text(environments.ENGINE)
    (folder / "readme.txt").write_text("Me.\n")
    checked, again = (command("check", folder, "--assignment", place) for _ in range(2))
    assert checked.returncode == again.returncode == 0, checked.stdout + checked.stderr
    built = "The Python environment of the course (Python 3, oldlib==1.0) is built"
    assert built in checked.stdout
    assert "is built" not in again.stdout
    described = read_with_python(place).python.described
    assert described.endswith(" with oldlib 1.0")
    assert f"The engine was run by {described}." in checked.stdout
    done = command("env", "--assignment", place)
    assert (done.returncode, done.stderr) == (0, "")
    environment, version, *packages = done.stdout.splitlines()
    assert Path(environment).parent == cache
    assert version.startswith("Python 3.")
    assert "oldlib==1.0" in packages
    graded = grade(course)
    assert graded.returncode == 0, graded.stdout + graded.stderr
    assert mark(course) == 7
    assert read_class(course)["python"] == described
    for page in (course / "graded").rglob("*.html"):
        assert described in page.read_text(), page
    name = Path(environment).name
    assert name in command("env", "--list").stdout
    assert command("env", "--remove", name).returncode == 0
    assert not Path(environment).exists()
    assert "there is no environment" in command("env", "--remove", name).stderr


@pytest.mark.long(3)
def test_python_overrides_it(ready):
    own = interpreters.of_system()
    shutil.rmtree(ready / "graded", ignore_errors=True)
    done = grade(ready, "--python", own)  # without oldlib the engine dies
    assert done.returncode in (0, 2), done.stderr
    assert f"({own})" in read_class(ready)["python"]
    assert mark(ready) == 0
    refused = grade(ready, "--python", "/bin/true")
    assert refused.returncode == 2
    assert "Python" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_the_requirements_decide_which_environment_it_is(course):
    place = assignment.find(str(course / "counting"))
    first = python.find_declared_environment(place)
    (course / "counting" / "requirements.txt").write_text(environments.REQUIREMENTS + "# other\n")
    second = python.find_declared_environment(place)
    assert first.base == second.base
    assert first.name != second.name


def test_what_runs_the_engine_is_part_of_what_a_result_depends_on(ready):
    case = attempt_plan.read_cases(assignment.find(str(ready / "counting")))
    one = Submission("ada", ())
    bases = {
        attempt_plan.attempts(GradeOptions(found, None, Path()), [one], case)[0].basis
        for found in (
            read_with_python(ready / "counting"),
            read_with_python(ready / "counting", sys.executable),
        )
    }
    assert len(bases) == 2


def test_a_receipt_names_it():
    made = public_tests.Receipt("a", "1.0", "0" * 64, "1" * 64, "Python 3.11.7 with numpy 1.23.5")
    assert public_tests.find_receipt(public_tests.lines(made)) == made
    assert "run by Python 3.11.7 with numpy 1.23.5." in public_tests.compare_receipt(made, made)
    old = made._replace(python="")
    assert public_tests.find_receipt([*public_tests.lines(old), "The log ends here."]) == old


# --- at every level of sandbox, and where a program is fuzzed


@pytest.mark.parametrize("level", ["1"])
def test_engines_have_it_at_every_level(ready, level):
    needs(int(level))
    shutil.rmtree(ready / "graded", ignore_errors=True)
    done = grade(ready, "--sandbox", level)
    assert done.returncode == 0, done.stdout + done.stderr
    assert mark(ready) == 7


# It opens a log where it starts, as the starter code of a course does.
ANSWERS_NOTHING = environments.ENGINE.replace("oldlib.twice(int(words[1]))", "''").replace(
    "import oldlib\n", "import oldlib\nlog = open('gtp_log', 'x')\n"
)


@pytest.mark.parametrize("level", ["2"])
def test_fuzz_has_the_python_it_is_told_and_lets_engines_write_where_they_start(ready, level):
    needs(int(level))
    (ready / "engine.py").write_text(ANSWERS_NOTHING)
    words = ["fuzz", f"python3 {ready / 'engine.py'}", "--assignment", "go-scoring"]
    words += ["--sandbox", level, "--examples", "20", "--findings", "1"]
    words += ["--output", str(ready / "found")]
    without = command(*words)
    assert without.returncode == 2
    assert "No module named 'oldlib'" in without.stderr
    done = command(*words, "--python", read_with_python(ready / "counting").python.program)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"the engine was run by Python 3\..* with oldlib 1\.0", done.stdout)


# --- broken and interrupted builds; two at a time


def test_a_build_that_fails_leaves_nothing(course, cache, room):
    (course / "counting" / "requirements.txt").write_text("--no-index\nnosuchpackage==1\n")
    done = command("env", "--assignment", course / "counting", **some_uv(room))
    assert done.returncode == 2
    assert "the environment could not be built" in done.stderr
    assert "nosuchpackage" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in cache.iterdir() if not path.name.endswith(".lock")] == []


# It keeps what it was told, makes the folder as uv does, and is slow to install.
UV = """\
#!/bin/sh
echo "$1" >> {log}
case "$1" in
venv) shift; exec {python} -m venv --without-pip "$(for last; do :; done; echo "$last")";;
pip) {install};;
esac
"""
# As uv is asked: uv pip install --quiet --compile-bytecode --python PYTHON -r -
INSTALL = 'exec {harness} -m pip --python "$6" install --quiet -r /dev/stdin'


def fake_uv(room: Path, seconds: float, install: str = "") -> dict[str, str]:
    """A uv that records its arguments; returns the PATH with it."""
    tools = room / "tools"
    tools.mkdir(exist_ok=True)
    install = install or f"sleep {seconds}"
    text = UV.format(log=room / "log", python=interpreters.of_system(), install=install)
    (tools / "uv").write_text(text)
    (tools / "uv").chmod(0o755)
    return {"PATH": f"{tools}:{os.environ['PATH']}"}


def some_uv(room: Path) -> dict[str, str]:
    """The real uv if it is installed, else a stand-in that installs with pip; as a PATH."""
    beside = f"{Path(sys.executable).parent}:{SEARCH_PATH}"
    if not (real := shutil.which("uv", path=beside)):
        return fake_uv(room, 0, INSTALL.format(harness=sys.executable))
    tools = room / "tools"
    tools.mkdir()
    (tools / "uv").symlink_to(real)
    return {"PATH": f"{tools}:{os.environ['PATH']}", "UV_CACHE_DIR": str(room / "uv-cache")}


def start(course: Path, path: dict[str, str]) -> subprocess.Popen:
    words = [sys.executable, "-m", "harness.cli", "env", "--assignment", str(course / "counting")]
    return subprocess.Popen(
        words, cwd=ROOT, env=os.environ | path, stdout=subprocess.PIPE, start_new_session=True
    )


def wait_for(path: Path, text: str) -> None:
    end = time.monotonic() + 60
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_build_that_is_killed_does_not_count(course, cache, room):
    process = start(course, fake_uv(room, 60))
    wait_for(room / "log", "pip")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert any(path.name.startswith(".building-") for path in cache.iterdir())
    assert grade(course).returncode == 2
    fake_uv(room, 0)
    done = command("env", "--assignment", course / "counting", **fake_uv(room, 0))
    assert done.returncode == 0, done.stderr
    assert not any(path.name.startswith(".building-") for path in cache.iterdir())


def test_uv_builds_what_engines_then_run_in(course, room):
    done = command("env", "--assignment", course / "counting", **some_uv(room))
    assert done.returncode == 0, done.stderr
    assert "oldlib==1.0" in done.stdout.splitlines()
    assert environment_cache.find(Path(done.stdout.splitlines()[0]).name).tool == "uv"
    assert grade(course).returncode == 0
    assert mark(course) == 7


def test_two_at_a_time_build_once(course, room):
    path = fake_uv(room, 0.5)
    both = [start(course, path) for _ in range(2)]
    said = {process.communicate(timeout=120)[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(said) == 1
    assert (room / "log").read_text().split() == ["venv", "pip"]


def test_one_that_was_damaged_is_built_anew(course, room):
    place, path = course / "counting", fake_uv(room, 0)
    folder = Path(command("env", "--assignment", place, **path).stdout.splitlines()[0])
    (folder / "bin" / "python3").unlink()
    assert grade(course).returncode == 2
    assert command("env", "--assignment", place, **path).returncode == 0
    assert (folder / "bin" / "python3").exists()


def test_one_in_use_is_not_removed(ready):
    place = ready / "counting"
    with python.with_python(assignment.find(str(place))) as found:
        name = Path(found.python.program).parents[1].name
        with pytest.raises(UsageError, match="is in use"):
            environment_cache.remove(name)
    assert environment_cache.find(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="for root alone, whose engines run as somebody else")
def test_root_is_told_of_a_cache_that_engines_cannot_read(course, room):
    (room / "cache").mkdir(mode=0o700)
    done = command("env", "--assignment", course / "counting")
    assert done.returncode == 2
    assert "XDG_CACHE_HOME" in done.stderr


# --- undeclared: the system's, never the harness's own


@pytest.mark.parametrize("output", ["", "nonsense", "3", "null", "[3, 1, 1, 1, 1, 1]", "[[1, 2]]"])
def test_what_is_not_a_python_is_told_whatever_it_prints(tmp_path, output):
    program = tmp_path / "python3"
    program.write_text(f"#!/bin/sh\necho '{output}'\n")
    program.chmod(0o755)
    with pytest.raises(UsageError, match="is not a Python 3 that can be run"):
        interpreters.inspect_python(str(program))


def test_python3_of_a_command_is_never_the_harnesss_own(tmp_path, monkeypatch):
    if sys.prefix == sys.base_prefix:
        pytest.skip("the harness has no environment of its own here")
    own = Path(sys.prefix, "bin")
    monkeypatch.setenv("PATH", f"{own}:{os.environ['PATH']}")
    interpreters.of_system.cache_clear()
    program = assignment.find("go-scoring").start(tmp_path)[0].split()[0]
    assert Path(program).is_absolute()
    assert not Path(program).is_relative_to(sys.prefix)
    assert (
        interpreters.inspect_python(program).packages
        != interpreters.inspect_python(sys.executable).packages
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="for root alone, whose engines run as somebody else")
@pytest.mark.parametrize("shut", ["home", "home/env", "home/env/bin"])
def test_engines_of_root_get_no_python_of_a_folder_that_is_shut(open_place, monkeypatch, shut):
    """A virtual environment there is a link to a Python that everybody may execute."""
    program = open_place / "home" / "env" / "bin" / "python3"
    program.parent.mkdir(parents=True)
    program.symlink_to("/usr/bin/python3")
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin")
    chosen = []
    for mode in (0o755, 0o700):
        (open_place / shut).chmod(mode)
        interpreters.of_system.cache_clear()
        chosen.append(interpreters.of_system() == str(program))
    interpreters.of_system.cache_clear()
    assert chosen == [True, False]


def test_where_there_is_no_other_the_record_says_so(monkeypatch):
    monkeypatch.setattr(interpreters, "_others", lambda names: [])
    interpreters.of_system.cache_clear()
    try:
        found = python.of_system()
    finally:
        interpreters.of_system.cache_clear()
    assert found.program == sys.executable
    assert found.described.startswith("THE HARNESS'S OWN Python 3.")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python3 {folder}/x.py", "PYTHON -E -s /stage/assignment1/x.py"),
        ("python {folder}/x.py", "PYTHON -E -s /stage/assignment1/x.py"),
        ("{python} {adapter} {folder}", "PYTHON -E -s /stage/adapter /stage/assignment1"),
        ("/opt/old/bin/python3 {folder}/x.py", "/opt/old/bin/python3 /stage/assignment1/x.py"),
        ("java -cp {folder} Go", "java -cp /stage/assignment1 Go"),
        ("{folder}/engine 'a b'", "/stage/assignment1/engine 'a b'"),
    ],
)
def test_the_words_of_a_command(command, expected):
    found = assignment.find("go-scoring")
    found = found._replace(engine=found.engine._replace(command=command))
    expected = expected.replace("PYTHON", interpreters.of_system())
    assert found.start(Path("/stage"))[0] == expected


def test_variables_of_the_user_do_not_reach_the_engine(room, monkeypatch):
    (room / "oldlib.py").write_text("twice = lambda n: 0\n")
    course = small_class.make(room / "course", small_class.CLASS[:1])
    environments.hand_in(course, environments.ENGINE)
    monkeypatch.setenv("PYTHONPATH", str(room) + os.pathsep + str(ROOT))
    done = grade(course, "--unsafe-no-sandbox")
    assert done.returncode in (0, 2)
    words = json.dumps(read_class(course)["submissions"][0])
    assert "No module named 'oldlib'" in words


# --- what may be declared


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"python": "3.11"}, "engine.python: found Decimal('3.11'), expected a text"),
        ({"python": '"2.7"'}, "engine.python: found '2.7', expected a version such as '3.11'"),
        ({"packages": '["-r other"]'}, "engine.packages[1]: found '-r other', expected a requ"),
        ({"packages": '"nowhere.txt"'}, "engine.packages: found 'nowhere.txt', expected a file"),
        ({"packages": "[]"}, "engine.packages: found [], expected a list of at least 1"),
        ({"packages": '["numpy"]', "command": '"{folder}/x"'}, "expected a command that begins"),
    ],
)
def test_what_is_wrong_is_told(keys, said, tmp_path):
    course = small_class.make(tmp_path, ())
    path = course / "counting" / "assignment.toml"
    if "command" in keys:
        text = path.read_text().replace("command = ", "# ")
        path.write_text(text)
    environments.declare(course, **keys)
    with pytest.raises(AssignmentError) as caught:
        assignment.find(str(course / "counting"))
    assert said in str(caught.value)


def test_a_path_alone_is_used_as_it_is(tmp_path):
    course = small_class.make(tmp_path, ())
    program = interpreters.of_system()
    environments.declare(course, python=f'"{program}"')
    found = read_with_python(course / "counting")
    assert found.python.program == program
    assert f"({program})" in found.python.described


def test_a_version_that_is_not_there_is_told(tmp_path):
    course = small_class.make(tmp_path, ())
    environments.declare(course, python='"3.99"')
    done = command("env", "--assignment", course / "counting")
    assert done.returncode == 2
    assert "there is no Python 3.99 on this machine" in done.stderr
    assert "apt install python3.99" in done.stderr
