"""Real work in the wrong place or by the wrong name: each is told what was found and expected.

Most are in ``tests/submissions/misplaced``; archives of kinds that git cannot keep are made here.
They are checked one by one and graded as one class.
"""

import html
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.assignments import assignment, contents, workspace
from harness.assignments.build_steps import build
from harness.assignments.contents import faults, locate_folder, sort_files
from harness.reading import shipped
from tests.harness import archives
from tests.harness.hostile_archives import python_tar

# Together: they share what takes seconds to make.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.long(15),
    pytest.mark.usefixtures("warm_commands"),
]

ROOT = Path(__file__).parents[2]
SUBMISSIONS = ROOT / "tests" / "submissions"
MISPLACED = SUBMISSIONS / "misplaced"
FOLDER = "assignment1"
Files = dict[str, bytes]


def files_of(folder: Path) -> Files:
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(found)}


RIGHT = files_of(SUBMISSIONS / "go-scoring" / FOLDER)


def pack_files(files: Files) -> bytes:
    return python_tar(files.items())


def below(folder: str, files: Files = RIGHT) -> Files:
    return {f"{folder}/{name}": content for name, content in files.items()}


def handed_in(name: str) -> Callable[[], bytes]:
    return lambda: pack_files(files_of(MISPLACED / name))


def with_environment(folder: str) -> Files:
    """As people have it: 5,579 members."""
    site = f"{folder}lib/python3.11/site-packages"
    found = {f"{folder}pyvenv.cfg": b"home = /usr/bin\n", f"{folder}bin/activate_this.py": b""}
    return found | {f"{site}/p{n % 70}/m{n}.py": b"" for n in range(5_574)}


def empty() -> bytes:
    return pack_files({})


def with_links() -> bytes:
    """As tar packs an environment: its python is a link."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for name, content in below(FOLDER).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo(f"{FOLDER}/my/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, "/usr/bin/python3"
        tar.addfile(link)
    return archives.gzip_bytes(written.getvalue())


def zipped_apple() -> bytes:
    entries: list[tuple[str, bytes]] = []
    for name, content in RIGHT.items():
        entries += [(f"{FOLDER}/{name}", content)]
        entries += [(f"__MACOSX/{FOLDER}/._{name}", b"\0\5\x16\7")]
    return archives.make_zip(entries)


class Work(NamedTuple):
    """A submission, its remarks, and whether its engine passes the public tests."""

    make: Callable[[], bytes]
    said: str
    passes: bool


WORKS = {
    "lower-case": Work(handed_in("lower-case"),
                       "Go1.py is missing (there is go1.py)", False),
    "downloaded-twice": Work(handed_in("downloaded-twice"),
                       "Go1.py is missing (there is Go1 (1).py)", False),
    "two-suffixes": Work(handed_in("two-suffixes"),
                       "Go1.py is missing (there is Go1.py.txt)", False),
    "other-number": Work(handed_in("other-number"),
                       "Go1.py is missing (there is Go3.py)", False),
    "own-name": Work(handed_in("own-name"),
                       "Go1.py is missing (found main.py)", False),
    "in-src": Work(handed_in("in-src"),
                       "Go1.py is missing (there is src/Go1.py, expected in the folder itself)",
                   False),
    "folder-twice": Work(handed_in("folder-twice"),
                       "wrapped in another of the same name", True),
    "other-folder": Work(handed_in("other-folder"),
                       "The folder is called 'my work', it should be called assignment1.", True),
    "no-folder": Work(handed_in("no-folder"),
                       "not in a folder assignment1", True),
    "gomoku": Work(handed_in("gomoku"),
                       "this looks like Gomoku policy: found Gomoku3.py, expected Go1.py,", False),
    "apple": Work(zipped_apple, "left out, made by tools: __MACOSX/assignment1/._Go1.py", True),
    "text": Work((MISPLACED / "text.txt").read_bytes, "it is a text file, expected a .tgz", False),
    "empty": Work(empty, "the archive has no files in it", False),
    "pictures": Work(handed_in("pictures"),
                       "expected Go1.py, gtp_connection_go1.py, readme.txt in assignment1, found"
                     " assignment1/a.png", False),
    "environment": Work(lambda: pack_files(below(FOLDER) | with_environment(f"{FOLDER}/.venv/")),
                        "left out, made by tools: assignment1/.venv/", True),
    "environment-with-links": Work(with_links, "it belongs to a virtual environment", False),
    "environment-around": Work(lambda: pack_files(below(FOLDER) | with_environment(f"{FOLDER}/")),
                               "left out, made by tools: assignment1/bin/activate_this.py", True),
}  # fmt: skip


def command(*words: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """go-scoring with few tests, the course's util, and everybody's submission."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(SUBMISSIONS / "go-scoring" / "cases", folder / "go-scoring")
    shutil.copy(shipped.folder() / "go-scoring" / assignment.FILE, folder / "go-scoring")
    shutil.copytree(SUBMISSIONS / "go-scoring" / "util", folder / "go-scoring" / "util")
    for number, (name, work) in enumerate(WORKS.items()):
        path = folder / "submissions" / f"{name.replace('-', '')}_{number}_{number}_a1.tgz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(work.make())
    return folder


