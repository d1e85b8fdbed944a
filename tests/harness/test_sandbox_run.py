"""Runs in a sandbox: the same results, limits as verdicts of their own, and no expected answer."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

import oracle
from harness.cli import main
from harness.cli.engine_options import visible_paths
from harness.core.errors import UsageError
from harness.core.options import MIB, BoxLimits
from harness.core.records import FailureKind, FileResult, Verdict
from harness.running.runs import Limits, Options, run
from harness.sandbox import boxed_engines as engines_module
from harness.sandbox import launcher as launcher_module
from harness.sandbox import levels
from tests.conftest import open_folder
from tests.harness.test_broken_engines import CASE, ENGINES, LETTERS, ROWS, Row
from tests.harness.test_sandbox_boxes import needs

pytestmark = pytest.mark.processes

LEFT_BEHIND = "left processes behind"  # at level 3 bubblewrap itself ends them, unseen


def letters(file: FileResult) -> str:
    return "".join(LETTERS[outcome.verdict] for outcome in file.outcomes)


@pytest.fixture
def folder(open_place: Path) -> Path:
    """A folder that a user without rights may enter, which pytest's own are not."""
    return with_folders(open_place)


def with_folders(place: Path) -> Path:
    """Make the folders of case files and of the engine; return where they are."""
    (place / "cases").mkdir(mode=0o755)
    (place / "engine").mkdir(mode=0o755)
    return place


def engine(folder: Path, body: str) -> str:
    """Return the command of an engine that does ``body`` for each ``line`` of its input."""
    script = folder / "engine" / "engine.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    script.write_text(
        "import os, sys, time\n"
        "def answer(text): print(f'= {text}\\n', flush=True)\n"
        f"for line in sys.stdin:\n    line = line.strip()\n{lines}"
    )
    script.chmod(0o644)
    return f"{levels.interpreter()} {script}"


def case(folder: Path, text: str, name: str = "a.tst") -> str:
    path = folder / "cases" / name
    path.write_text(text)
    path.chmod(0o644)
    return str(path)


