"""``gtp-harness check`` as a student runs it: a fresh folder, a process, the real sandbox.

Golden transcripts are in ``golden/check``; times, hashes and temporary folders are made alike.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from harness.assignments import assignment, public_tests
from harness.assignments.contents import faults, remarks, sort_files
from harness.assignments.needs import with_python
from harness.cli import main
from harness.core.errors import SandboxError
from harness.reading import shipped
from harness.sandbox import levels
from tests import golden
from tests.harness.hostile_archives import ROSTER, python_tar
from tests.harness.spoilt_submissions import write, write_spoilt
from tests.tiers import long_if

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_commands")]

HERE = Path(__file__).parent
SUBMISSIONS = HERE.parent / "submissions"
GOLDEN = HERE / "golden" / "check"
FOLDERS = {
    "go-scoring": "assignment1",
    "gomoku-rules": "assignment1",
    "gomoku-policy": "assignment3",
}


def works() -> bool:
    try:
        levels.choose().close()
    except SandboxError:
        return False
    return True


@pytest.fixture(scope="session")
def sandbox():
    if not works():
        pytest.skip("no sandbox works on this machine")


def lay_course(room: Path) -> Path:
    """Lay a right solution to each assignment into a folder like a student's."""
    ignore = shutil.ignore_patterns("__pycache__", "cases")
    for name in FOLDERS:
        shutil.copytree(SUBMISSIONS / name, room / name, ignore=ignore)
    rules = room / "gomoku-rules" / "assignment1" / "gtp_connection.py"
    shutil.copy(rules, room / "gomoku-policy" / "assignment3")
    return room


@pytest.fixture
def course(tmp_path):
    return lay_course(tmp_path)


def small(course: Path, **limits: float) -> Path:
    """go-scoring with a few tests of its own, and other limits."""
    folder = course / "small" / "go-scoring"
    shutil.copytree(SUBMISSIONS / "go-scoring" / "cases", folder)
    text = (shipped.folder() / "go-scoring" / assignment.FILE).read_text(encoding="utf-8")
    for key, value in limits.items():
        text = re.sub(rf"^{key} = .*", f"{key} = {value}", text, flags=re.M)
    (folder / assignment.FILE).write_text(text, encoding="utf-8")
    return folder