@pytest.fixture(scope="module")
def graded_class(course, warm_commands):
    done = command("grade", course / "submissions", "--assignment", course / "go-scoring",
                   "--output", course / "graded", "--public-only", "--no-images",
                   "--go-on")  # fmt: skip
    assert done.returncode in (0, 4), done.stdout + done.stderr  # 4: many fail alike
    found = json.loads((course / "graded" / "class.json").read_text())
    return {one["key"]: one for one in found["submissions"]}


@pytest.mark.parametrize("name", WORKS)
def test_it_is_graded_and_told(name, graded_class, course):
    key = next(one for one in graded_class if one.startswith(name.replace("-", "")[:18]) and (
        graded_class[one]["students"][0]["name"] == name.replace("-", "")))  # fmt: skip
    one, work = graded_class[key], WORKS[name]
    public = [part for part in one["marks"]["parts"] if part["name"] == "public tests"]
    assert not one["marks"]["withheld"], one["marks"]
    assert (bool(public) and public[0]["points"]["rounded"] == 2) == work.passes, one["marks"]
    pages = [path.read_text() for path in (course / "graded" / "feedback").glob("*.html")]
    own = next(page for page in pages if f"<h1>{name.replace('-', '')}</h1>" in page)
    assert work.said in html.unescape(re.sub(r"<[^>]+>", "", own))
    if not work.passes:
        assert work.said in html.unescape((course / "graded" / "class.html").read_text())


def test_a_folder_with_an_environment_is_checked(course, tmp_path):
    for name, content in (below(FOLDER) | with_environment(f"{FOLDER}/venv/")).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / FOLDER / "venv" / "bin" / "python3").symlink_to("/usr/bin/python3")
    done = command("check", tmp_path / FOLDER, "--assignment", course / "go-scoring")
    assert "left out, made by tools: venv/" in done.stdout
    assert done.returncode == 0, done.stdout


# --- a C program without what says how to build it


WITHOUT = {
    "c-without": "found gosensei.c",
    "c-in-src": "found src/CMakeLists.txt",
    "c-makefile-txt": "found Makefile.txt",
    "c-lower-case": "found cmakelists.txt",
}
MISSING = (
    "there is no CMakeLists.txt, Makefile, makefile or GNUmakefile in gosensei, "
    "which says how to build it"
)


@pytest.mark.parametrize("name", WITHOUT)
def test_a_build_file_that_is_missing_is_told(name):
    with workspace.workspace() as room:
        shutil.copytree(MISPLACED / name, room, dirs_exist_ok=True)
        built = build(assignment.find("gosensei"), room)
    assert built is not None
    assert not built.ok
    assert built.message == f"{MISSING}; {WITHOUT[name]}"


# --- names only


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("Go1.py", "env/pyvenv.cfg", "env/lib/x.py", "env/x.py"), ("Go1.py", "env/x.py")),
        (("Go1.py", "env/pyvenv.cfg", "env/lib/x.py"), ("Go1.py",)),
        (("Go1.py", "pyvenv.cfg", "lib/x.py", "src/y.py"), ("Go1.py", "src/y.py")),
        (("Go1.py", "a/site-packages/x.py"), ("Go1.py",)),
        (("Go1.py", "lib/x.py"), ("Go1.py", "lib/x.py")),
    ],
)
def test_only_an_environment_is_left_out(names, kept):
    assert sort_files(names, "", assignment.find("go-scoring").files).kept == kept


def test_no_assignment_that_ships_looks_like_another():
    every = [assignment.find(name) for name in shipped.names()]
    for one in every:
        others = [other for other in every if other.key != one.key]
        names = [name for name in one.files.required if "*" not in name]
        assert contents.other_assignment(names, one.files, others) == ""


def test_what_is_there_is_not_named_in_place_of_another():
    scoring = assignment.find("go-scoring")
    found = sort_files(["Go1.py", "readme.txt"], "", scoring.files)
    assert faults(found, scoring) == ["gtp_connection_go1.py is missing"]


def test_a_folder_in_itself_beside_other_files_is_not_entered():
    assert locate_folder(["a/a/x.py", "a/y.py"], "a").root == "a/"
    assert locate_folder(["a/a/x.py", "a/a/y.py"], "a").root == "a/a/"
    assert locate_folder(["a/a/a/x.py"], "a").root == "a/a/a/"


@pytest.mark.parametrize(
    ("names", "root", "remark"),
    [
        (["go/a", "go/b"], "go/", ""),
        (["go/go/a", "go/b"], "go/", ""),
        (["go/go/a", "go/go/b"], "go/go/", "The folder go is wrapped in another of the same name:"
         " one is expected."),
        (["go/go/go/a"], "go/go/go/", "The folder go is wrapped in another of the same name:"
         " one is expected."),
    ],
)  # fmt: skip
def test_a_folder_within_one_of_its_name(names, root, remark):
    assert locate_folder(names, "go") == (root, remark)