@pytest.mark.parametrize("level", [3, 2])
def test_what_lies_in_memory_is_seen(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of a cluster lays case files out there, and adapters start beside them."""
    needs(level)
    with open_folder("/dev/shm") as place:
        folder = with_folders(place)
        monkeypatch.chdir(folder / "cases")
        (folder / "cases" / "board.txt").write_text("b e5")
        (folder / "cases" / "board.txt").chmod(0o644)
        program = engine(
            folder, "answer(open(line.split()[-1]).read() if 'board' in line else '')"
        )
        test = case(folder, "10 load_board board.txt\n#? [b e5]\n")
        assert main(["run", "--sandbox", str(level), program, test]) == 0


PROGRAMS = (
    "./engine.py",
    "../engine/engine.py",
    "{python} engine.py",
    "{python} ../engine/engine.py",
    "env -u FOO {python} ./engine.py gtp",
)


@pytest.mark.parametrize(
    ("program", "level"),
    [
        *((program, "3") for program in PROGRAMS),
        *((PROGRAMS[-1], level) for level in ("off", *"21")),
    ],
)
def test_relative_files_of_a_command_are_those_where_it_is_given(
    program: str, level: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those of the case file's folder, where the engine starts: one of that name is wrong."""
    if level != "off":
        needs(int(level))
    engine(folder, "answer('right')")
    script = folder / "engine" / "engine.py"
    script.write_text(f"#!{levels.interpreter()}\n{script.read_text()}")
    script.chmod(0o755)
    (folder / "cases" / "engine.py").write_text("print('= wrong\\n')")
    (folder / "engine" / "gtp").touch()  # a word like any other
    test = case(folder, "1 a\n#? [right]\n")
    monkeypatch.chdir(folder / "engine")
    result = run(program.format(python=levels.interpreter()), [test], Options(sandbox=level))
    assert [one.verdict for one in result.files[0].outcomes] == [Verdict.PASSED], result


# One row of each kind in the full tier, at the strongest level; the rest has one of eight at the
# next level. The others in the slow tier: what is judged is the same as without a box.
KINDS = {row.kind: place for place, row in enumerate(ROWS)}.values()
IN_BOXES = [
    pytest.param(row, 3, marks=[] if place in KINDS else pytest.mark.slow)
    for place, row in enumerate(ROWS)
]
IN_BOXES += [
    pytest.param(row, 2, marks=pytest.mark.slow if place % 8 else pytest.mark.long(1))
    for place, row in enumerate(ROWS)
]


@pytest.mark.parametrize(
    ("row", "level"), IN_BOXES, ids=lambda one: getattr(one, "engine", str(one))
)
def test_broken_engines_are_judged_as_without(row: Row, level: int, folder: Path) -> None:
    needs(level)
    program = f"env -u PYTHONUNBUFFERED {sys.executable} {ENGINES / row.engine}.py mark"
    options = Options(limits=row.limits, sandbox=str(level))
    result = run(program, [case(folder, CASE)], options)
    (file,) = result.files
    assert result.faults == ()
    assert letters(file) == row.verdicts, file.stderr
    kind, message = (file.failure.kind, file.failure.message) if file.failure else (None, "")
    assert kind == row.kind
    if level == 2 or row.engine != "dies_of_shell":  # 139 is bubblewrap's word for it, too
        assert re.fullmatch(row.message, message)
    seen = [words for words in row.warnings if level == 2 or LEFT_BEHIND not in words]
    assert len(file.warnings) == len(seen)


@pytest.mark.parametrize(("level", "jobs"), [(3, 3), (1, 1)])
def test_a_good_engine_is_not_disturbed(level: int, jobs: int, folder: Path) -> None:
    needs(level)
    program = engine(folder, "answer(line.split()[-1])")
    tests = [case(folder, f"a\n{n} b{n}\n#? [b{n}]\n", f"{n}.tst") for n in range(3)]
    alone = run(program, tests, Options(jobs=1))
    boxed = run(program, tests, Options(jobs=jobs, sandbox=str(level)))
    assert boxed.faults == ()
    assert [timeless(file) for file in boxed.files] == [timeless(file) for file in alone.files]
    assert boxed.options["sandbox"] == levels.describe_level(level)
    assert alone.options["sandbox"] == "off"


def timeless(file: FileResult) -> object:
    replies = [reply and reply.raw for reply in file.replies]
    verdicts = [outcome.verdict for outcome in file.outcomes]
    return file.case, verdicts, replies, file.failure, file.warnings, file.stderr


# What a plan shows is shown in the same way at levels 3 and 2: ``sandbox_checks.py`` proves that.
VIEWED = [3, pytest.param(2, marks=pytest.mark.slow), 1]

HOGS = {
    FailureKind.MEMORY: "block = [bytearray(b'x') * (8 << 20) for _ in range(100)]",
    FailureKind.PROCESSES: "[os.fork() or time.sleep(20) for _ in range(60)]; time.sleep(20)",
    FailureKind.DISK: "[open(f'{n}', 'wb').write(bytes(1 << 20)) for n in range(7)]"
    "; open('last', 'wb', 0).write(bytes(1 << 20)); time.sleep(20)",
    FailureKind.CPU: "while True: pass",
}
MEAGRE = BoxLimits(memory=150 * MIB, cpu=1, processes=20, threads=200, scratch=8 * MIB)


@pytest.mark.parametrize("kind", HOGS)
def test_a_limit_is_a_verdict_of_its_own(kind: FailureKind, folder: Path) -> None:
    """That each level has each limit: ``hits`` of ``sandbox_checks.py``."""
    needs(3)
    hog = f"if 'fault' in line:\n    {HOGS[kind]}\nanswer(line.split()[-1])"
    program = engine(folder, hog)
    options = Options(sandbox="3", box=MEAGRE)
    (file,) = run(program, [case(folder, CASE)], options).files
    assert letters(file) == "P--", file.stderr
    assert file.failure is not None
    assert file.failure.kind is kind
    name = "time" if kind is FailureKind.CPU else kind.value
    told = rf"The engine went over its {name} limit: .* used, .* allowed.*'20 fault'\."
    assert re.fullmatch(told, file.failure.message)


@pytest.mark.parametrize("level", VIEWED)
def test_an_engine_sees_its_commands_alone(level: int, folder: Path) -> None:
    """And the file that one of them names; not the case, not what else lies there."""
    needs(level)
    program = engine(
        folder,
        """\
word = line.split()[-1]
try:
    answer(open(word).read() if "." in word else " ".join(sorted(os.listdir("."))))
except OSError as error:
    answer(type(error).__name__)""",
    )
    for name in ("game.sgf", "other.sgf", "other.tst"):
        (folder / "cases" / name).write_text(f"({name})")
        (folder / "cases" / name).chmod(0o644)
    text = "loadsgf game.sgf\n1 read other.sgf\n2 read other.tst\n3 read a.tst\n4 list\n"
    (file,) = run(program, [case(folder, text)], Options(sandbox=str(level))).files
    got = [reply.text if reply else None for reply in file.replies]
    missing = "FileNotFoundError"
    assert got == ["(game.sgf)", missing, missing, missing, "game.sgf"]


@pytest.mark.parametrize("level", VIEWED)
def test_case_files_beside_the_program_are_hidden(level: int, folder: Path) -> None:
    """As with a submission that brings its own tests."""
    needs(level)
    program = engine(folder, "answer(open('a.tst').read())")
    text = "1 look\n#? [expected]\n"
    (folder / "engine" / "a.tst").write_text(text)
    (folder / "engine" / "a.tst").chmod(0o644)
    options = Options(sandbox=str(level))
    (file,) = run(program, [str(folder / "engine" / "a.tst")], options).files
    told = [reply.text for reply in file.replies if reply]
    assert "expected" not in " ".join(told) + file.stderr
    assert "No such file" in file.stderr


@pytest.mark.parametrize("level", VIEWED)
def test_an_engine_may_write_where_it_starts(level: int, folder: Path) -> None:
    """A new folder for each: beside what commands name, by whatever relative path."""
    needs(level)
    body = "if 'read' in line: open('gtp_log', 'x').write(line)\n"
    body += "answer(open(line.split()[-1]).read() if 'read' in line else '')"
    program = engine(folder, body)
    names = ("game.sgf", "more/game.sgf", "../above.sgf")
    for name in names:
        path = folder / "cases" / name
        path.parent.mkdir(mode=0o755, exist_ok=True)
        path.write_text(name)
        path.chmod(0o644)
    tests = [
        case(folder, f"loadsgf {name}\n1 read {name}\n#? [{name}]\n", f"{number}.tst")
        for number, name in enumerate(names)
    ]
    tests += [case(folder, "1 read a.tst\n", "a.tst")]
    before = sorted(folder.rglob("*"))
    files = run(program, tests, Options(sandbox=str(level))).files
    assert [letters(file) for file in files] == ["P", "P", "P", "-"], files
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("level", [3, 1])
def test_show(level: int, folder: Path) -> None:
    needs(level)
    (folder / "book").mkdir(mode=0o755)
    (folder / "book" / "joseki").write_text("tsuke-nobi")
    (folder / "book" / "joseki").chmod(0o644)
    program = engine(folder, f"answer(open({str(folder / 'book' / 'joseki')!r}).read())")
    test = case(folder, "1 a\n#? [tsuke-nobi]\n")
    options = Options(sandbox=str(level))
    (hidden,) = run(program, [test], options).files
    (shown,) = run(program, [test], options._replace(show=(str(folder / "book"),))).files
    assert (letters(hidden), letters(shown)) == ("-", "P")


def test_gnugo_loads_a_game(folder: Path, gnugo: str) -> None:
    """A program in C, without a word about its needs; the file is named by the case alone."""
    needs(3)
    (folder / "cases" / "game.sgf").write_text("(;GM[1]SZ[5]AB[cc][bb]AW[dd])")
    (folder / "cases" / "game.sgf").chmod(0o644)
    text = "loadsgf game.sgf\n1 list_stones black\n#? [B4 C3|C3 B4]\n2 query_boardsize\n#? [5]\n"
    options = Options(sandbox="3")
    (file,) = run(f"{gnugo} --mode gtp", [case(folder, text)], options).files
    assert letters(file) == "PP", file


@pytest.mark.parametrize("level", [3, 1])
def test_a_file_of_a_shut_folder_is_found(level: int, folder: Path) -> None:
    """Private case files often lie in one. Root's engines may not enter it: at level 1, as well.

    There it is copied. By its whole path it cannot be had: that is no failed test.
    """
    needs(level)
    script = "answer(open(line.split()[-1]).read() if 'loadsgf' in line else '')"
    program, options = engine(folder, script), Options(sandbox=str(level))
    (folder / "cases" / "game.sgf").write_text("(;SZ[5])")
    (folder / "cases" / "game.sgf").chmod(0o644)
    (folder / "cases").chmod(0o700)
    for name, reached in (("game.sgf", True), (folder / "cases" / "game.sgf", level > 1)):
        (file,) = run(program, [case(folder, f"1 loadsgf {name}\n#? [.*SZ.*]\n")], options).files
        assert letters(file) == ("P" if reached or os.geteuid() else "-"), file


# --- what is the harness's fault costs no mark


def test_a_sandbox_that_breaks_later_is_no_failed_test(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One box server that died is replaced; here the next one dies, too."""
    needs(2)
    true_start, true_server = engines_module.BoxedLauncher.start, launcher_module._start_server

    def start(self: engines_module.BoxedLauncher, *arguments: object) -> object:
        monkeypatch.setattr(launcher_module, "_start_server", dead_server)
        self._boxes._server.kill()
        self._boxes._server.wait()
        return true_start(self, *arguments)  # type: ignore[arg-type]

    def dead_server() -> tuple[object, object]:
        control, server = true_server()
        server.kill()
        server.wait()
        return control, server

    monkeypatch.setattr(engines_module.BoxedLauncher, "start", start)
    program, test = engine(folder, "answer('a')"), case(folder, "1 a\n")
    result = run(program, [test], Options(sandbox="2", jobs=1))
    assert len(result.faults) == 1
    assert "the box server" in result.faults[0]
    assert [outcome.verdict for outcome in result.files[0].outcomes] == [Verdict.NOT_RUN]
    assert result.files[0].failure is None


@pytest.mark.long(20)  # until it is given up
def test_a_sandbox_that_hangs_later_is_no_engine_that_hangs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is it waited for without end, even by a run without a limit for the start."""
    needs(3)
    hangs = folder / "bwrap"
    hangs.write_text("#!/bin/sh\nexec sleep 600\n")
    hangs.chmod(0o755)
    true_start = engines_module.BoxedLauncher.start

    def start(self: engines_module.BoxedLauncher, *arguments: object) -> object:
        self._boxes._bubblewrap = str(hangs)
        return true_start(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(engines_module.BoxedLauncher, "start", start)
    program, test = engine(folder, "answer('a')"), case(folder, "1 a\n")
    limits = Limits(startup=0)
    result = run(program, [test], Options(sandbox="3", jobs=1, limits=limits))
    assert len(result.faults) == 1
    assert "the sandbox failed: it could not be made in time" in result.faults[0]
    assert [outcome.verdict for outcome in result.files[0].outcomes] == [Verdict.NOT_RUN]
    assert result.files[0].failure is None


def test_a_terminal_and_a_sandbox_do_not_go_together(folder: Path) -> None:
    with pytest.raises(UsageError, match="no terminal in a sandbox"):
        run("true", [case(folder, "1 a\n")], Options(sandbox="auto", pty=True))


def test_a_program_that_is_not_there(folder: Path) -> None:
    needs(2)
    (file,) = run("no_such_program", [case(folder, "1 a\n")], Options(sandbox="2")).files
    assert file.failure is not None
    assert file.failure.kind is FailureKind.NOT_STARTED
    assert "no program" in file.failure.message


# --- the command


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needs(2)
    program, test = engine(folder, "answer(os.getpid())"), case(folder, "1 a\n#? [[1-9]]\n")
    assert main(["run", "--sandbox", "2", program, test]) == 0
    assert main(["run", "--sandbox", "2", "--max-address-space", "1m", program, test]) == 2
    assert main(["run", "--sandbox", "4", program, test]) == 2
    assert "invalid choice" in capsys.readouterr().err


def test_the_oracle_is_seen_by_itself_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("own", "other"):
        (folder / room).mkdir()
        for name in ("gtp-oracle", "gtp-other"):
            (folder / room / name).touch(mode=0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(folder / "own"))
    monkeypatch.setenv("PATH", str(folder / "own"))
    home = str(Path(oracle.__file__).parent)
    assert visible_paths(f"{folder}/own/gtp-oracle gtp", "auto", ["x"]) == ("x", home)
    assert visible_paths("gtp-oracle gtp --mistake komi-twice", "3") == (home,)
    assert visible_paths(f"{folder}/other/gtp-oracle gtp", "auto", ["x"]) == ("x",)
    assert visible_paths(f"{folder}/own/gtp-other gtp-oracle", "auto") == ()
    assert visible_paths("gtp-oracle gtp", "off") == ()
