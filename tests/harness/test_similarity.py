"""Submissions that are the same except for blanks and comments, and those that only look so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.records import Twins
from harness.grading.similarity import tokens, twins

ROOT = Path(__file__).parents[1] / "submissions"
PYTHON = (Path(__file__).parents[2] / "harness" / "grading" / "marks" / "marker.py").read_text()
C = """\
#include <stdio.h>
/* eyes of black */
static int eye(int row, int column, char board[9][9]) {
    int missing = 0; // diagonals
    const char *name = "/* no comment */ // none";
    for (int i = -1; i <= 1; i += 2)
        missing += board[row + i][column + i] != 'b';
    printf("%s %d\\n", name, missing);
    return missing < 2;
}
"""


def add_comments(text: str) -> str:
    """Return a Python program with other blanks and comments."""
    lines = (f"{line}  # {number}" if _is_code(line) else line
             for number, line in enumerate(text.replace(" = ", "=").splitlines()))  # fmt: skip
    return "# mine\n\n" + "\r\n".join(lines)


def _is_code(line: str) -> bool:
    return bool(re.match(r"    return \w+$", line))


def a_class(*programs: str, name: str = "Go1.py", **more: str):
    extra = {key.replace("_", "."): text.encode() for key, text in more.items()}
    return {f"s{number}": {name: text.encode(), **extra} for number, text in enumerate(programs)}


def own(number: int, marker: str = "x") -> str:
    return PYTHON.replace("fisher", f"{marker}{number}")


ROWS = [
    ("byte for byte", a_class(PYTHON, own(1), PYTHON), [Twins(("s0", "s2"), True, ("Go1.py",))]),
    ("blanks", a_class(PYTHON, own(1), add_comments(PYTHON)),
     [Twins(("s0", "s2"), False, ("Go1.py",))]),
    ("three", a_class(PYTHON, PYTHON, add_comments(PYTHON)),
     [Twins(("s0", "s1", "s2"), False, ("Go1.py",))]),
    ("one word", a_class(PYTHON, PYTHON.replace("fisher", "fishes")), []),
    ("a number", a_class(PYTHON, PYTHON.replace("0.01", "0.02")), []),
    ("a string", a_class(PYTHON, PYTHON.replace('"order"', '"# order"')), []),
    ("C", a_class(C, C.replace("// diagonals", "").replace("    ", "\t"), name="eyes.c"),
     [Twins(("s0", "s1"), False, ("eyes.c",))]),
    ("a string of C", a_class(C, C.replace("// none", ""), name="eyes.c"), []),
    ("too small", a_class("print(1)", "print(1)"), []),
    ("no program", {"a": {"readme.txt": b"me"}, "b": {"readme.txt": b"me"}}, []),
    ("starter that all have", a_class(*map(own, range(6)), board_py=PYTHON), []),
    ("nothing but the starter", a_class(*[PYTHON] * 6), []),
    ("beside the starter", a_class(*map(own, range(6)), own(3), board_py=PYTHON),
     [Twins(("s3", "s6"), True, ("Go1.py",))]),
]  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])  # fmt: skip
def test_which_are_the_same(found, expected):
    assert list(twins(found)) == expected


def test_what_the_course_gives_out_is_nobodys():
    handed = a_class(own(1), own(2), gtp_py=PYTHON)
    alone = {key: {"gtp.py": files["gtp.py"]} for key, files in handed.items()}
    assert twins(alone, [{"gtp_connection.py": PYTHON.encode()}]) == ()
    assert len(twins(alone)) == 1


def test_another_name_hides_nothing():
    found = twins({"a": {"Go1.py": PYTHON.encode()}, "b": {"my/Go.py": PYTHON.encode()}})
    assert found == (Twins(("a", "b"), True, ("Go1.py",)),)


def test_programs_of_the_tests_are_told_apart():
    """Each was made by hand from the right one, with one thing changed."""
    files = {
        path.parent.name: {path.name: path.read_bytes()} for path in ROOT.glob("java-go/*/*.java")
    }
    names = [one for pair in twins(files) for one in pair.keys]
    assert not {name for name in names if name.startswith("no_")} - {"no_comment"}


_BLANKS = st.sampled_from([" ", "  ", "\t", "\n", "\n\n", " # said\n", "\\\n"])
_TOKENS = st.lists(st.sampled_from(["x", "12", "+", "(", "'a # b'", '"""c\n#d"""']), min_size=1)


@given(_TOKENS, st.data())
def test_blanks_and_comments_make_no_difference_and_all_else_does(words, data):
    def join_with_blanks(parts):
        return "".join(word + data.draw(_BLANKS) for word in parts).encode()

    assert tokens("a.py", join_with_blanks(words)) == tokens("a.py", join_with_blanks(words))
    assert tokens("a.py", join_with_blanks(words)) != tokens(
        "a.py", join_with_blanks([*words, "y"])
    )
