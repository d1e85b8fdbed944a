"""Whatever a file holds: a command answers, or says what is wrong; there is no traceback."""

import contextlib
import io
import sys
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.boards.diagram import format_diagram, format_digits
from oracle.boards.gosensei import draw_gosensei, format_gosensei
from oracle.cli import main
from oracle.errors import FormatError
from oracle.formats import FORMATS, Snapshot, read_as
from oracle.position import Position

BOARD = Position.from_rows([[(row * column) % 3 for column in range(9)] for row in range(9)])
# As comments of case files draw it.
DRAWING = "# . X O\n# X . .\n# O O .\n"
SOUND = {
    "text": format_digits(BOARD),
    "gosensei": format_gosensei(BOARD),
    "picture": draw_gosensei(BOARD),
    "diagram": format_diagram(BOARD),
    "drawing": DRAWING,
    "sgf": "(;SZ[9];B[aa];W[bb](;B[cc])(;B[dd]))",
    "gtp": "boardsize 9\nkomi 6.5\nplay b a1\nplay w b2\n10 score\n#? [W+3]\ngenmove b\n",
}
COMMANDS = ["score", "captured", "legal", "eyes", "winner", "policy", "show", "gosensei -eyes"]


@st.composite
def files(draw, kind):
    """A sound file with a piece of it replaced by other text, or any bytes at all."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=80))
    text = SOUND[kind].encode()
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 12)))
    other = draw(
        st.one_of(st.binary(max_size=4), st.sampled_from([b"\n", b"3", b"-", b" ", b"b"]))
    )
    return text[:start] + other + text[end:]


@st.composite
def files_of_a_kind(draw):
    kind = draw(st.sampled_from(list(FORMATS)))
    return kind, draw(files(kind))


@pytest.mark.soak(2_000)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(files_of_a_kind())
def test_any_file_is_read_or_refused(file):
    kind, data = file
    try:
        snapshot = read_as(kind, data, "file")
    except FormatError as error:
        assert str(error).startswith("file:")
    else:
        assert isinstance(snapshot, Snapshot)
        assert snapshot.kind == kind


@pytest.mark.soak(2_000)
@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.sampled_from(COMMANDS), files_of_a_kind(), st.booleans())
def test_any_file_is_answered(command, file, as_json):
    json = ["--json"] if as_json and "-eyes" not in command else []
    with (
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(file[1]))),
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        status = main([*command.split(), "-", *json])
    if status == 0:
        assert out.getvalue()
    else:
        assert status == (1 if "-eyes" in command else 2)
        assert err.getvalue()
        assert not out.getvalue()
