"""Why a program died: real endings of standard error, and what a student is told of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.launch import GAME_FOLDERS
from harness.reading.last_words import first_words, last_words, normalize
from harness.running.runs import Options, run

STARTER = """\
Traceback (most recent call last):
  File "/tmp/gtp-harness-x1/assignment1/Go1.py", line 9, in <module>
    from util.gtp_connection import GtpConnection
  File "/tmp/gtp-harness-x1/assignment1/../util/gtp_connection.py", line 31, in <module>
    log = open("gtp_log", "w")
          ^^^^^^^^^^^^^^^^^^^^
FileNotFoundError: [Errno 2] No such file or directory: 'gtp_log'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/tmp/gtp-harness-x1/assignment1/Go1.py", line 40, in <module>
    run()
  File "/tmp/gtp-harness-x1/util/gtp_connection.py", line 37, in __del__
    self.file.close()
AttributeError: 'GtpConnection' object has no attribute 'file'
"""
CAUSED = """\
Traceback (most recent call last):
  File "/s/Go1.py", line 3, in score
    return int(text)
ValueError: invalid literal for int() with base 10: 'x'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/s/Go1.py", line 5, in <module>
    raise RuntimeError("no score") from error
RuntimeError: no score
"""
NUMPY = """\
Traceback (most recent call last):
  File "/s/a/board.py", line 2, in <module>
    import numpy as np
  File "/usr/lib/python3/dist-packages/numpy/__init__.py", line 140, in <module>
    from . import core
ImportError:

IMPORTANT: PLEASE READ THIS FOR ADVICE ON HOW TO SOLVE THIS ISSUE!

Original error was: No module named 'numpy.core._multiarray_umath'
"""
CAUGHT_BEFORE = """\
Traceback (most recent call last):
  File "/s/Go1.py", line 3, in play
    raise KeyError("first")
KeyError: 'first'
thinking
Traceback (most recent call last):
  File "/s/Go1.py", line 8, in score
    return self.board[x]
