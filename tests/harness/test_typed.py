"""The named tuples of ours are those of typing."""

from __future__ import annotations

import pickle
import subprocess
import sys
import typing

import pytest

from harness import typed
from harness.paths import join_path


class Mine(typed.NamedTuple):
    """Something."""

    one: int
    two: str | None = None
    three: tuple[int, ...] = ()

    @property
    def both(self) -> str:
        return f"{self.one}{self.two}"

    @classmethod
    def made(cls) -> Mine:
        return cls(7)


class Theirs(typing.NamedTuple):
    """Something."""

    one: int
    two: str | None = None
    three: tuple[int, ...] = ()

    @property
    def both(self) -> str:
        return f"{self.one}{self.two}"

    @classmethod
    def made(cls) -> Theirs:
        return cls(7)


def test_they_are_alike() -> None:
    for name in ("_fields", "_field_defaults", "__doc__", "__module__", "__match_args__"):
        assert getattr(Mine, name) == getattr(Theirs, name), name
    assert Mine.__annotations__.keys() == Theirs.__annotations__.keys()
    mine, theirs = Mine(1, three=(2,)), Theirs(1, three=(2,))
    assert mine == theirs
    assert mine.both == theirs.both == "1None"
    assert repr(mine) == repr(theirs).replace("Theirs", "Mine")
    assert mine._asdict() == theirs._asdict()
    assert mine._replace(two="x") == theirs._replace(two="x")
    assert Mine.made() == Theirs.made()
    assert pickle.loads(pickle.dumps(mine)) == mine
    assert not hasattr(mine, "__dict__")
    with pytest.raises(TypeError):
        Mine()  # type: ignore[call-arg]


@pytest.mark.processes
def test_a_run_loads_neither_typing_nor_pathlib() -> None:
    """Each takes longer to load than hundreds of commands take to run."""
    loaded = "harness.cli.run, harness.report.gogui, harness.report.html"
    loaded += ", harness.reading.java_regex"
    code = f"import sys; sys.path[:0] = {sys.path!r}; import {loaded}; print(*sys.modules)"
    words = [sys.executable, "-S", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert {"typing", "pathlib", "oracle.draw"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize(
    ("folder", "path", "found"),
    [
        ("/a", "b", "/a/b"),
        ("/a", "./b/../c", "/a/b/../c"),
        ("/a/", "/b", "/b"),
        ("", "b", "b"),
        ("./a", ".//b", "a/b"),
        ("", ".", "."),
    ],
)
def test_paths_are_as_pathlib_spells_them(folder: str, path: str, found: str) -> None:
    from pathlib import Path

    assert join_path(folder, path) == str(Path(folder, path)) == found
