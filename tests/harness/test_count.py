"""How a score is counted, as a table on pages."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.board_evidence import Count, count_of
from harness.report.file_view import view
from harness.report.html.card import card
from harness.vocabulary.answers import lead
from oracle.answers import go_scoring, gosensei, java_go
from oracle.komi import plain_text
from oracle.position import BLACK, WHITE
from tests.harness.made_run import Line, V, made_file
from tests.oracle.boards import board, from_array
from tests.oracle.test_go_properties import cells

HEADS = ("Stones", "Territory", "Total")
WITH_KOMI = ("Stones", "Territory", "Komi", "Total")


@pytest.mark.parametrize(
    ("diagram", "komi", "expected"),
    [
        (
            "X.\n ..",
            "0",
            Count(
                HEADS,
                (("Black", ("1", "3", "4")), ("White", ("0", "0", "0"))),
                ("Black leads by", "4"),
            ),
        ),
        (
            ".X.O.\n .X.O.",
            "0.5",
            Count(
                WITH_KOMI,
                (("Black", ("2", "2", "–", "4")), ("White", ("2", "2", "0.5", "4.5"))),
                ("White leads by", "0.5"),
            ),
        ),
    ],
)
def test_both_colors_are_added_up(diagram, komi, expected):
    assert count_of(go_scoring.explain(board(diagram), Decimal(komi))) == expected


def test_one_color_alone_has_no_lead():
    found = count_of(java_go.explain_score(board("OX.\n XX."), BLACK))
    assert found == Count(("Prisoners", "Territory", "Total"), (("Black", ("1", "3", "4")),))


def test_what_adds_up_nothing_is_no_table():
    assert count_of(gosensei.explain_eyes(board(".X.\n XXX"), BLACK)) is None
    assert count_of(java_go.explain_legal(board("..\n .."), (0, 0), WHITE)) is None


@given(cells=cells(), komi=st.decimals(min_value=-20, max_value=20, places=1))
def test_the_table_says_what_the_answer_says(cells, komi):
    position = from_array(cells)
    found = count_of(go_scoring.explain(position, komi))
    assert " ".join(found.result).replace("A draw 0", "A draw") == lead(
        go_scoring.answer(position, komi)
    )
    for who, figures in found.rows:
        *terms, total = (Decimal(one) for one in figures if one != "–")
        assert sum(terms) == total, who
        color = BLACK if who == "Black" else WHITE
        assert terms[0] == position.stones(color).bit_count()
    if komi:
        assert found.rows[1][1][2] == plain_text(komi)


def test_a_card_of_a_wrong_score_has_the_table():
    lines = [
        Line("boardsize 3"),
        Line("clear_board"),
        Line("komi 0.5"),
        Line("play b b2"),
        Line("10 score", "=10 B+1", "[B\\+8\\.5]", V.FAILED),
    ]
    seen = view(made_file("a.gtp", lines))
    drawn = str(card(seen, seen.remarkable[0]))
    table = drawn.partition('<table class="cnt">')[2].partition("</table>")[0]
    assert "Black leads by</th>" in table
    assert [part.partition("<")[0] for part in table.split('<td class="num">')[1:]] == (
        ["1", "8", "–", "9", "0", "0", "0.5", "0.5", "8.5"]
    )