def check(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", "check", *map(str, arguments)],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def alike(text: str, course: Path) -> str:
    """Take out of a transcript what differs from run to run, and from version to version."""
    text = text.replace("\r\n", "\n").replace(str(course), "…")
    text = re.sub(r"\b[0-9a-f]{64}\b", "<sha256>", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{4}", "<time>", text)
    text = re.sub(r"\S*/gtp-harness-\w+", "<new folder>", text)
    text = re.sub(r" +[\d,]+ bytes", "  <size> bytes", text)
    text = re.sub(r"gtp-harness \d+(\.\w+)+", "gtp-harness <version>", text)
    text = re.sub(r"(run by|python) +Python 3.*", r"\1 <Python>", text)
    text = re.sub(r"sandbox, level \d: .*", "sandbox, level <level>.", text)
    text = re.sub(r"^ +stderr: .*\n", "", text, flags=re.M)  # Python's own, and changing
    return re.sub(r"Its last words: .*", "Its last words: <words>", text)


def compare(name: str, text: str) -> None:
    golden.check(GOLDEN / f"{name}.txt", text)


# --- right ones


@pytest.mark.parametrize("name", ["go-scoring", "gomoku-policy"])
def test_a_right_submission_is_to_be_handed_in(name, course, sandbox):
    home = course / name
    done = check(home, "--assignment", name)
    assert (done.returncode, done.stderr) == (0, "")
    result = re.compile(r"^   (\S+\.gtp) +(\d+) tests, \2 passed\n", re.M)
    cases = [case.name for case in assignment.find(name).public_cases()]
    assert [file for file, _ in result.findall(done.stdout)] == cases
    rest = re.sub(r"\d+ tests, \d+ passed", "<all passed>", result.sub("", done.stdout))
    compare(name, alike(rest, course))
    made = assignment.find(name).archive
    with tarfile.open(home / made.name) as archive:
        names = archive.getnames()
        log = archive.extractfile(f"{made.folder}/presubmission.log").read()
    files = {path.name for path in (SUBMISSIONS / name / made.folder).glob("*.*")}
    wanted = (
        files
        | {"presubmission.log"}
        | ({"gtp_connection.py"} & set(os.listdir(home / made.folder)))
    )
    assert set(names) == {made.folder, *(f"{made.folder}/{file}" for file in wanted)}
    assert log == (home / made.folder / "presubmission.log").read_bytes()


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """A right submission that was checked: its folder, the assignment, and what was said."""
    if not works():
        pytest.skip("no sandbox works on this machine")
    home = lay_course(tmp_path_factory.mktemp("checked")) / "go-scoring"
    own = small(home.parent)
    return home, own, check(home, "--assignment", own).stdout


def test_the_log_is_what_was_on_the_screen(checked):
    home, _, said = checked
    log = (home / "assignment1" / "presubmission.log").read_bytes()
    first, *lines, _, last, empty = log.split(b"\r\n")
    assert first.startswith(b"Script started on 20")
    assert b"gtp-harness check" in first
    assert last.startswith(b"Script done on 20")
    assert b'COMMAND_EXIT_CODE="0"' in last
    assert empty == b""
    assert b"\n" not in b"".join(lines)
    shown = b"\n".join(lines)
    assert said.encode().startswith(shown.rstrip(b"\n"))
    assert b"tar -xf a1.tgz" in shown
    assert b"passed" in shown


def test_the_receipt_fits_the_archive_and_stands_in_the_log(checked):
    home, own, said = checked
    assert hashlib.sha256((home / "a1.tgz").read_bytes()).hexdigest() in said
    folder = home / "assignment1"
    log = (folder / "presubmission.log").read_text(encoding="utf-8").splitlines()
    names = [path.name for path in folder.iterdir() if path.name != "presubmission.log"]
    files = public_tests.digests_in(folder, names)
    with with_python(assignment.find(str(own))) as found:
        expected = public_tests.make_receipt(found, files)
    assert public_tests.find_receipt(log) == expected


def test_what_check_made_passes_check(checked, tmp_path):
    home, own, _ = checked
    shutil.copy(home / "a1.tgz", tmp_path)
    again = check(tmp_path, "a1.tgz", "--assignment", own, "--overlay", home / "util")
    assert again.returncode == 0, again.stdout
    assert "now called before-a1.tgz" in again.stdout
    assert (tmp_path / "before-a1.tgz").exists()


# --- wrong ones


def neutral_points_counted(home: Path) -> None:
    path = home / "assignment1" / "gtp_connection_go1.py"
    path.write_text(path.read_text().replace("if len(colors) == 1:", "if True:"))


def no_readme(home: Path) -> None:
    (home / "assignment1" / "readme.txt").rename(home / "assignment1" / "README.TXT")


def junk(home: Path) -> None:
    cache = home / "assignment1" / "__pycache__"
    cache.mkdir()
    for path in (cache / "Go1.cpython-311.pyc", cache.parent / ".DS_Store", cache.parent / "._x"):
        path.write_bytes(b"\0")
    (home / "assignment1" / "thesis.pdf").write_bytes(b"%PDF")
    (home / "assignment1" / "passwd").symlink_to("/etc/passwd")


def changed_util(home: Path) -> None:
    copy = home / "assignment1" / "util"
    shutil.copytree(home / "util", copy)
    with (copy / "gtp_connection.py").open("a") as file:
        file.write("raise SystemExit('my own util')\n")


def does_not_start(home: Path) -> None:
    (home / "assignment1" / "Go1.py").write_text("print('= hello'\n")


def hangs(home: Path) -> None:
    path = home / "assignment1" / "gtp_connection_go1.py"
    path.write_text(path.read_text().replace("stones = ", "while True: pass\n        stones = "))


def no_util(home: Path) -> None:
    shutil.rmtree(home / "util")


@pytest.mark.parametrize(
    ("spoil", "status"),
    [
        (neutral_points_counted, 1),
        (no_readme, 1),
        (changed_util, 0),
        (does_not_start, 2),
        (hangs, 2),
        *(long_if(True, spoil, status, seconds=1) for spoil, status in ((junk, 0), (no_util, 2))),
    ],
)
def test_wrong_submissions_are_told_why(spoil, status, course, sandbox):
    home = course / "go-scoring"
    spoil(home)
    limits = {"timeout": 1} if spoil is hangs else {}
    done = check(home, "assignment1", "--assignment", small(course, **limits))
    compare(spoil.__name__, alike(done.stdout, course))
    assert (done.returncode, done.stderr) == (status, "")
    assert "Traceback" not in done.stdout.replace("stderr: Traceback", "")
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Hand in" if status == 0 else "Do not hand in")
    log = (home / "assignment1" / "presubmission.log").read_text(encoding="utf-8")
    assert f'COMMAND_EXIT_CODE="{status}"' in log


@pytest.mark.long(2)
def test_gomoku_failures_come_with_reasons(course, sandbox):
    path = course / "gomoku-rules" / "assignment1" / "gtp_connection.py"
    assert ">= 4" in path.read_text()
    path.write_text(path.read_text().replace(">= 4", "== 4"))
    done = check(course / "gomoku-rules", "--assignment", "gomoku-rules")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "because   Black has 6 in a row" in done.stdout
    assert re.search(r"Do not hand in .* yet: \d+ of \d+ tests fail\.", done.stdout)


# --- built, and asked through an adapter

ADAPTED = {"gosensei": "c_tools", "java-go": "java"}


@pytest.mark.long(3)
@pytest.mark.parametrize(
    ("title", "key", "spoilt", "status"),
    [
        ("gosensei-right", "gosensei", "", 0),
        ("gosensei-plural", "gosensei", "plural", 1),
        ("gosensei-not-compiled", "gosensei", "does not compile", 2),
        ("java-go-no-ko", "java-go", "no ko", 1),
    ],
)
def test_c_and_java(title, key, spoilt, status, tmp_path, sandbox, request):
    request.getfixturevalue(ADAPTED[key])
    right = {"gosensei": "with-make", "java-go": "go"}[key]
    folder = write_spoilt(spoilt, tmp_path) if spoilt else write(key, right, tmp_path)
    done = check(tmp_path, "--assignment", key)
    assert (done.returncode, done.stderr) == (status, ""), done.stdout
    text = re.sub(r"(?m)^   (\[[ \d]+%\]|--|g?make).*\n", "", done.stdout)  # by version
    if status == 2:  # the words are the compiler's
        assert "error" in done.stdout
        assert re.search(r"Do not hand in .* yet: the build step .*error", done.stdout)
    else:
        compare(title, alike(text, tmp_path))
    made = tmp_path / assignment.find(key).archive.name
    with tarfile.open(made) as archive:
        names = [name for name in archive.getnames() if Path(name).suffix]
    source = {str(p.relative_to(tmp_path)) for p in folder.rglob("*") if p.suffix}
    assert set(names) == source  # with the log, and with nothing that was built


def test_an_engine_that_only_hangs_is_waited_for_three_times(course, sandbox):
    home = course / "go-scoring"
    hangs(home)
    done = check(home, "--assignment", small_and_many(course, 8), "--jobs", "1")
    assert done.returncode == 2
    assert done.stdout.count("did not answer '10 score' within 1 s") == 1
    assert done.stdout.count("the same engine failure as before") == 2 + 4
    assert done.stdout.count("Not run: the engine had hung in 3 files before.") == 1
    assert "the engine breaks in 8 of 8 files" in done.stdout


def small_and_many(course: Path, files: int) -> Path:
    """An assignment of one test in each of so many files."""
    folder = small(course, timeout=1)
    (folder / "captures.gtp").unlink()
    for number in range(files - 1):
        (folder / f"{number}.gtp").write_text("boardsize 5\nclear_board\n10 score\n#? [0]\n")
    (folder / "regions.gtp").write_text("boardsize 5\nclear_board\n10 score\n#? [0]\n")
    return folder


# --- archives


@pytest.mark.parametrize("title", ["symbolic-link"])
def test_a_refused_archive_is_named_and_nothing_is_made(title, course):
    home = course / "go-scoring"
    (home / "mine.tgz").write_bytes(ROSTER[title].make())
    done = check(home, "mine.tgz", "--assignment", "go-scoring")
    assert done.returncode == 2
    assert ROSTER[title].said in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Do not hand it in: ")
    assert not (home / "a1.tgz").exists()


def test_an_archive_as_real_classes_hand_them_in(course, sandbox):
    """A plain tar called .tgz, wrapped in a folder, with a Mac's files in it."""
    home = course / "go-scoring"
    files = [
        (f"Ada's work/assignment1/{path.name}", path.read_bytes())
        for path in sorted((home / "assignment1").iterdir())
    ]
    files.append(("Ada's work/assignment1/._Go1.py", b"\0"))
    files.append(("Ada's work/util/gtp_connection.py", b"changed"))
    files.append(("__MACOSX/assignment1/._readme.txt", b"\0"))
    (home / "a1.tgz").write_bytes(python_tar(files, "w"))
    done = check(home, "a1.tgz", "--assignment", small(course))
    compare("real-life", alike(done.stdout, course))
    assert (done.returncode, done.stderr) == (0, "")


# --- the command line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give --assignment: go-scoring, gomoku-policy, gomoku-rules"),
        (["--assignment", "chess"], "there is no assignment 'chess'"),
        (["--assignment", "java-go"], "there is no folder go here"),
        (["nothing", "--assignment", "go-scoring"], "there is no nothing"),
        (["--assignment", "go-scoring"], "there is no folder assignment1 here"),
        ([".", "--assignment", "go-scoring"], "contains none of the assignment's files"),
        ([".", "--assignment", "go-scoring", "--overlay", "x"], "there is no folder x"),
    ],
)
def test_errors_of_one_line(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["check", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1


def test_without_a_sandbox_it_says_so(course, monkeypatch, capsys):
    def none(*_, **__):
        raise SandboxError("no sandbox works on this machine; gtp-harness doctor tells why")

    monkeypatch.setattr(levels, "choose", none)
    monkeypatch.chdir(course / "go-scoring")
    status = main(["check", "--assignment", str(small(course))])
    assert status == 0
    said = capsys.readouterr().out
    assert "Run without a sandbox: no sandbox works on this machine" in said


# --- sorting files

SCORING = assignment.find("go-scoring")


def test_files_are_sorted_by_what_the_assignment_says():
    names = [
        "assignment1/Go1.py",
        "assignment1/README.txt",
        "assignment1/util/x.py",
        "assignment1/__pycache__/Go1.pyc",
        "assignment1/movie.mp4",
        "assignment1/presubmission.log",
        "util/y.py",
        "other/Go1.py",
    ]
    found = sort_files(names, "assignment1/", SCORING.files)
    assert found.kept == ("Go1.py", "README.txt", "presubmission.log")
    assert found.left_out == ("assignment1/__pycache__/Go1.pyc",)
    assert found.forbidden == ("assignment1/util/x.py", "util/y.py")
    assert found.extra == ("assignment1/movie.mp4", "other/Go1.py")
    assert found.missing == ("gtp_connection_go1.py", "readme.txt")
    assert found.has_log
    assert faults(found, SCORING) == [
        "gtp_connection_go1.py is missing (found other/Go1.py)",
        "readme.txt is missing (there is README.txt)",
    ]
    assert len(remarks(found, "util")) == 3


def test_a_file_that_is_required_by_name_lies_in_the_folder_itself():
    """``python3 {folder}/Go1.py`` would not find it elsewhere; ``*.c`` may lie anywhere."""
    found = sort_files(["a1/Go1.py", "gtp_connection_go1.py", "readme.txt"], "", SCORING.files)
    assert found.kept == ("a1/Go1.py", "gtp_connection_go1.py", "readme.txt")
    assert faults(found, SCORING) == [
        "Go1.py is missing (there is a1/Go1.py, expected in the folder itself)"
    ]
    assert not sort_files(["src/main.c"], "", assignment.find("gosensei").files).missing


def test_a_package_that_is_missing_is_named_with_what_to_do(course):
    main = course / "go-scoring" / "assignment1" / "Go1.py"
    main.write_text(f"import no_such_package.core\n{main.read_text()}")
    said = check(course / "go-scoring", "--assignment", "go-scoring", "--sandbox", "off").stdout
    assert "No module named 'no_such_package'" in said
    assert said.count("If no_such_package is a package, name a Python that has it") == 1