IndexError: list index out of range
"""
SYNTAX = """\
  File "/s/assignment1/Go1.py", line 12
    def score(:
              ^
SyntaxError: invalid syntax
"""
IMPORTED_SYNTAX = """\
Traceback (most recent call last):
  File "/s/assignment1/Go1.py", line 1, in <module>
    import board
  File "/s/assignment1/board.py", line 7
    print "hello"
    ^^^^^^^^^^^^^
SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?
"""
JAVA = """\
Exception in thread "main" java.lang.RuntimeException: cannot score
\tat Go.score(Go.java:40)
\tat Go.main(Go.java:8)
Caused by: java.lang.ArrayIndexOutOfBoundsException: Index 11 out of bounds for length 11
\tat java.base/java.util.Arrays.get(Arrays.java:71)
\tat Board.region(Board.java:23)
\tat Go.score(Go.java:38)
\t... 1 more
"""
NO_CLASS = """\
Error: Could not find or load main class Go
Caused by: java.lang.ClassNotFoundException: Go
"""
ASAN = """\
=================================================================
==4711==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55e
READ of size 4 at 0x602000000014 thread T0
    #0 0x7f1c in __interceptor_memcpy /usr/src/gcc/libsanitizer/asan.cpp:22
    #1 0x55e1 in eyes /s/gosensei/src/goboard.c:31:9
    #2 0x55e2 in main /s/gosensei/src/main.c:12
SUMMARY: AddressSanitizer: heap-buffer-overflow src/goboard.c:31 in eyes
==4711==ABORTING
"""
TABLE = [
    (
        STARTER,
        "FileNotFoundError: [Errno 2] No such file or directory: 'gtp_log'"
        " (line 9 of Go1.py: from util.gtp_connection import GtpConnection)",
    ),
    (
        CAUSED,
        "ValueError: invalid literal for int() with base 10: 'x'"
        " (line 3 of Go1.py: return int(text))",
    ),
    (
        NUMPY,
        "ImportError: IMPORTANT: PLEASE READ THIS FOR ADVICE ON HOW TO SOLVE THIS ISSUE!"
        " … Original error was: No module named 'numpy.core._multiarray_umath'"
        " (line 2 of board.py: import numpy as np)",
    ),
    (
        CAUGHT_BEFORE,
        "IndexError: list index out of range (line 8 of Go1.py: return self.board[x])",
    ),
    (SYNTAX, "SyntaxError: invalid syntax (line 12 of Go1.py: def score(:)"),
    (
        IMPORTED_SYNTAX,
        "SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?"
        ' (line 7 of board.py: print "hello")',
    ),
    (
        JAVA,
        "java.lang.ArrayIndexOutOfBoundsException: Index 11 out of bounds for length 11"
        " (line 23 of Board.java)",
    ),
    (NO_CLASS, "Error: Could not find or load main class Go"),
    (
        ASAN,
        "AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55e"
        " (line 31 of goboard.c)",
    ),
    (
        "src/goboard.c:31:9: runtime error: signed integer overflow\n",
        "src/goboard.c:31:9: runtime error: signed integer overflow",
    ),
    (
        "gosensei: src/main.c:12: main: Assertion `n < 9' failed.\n",
        "gosensei: src/main.c:12: main: Assertion `n < 9' failed.",
    ),
    (
        "terminate called after throwing an instance of 'std::out_of_range'\n  what():  at 9\n",
        "terminate called after throwing an instance of 'std::out_of_range': at 9",
    ),
    ("loading\nSegmentation fault\n", "Segmentation fault"),
    ("python3: can't open file '/s/Go1.py': [Errno 2]\n", "python3: can't open file '/s/Go1.py'"),
    ("Traceback (most recent call last):\n", "Traceback (most recent call last):"),
    # What a program writes as a number of a line may be no number that Python reads.
    (f'  File "/s/Go1.py", line {"1" * 5_000}\nKeyError: 1\n', "KeyError: 1"),
    (f"Error: x\n\tat Go.score(Go.java:{'1' * 5_000})\n", "Error: x"),
    (f"==1==ERROR: x\n    #0 0x1 in f /s/a.c:{'1' * 5_000}\n", "x"),
    ("", ""),
    ("\n  \n", ""),
]


@pytest.mark.parametrize(("stderr", "told"), TABLE, ids=range(len(TABLE)))
def test_why_it_died(stderr, told):
    assert str(last_words(stderr)).startswith(told)
    if not told:
        assert str(last_words(stderr)) == ""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            "def score():\n    return {}['a1']\nscore()",
            "KeyError: 'a1' (line 2 of Go1.py: return {}['a1'])",
        ),
        (
            "try:\n    open('/nowhere/gtp_log', 'w')\nexcept OSError:\n    [].file",
            "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/gtp_log'"
            " (line 2 of Go1.py: open('/nowhere/gtp_log', 'w'))",
        ),
        ("if", "SyntaxError: invalid syntax (line 1 of Go1.py: if)"),
    ],
)
def test_what_this_python_says_is_understood(tmp_path, program, told):
    (tmp_path / "Go1.py").write_text(f"{program}\n")
    words = [sys.executable, str(tmp_path / "Go1.py")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told in str(last_words(done.stderr))


def test_two_that_die_of_the_same_have_the_same_reason():
    other = STARTER.replace("/tmp/gtp-harness-x1/assignment1", "/home/ben/a1").replace("40", "77")
    assert last_words(STARTER).reason == last_words(other).reason
    assert last_words(STARTER).reason != last_words(CAUSED).reason
    assert last_words(ASAN).reason == last_words(ASAN.replace("602000000014", "60200000ff")).reason
    assert normalize("can't open '/s/ada/Go1.py': [Errno 2]") == "can't open 'Go1.py': [Errno N]"


@given(st.text(alphabet='Trace\n "File,line 1at(.java:)#0x ' + "\x1b\ud800", max_size=200))
def test_whatever_was_written_is_one_harmless_line(stderr):
    told = str(last_words(f"{stderr}\nTraceback (most recent call last):\n{stderr}"))
    assert "\n" not in told
    assert "\x1b" not in told
    assert len(told) < 500


FIRST_WORDS = [
    ("Invalid mode selection: gpt\nTry `gnugo --help' for more information.\n",
     "Invalid mode selection: gpt"),
    ("\n  usage: engine\nengine: error: unrecognized arguments: --mode\n", "usage: engine"),
    ("No such option.\n", ""),
    ("", ""),
    ("\n \n", ""),
    (STARTER, ""),
    (SYNTAX, ""),
]  # fmt: skip


@pytest.mark.parametrize(("stderr", "expected"), FIRST_WORDS)
def test_first_words_are_told_where_the_last_are_not_all(stderr, expected):
    assert first_words(stderr) == expected


@given(st.text())
def test_first_words_of_any_text_are_one_line(text):
    assert len(first_words(text).splitlines()) <= 1


STARTS = {
    "gnugo --mode gpt": "Its first words: Invalid mode selection: gpt; its last words: Try `gnugo"
    " --help' for more information.",
    r"sh -c 'printf one\\ntwo\\nthree\\n >&2; exit 1'": "Its first words: one; its last words:"
    " three",
    r"sh -c 'printf one\\ntwo\\n >&2; read x; printf =\\n\\n; read x; exit 1'": "Its last"
    " words: two",
}


@pytest.mark.processes
@pytest.mark.parametrize("command", STARTS)
def test_a_program_that_dies_at_its_start_is_shown_with_its_first_words(command, tmp_path):
    """Later its first words are about something else."""
    name = command.split()[0]
    if not shutil.which(name, path=os.pathsep.join((os.environ["PATH"], *GAME_FOLDERS))):
        pytest.skip(f"{name} is not installed")
    case = tmp_path / "case.gtp"
    case.write_text("10 name\n#? [.*]\n20 version\n#? [.*]\n")
    (file,) = run(command, [str(case)], Options(jobs=1)).files
    assert file.failure.message.endswith(f". {STARTS[command]}")
