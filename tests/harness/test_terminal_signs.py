"""What a terminal is sent: signs that it can show, and colors only if it has them."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper

import pytest

from harness.check.steps import CheckReporter
from harness.cli import console
from harness.cli.commandline import never_fail_to_encode
from harness.cli.console import can_draw, colors
from harness.report.paint import Paint, wrap
from oracle.draw import Diagram, draw_text
from oracle.position import Position

BOARD = draw_text(Diagram(Position.from_rows([[1, 0], [0, 2]])))


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({}, 0),
        ({"TERM": ""}, 0),
        ({"TERM": "dumb"}, 0),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, 0),
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "anything", "COLORTERM": "truecolor"}, 256),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, 0),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, 0),
        ({"FORCE_COLOR": "1"}, 256),
    ],
    ids=str,
)
def test_colors_by_environment(
    environment: dict[str, str], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert colors(Terminal()) == count
    if "FORCE_COLOR" not in environment:
        assert colors(StringIO()) == 0, "no terminal"


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("utf-8", "✗ ● ○ → \\udcff é".encode()),
        ("latin-1", b"x * o -> \\udcff \xe9"),
        ("ascii", b"x * o -> \\udcff \\xe9"),
    ],
)
def test_an_encoding_without_our_signs(
    encoding: str, written: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = TextIOWrapper(BytesIO(), encoding=encoding)
    monkeypatch.setattr(console.sys, "stdout", stream)
    never_fail_to_encode()
    stream.write("✗ ● ○ → \udcff é")
    stream.flush()
    assert stream.buffer.getvalue() == written  # type: ignore[attr-defined]
    assert can_draw(stream) is (encoding == "utf-8"), "boards are letters elsewhere"


# --- lines end at words ------------------------------------------------------------------------

RED, END = "\x1b[1;31m", "\x1b[0m"
WRAPPED = [
    ("one two three", 7, ["one two", "three"]),
    ("one two three", 0, ["one two three"]),  # a file has no edge
    ("one\ntwo three", 20, ["one", "two three"]),
    ("one  two", 20, ["one  two"]),
    ("  one two", 6, ["  one", "two"]),
    (f"{RED}one{END} {RED}two{END} three", 7, [f"{RED}one{END} {RED}two{END}", "three"]),
    (f"{RED}one two{END}", 4, [f"{RED}one{END}", f"{RED}two{END}"]),
    ("a " + 64 * "f", 20, ["a", 64 * "f"]),  # what has no blank stays whole, to be copied
    ("", 20, [""]),
]


@pytest.mark.parametrize(("text", "width", "lines"), WRAPPED)
def test_lines_end_at_words(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


def test_a_check_wraps_on_the_terminal_and_not_in_its_transcript(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A receipt in a transcript is a line, which the grading reads."""
    sayer = CheckReporter("check", Paint(0), unicode=True, width=40)
    sentence = "The log ends here; it is added to the archive, and that is packed again."
    sayer.note(sentence, "warn")
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 2 and max(map(len, shown)) <= 40
    assert all(line.startswith("   ") for line in shown)
    assert f"   {sentence}\r\n".encode() in sayer.transcript(0)
