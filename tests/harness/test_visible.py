"""Whatever an engine sends can be shown, and nothing that can is changed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.text import escape_controls, one_line, without_surrogates

CASES = [
    ("plain text\n\twith a tab", "plain text\n\twith a tab"),
    ("dos\r\nlines\r\n", "dos\nlines\n"),
    ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    ("nul\x00 bell\x07 delete\x7f", "nul\\x00 bell\\x07 delete\\x7f"),
    ("\udcff\udc80", "\\xff\\x80"),
    ("\ud800", "\\ud800"),
    ("\x85\x9b", "\\x85\\x9b"),
    ("\u202eevil\u2066", "\\u202eevil\\u2066"),
    ("\ufffe\uffff", "\\ufffe\\uffff"),
    ("ähm — 黑白 ●○ 🙂", "ähm — 黑白 ●○ 🙂"),
    ("lone\rreturn", "lone\\x0dreturn"),
]


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_visible(text, shown):
    assert escape_controls(text) == shown


# What XML 1.0 can hold (section 2.2), less the control characters that it discourages.
FIT = {"\t", "\n"}


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_everything_becomes_fit(text):
    shown = escape_controls(text)
    shown.encode()
    assert all(char in FIT or (char >= " " and not "\x7f" <= char <= "\x9f") for char in shown)
    assert escape_controls(shown) == shown
    without_surrogates(text).encode()


@pytest.mark.parametrize("beside", ["", "\n", "a\n", "✓\n", "é\n"])
def test_each_character_is_judged_alike_whatever_is_beside_it(beside):
    for code in (*range(0x2100), *range(0xD7F0, 0xE010), 0xFFFD, 0xFFFE, 0x1F600):
        text = beside + chr(code)
        is_unfit = unicodedata.category(chr(code)) in {"Cc", "Cs"} and chr(code) not in "\t\n"
        is_unfit |= code in {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFFFE}
        assert (escape_controls(text) != text) is is_unfit, hex(code)


def test_one_line():
    assert one_line("a\nb\tc") == "a ⏎ b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"
