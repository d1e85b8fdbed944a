"""What TEST arguments name."""

import errno
import os
from pathlib import Path

import pytest

from harness.core.errors import CaseError
from harness.reading.suite import expand


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with some case files and suites."""
    for name in ["b.gtp", "a.tst", "notes.txt", ".hidden.gtp", "sub/c.gtp", ".git/d.gtp"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "sub" / "inner").write_text("c.gtp\r\n@../flat\n")
    (tmp_path / "flat").write_text("# comment\n\n  b.gtp \n")
    (tmp_path / "nested").write_text("\ufeffa.tst\n@flat\nsub\n")
    (tmp_path / "beside").write_text("@sub/inner\n")
    (tmp_path / "one").write_text("a.tst\n@two\n")
    (tmp_path / "two").write_text("@./one\n")
    (tmp_path / "self").write_text("@self\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("tests", "paths"),
    [
        (["b.gtp", "a.tst", "b.gtp"], ["b.gtp", "a.tst", "b.gtp"]),
        (["notes.txt", "missing.gtp"], ["notes.txt", "missing.gtp"]),
        (["."], ["./a.tst", "./b.gtp", "./sub/c.gtp"]),
        (["sub/"], ["sub/c.gtp"]),
        (["@flat"], ["b.gtp"]),
        (["@nested", "a.tst"], ["a.tst", "b.gtp", "sub/c.gtp", "a.tst"]),
        (["@flat", "@flat"], ["b.gtp", "b.gtp"]),
        # names are those of here, or else of the suite's folder
        (["@beside"], ["sub/c.gtp", "b.gtp"]),
    ],
)
def test_names(tests: list[str], paths: list[str], folder: Path) -> None:
    assert [str(Path(path)) for path in expand(tests)] == [str(Path(path)) for path in paths]


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("@self", "self: the suite contains itself: @self → @self"),
        ("@one", r"one: the suite contains itself: @one → @two → @one"),
        ("@missing", "missing: the suite cannot be read: No such file or directory"),
        ("@sub", "sub: the suite cannot be read: Is a directory"),
        ("empty", r"empty: found no case files in this folder, expected \*\.gtp or \*\.tst"),
    ],
)
def test_errors(test: str, message: str, folder: Path) -> None:
    with pytest.raises(CaseError, match=message):
        expand(["a.tst", test])


def test_links_and_capitals(folder: Path) -> None:
    """Each folder is read once, under its own name if it has one here."""
    (folder / "sub" / "UPPER.GTP").write_text("")
    (folder / "sub" / "round").symlink_to(folder)
    (folder / "again").symlink_to("sub")
    (folder / "more").mkdir()
    (folder / "more" / "x.tst").symlink_to(folder / "a.tst")
    (folder / "here").symlink_to(folder / "more")
    assert expand(["sub"])[:2] == ["sub/UPPER.GTP", "sub/c.gtp"]
    assert expand(["."]) == [
        *("./a.tst", "./b.gtp", "./more/x.tst", "./sub/UPPER.GTP", "./sub/c.gtp"),
    ]
    assert expand(["here"]) == ["here/x.tst"]


def test_a_link_to_a_folder_is_followed_wherever_it_stands(folder: Path) -> None:
    (folder / "far").mkdir()
    (folder / "far" / "z.gtp").write_text("")
    (folder / "sub" / "deep").symlink_to(folder / "far")
    assert expand(["sub"]) == ["sub/c.gtp", "sub/deep/z.gtp"]


def test_what_cannot_be_read_stops_no_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root can read anything, so that the kernel's refusal is made up."""
    scan = os.scandir

    def refusing(path: str) -> object:
        if path == "./sub":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    (folder / "odd").write_text("a\0b\n" + 300 * "x" + "\nb.gtp\n")
    errors: list[str] = []
    names = [".", "empty", "@missing", "@odd"]
    assert expand(names, lambda error: errors.append(str(error))) == [
        *("./a.tst", "./b.gtp", "a\0b", 300 * "x", "b.gtp"),
    ]
    assert errors == [
        "./sub: the folder cannot be read: Permission denied",
        "empty: found no case files in this folder, expected *.gtp or *.tst",
        "missing: the suite cannot be read: No such file or directory",
    ]
