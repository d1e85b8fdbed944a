"""What says whose a program is, and what becomes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.grading.banking.anonymous import (
    BankPerson,
    NeutralNames,
    UnreadableError,
    strip_comments,
)

ADA = BankPerson("Ada Lovelace", ("adalove", "1234567", "ada.lovelace@example.edu"))
MAX = BankPerson("Max Müller-Black", ("mmueller",))


def clean(text: str, name: str = "a.py") -> str:
    return strip_comments({name: text.encode()}).get(name, b"(left out)").decode()


def anonymize(text: str, *people: BankPerson, others: tuple[str, ...] = ()) -> str:
    names = NeutralNames(people or (ADA,), [{"a.c": one.encode()} for one in (text, *others)])
    ((_, content),) = names.without({"a.c": text.encode()}).values()
    return content.decode()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("# Ada\nx = 1 # by Ada\n", "x = 1\n"),
        ('"""By Ada."""\nx = 1\n', "x = 1\n"),
        ("def f():\n    'By Ada.'\n", "def f():\n    pass\n"),
        ("class A:\n    'By Ada.'\n    def f(self):\n        'x'\n        return '#'\n",
         "class A:\n\n    def f(self):\n        return '#'\n"),
        ("__author__ = 'Ada'\n", "__author__ = ''\n"),
        ("if x:\n    'only a text'\nelse:\n    y()\n", "if x:\n    pass\nelse:\n    y()\n"),
        ("#!/home/ada/bin/python3\nx = 1\n", "#!/usr/bin/env python3\nx = 1\n"),
    ],
)  # fmt: skip
def test_a_python_program_is_written_anew(text, left):
    assert clean(text) == left


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("a.c", "int a; // Ada\n/* by\nAda */ char *b = \"// no\";\n",
         'int a;  \n\n char *b = "// no";\n'),
        ("A.java", "/** @author Ada */\nclass A {}\n", " \nclass A {}\n"),
        ("a.cpp", "char c = '\"'; // Ada\n", "char c = '\"';  \n"),
        ("Makefile", "# Ada\nall: a # Ada's\n\techo '# no' # Ada\n", "\nall: a\n\techo '# no'\n"),
        ("run", "#!/home/ada/bin/sh\n# Ada\nexec ./a #Ada\n", "#!/bin/sh\n\nexec ./a\n"),
        ("gosensei", "#!/usr/bin/python3\n# Ada\nx = 1\n", "#!/usr/bin/env python3\nx = 1\n"),
        ("readme.txt", "Ada Lovelace", "(left out)"),
        ("log", "ada@pc:~$ ./a", "(left out)"),
        ("a.pyc", "/home/ada/a.py", "(left out)"),
    ],
)  # fmt: skip
def test_comments_go_whatever_the_language(name, text, left):
    assert clean(text, name) == left


def test_what_is_no_program_of_python_3_is_refused():
    with pytest.raises(UnreadableError, match="not a program of Python 3"):
        clean("print 'Ada'\n")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("ada_board", "namea_board"),
        ("AdaBoard ADA_MAX adasBoard", "NameaBoard NAMEA_MAX adasBoard"),
        ("the engine of Ada Lovelace", "the engine of Namea"),
        ("Lovelace, Ada", "Namea"),
        ("alovelace adalovelace", "namea nameb"),
        ("id 1234567 and 12345678", "id namea and 12345678"),
        ("ada@home.net ada.lovelace@example.edu", "someone@example.org someone@example.org"),
        ("/home/ada/x C:\\Users\\ada\\x", "/home/someone/x C:\\Users\\someone\\x"),
        ("adapter canada", "adapter canada"),
    ],
)
def test_names_become_neutral_words(text, left):
    assert anonymize(text) == left


def test_accents_and_their_other_spellings():
    assert anonymize("Müller muller MÜLLER", MAX) == "Namea namea NAMEA"


def test_what_every_program_says_is_no_name():
    """``max`` is a function, and ``black`` a color: to rename them would break programs."""
    assert anonymize("max(black, 1)", MAX) == "max(black, 1)"
    assert anonymize("by Max Müller-Black", MAX) == "by Namea"


def test_what_several_programs_say_is_no_name():
    love = BankPerson("Joy Chain")
    assert anonymize("chain", love) == "namea"
    assert anonymize("chain", love, others=("a chain", "chains of chain")) == "chain"


def test_one_word_stands_for_one_name_in_all_files():
    names = NeutralNames([ADA], [])
    files = {"ada_x.py": b"import lovelace", "lovelace.py": b"ada = 1", "Ada1.py": b""}
    assert names.without(files, ["Ada1.py"]) == {
        "Ada1.py": ("Ada1.py", b""),
        "ada_x.py": ("namea_x.py", b"import nameb"),
        "lovelace.py": ("nameb.py", b"namea = 1"),
    }


@given(st.lists(st.sampled_from(["ada", "Ada", "lovelace", "x", "_", "1", " ", "B"]), max_size=8))
def test_no_whole_word_of_a_name_is_left(parts):
    text = anonymize("".join(parts))
    words = set("".join(c if c.isalpha() else " " for c in text).split())
    assert not {word.casefold() for word in words} & {"ada", "lovelace"}
