"""What each command is, in one table; what derives from it; what a name alone tells."""

from __future__ import annotations

import pytest

from harness.specifications import EVERYONES, NAMES, specification
from oracle.command_properties import (
    ASKS,
    BOARD,
    KOMI,
    STANDARD,
)
from oracle.gtp import GAMES, new_engine

# One letter for each thing that somebody derives from the table.
LETTERS = {
    "B": lambda one: one.begins_board,
    "C": lambda one: one.clears,
    "S": lambda one: one.is_setting,
    "U": lambda one: one.sets_up and not (one.begins_board or one.is_setting),  # goes on
    "M": lambda one: one.moves,
    "L": lambda one: one.lays,
    "f": lambda one: one.names_file,
    "c": lambda one: one.chooses,
    "t": lambda one: one.tells,
    "a": lambda one: one.stands_alone,
    "?": lambda one: one.asks,
    "-": lambda one: one.says_nothing,
}
TABLE = """
boardsize                B-
clear_board              BC-
loadsgf                  BLf-
load_board               BCLf-
komi                     S-
policy                   S-
play                     UM-
black                    UM-
white                    UM-
gogui-play_sequence      UM-
genmove                  UMcta
kgs-genmove_cleanup      UMcta
reg_genmove              ca?
undo                     U-
gg-undo                  U-
gogui-setup              UL-
gogui-setup_player       U-
fixed_handicap           ULt
place_free_handicap      ULct
set_free_handicap        UL-
quit                     a
is_valid                 f?
protocol_version         ?
name                     ?
version                  ?
known_command            ?
list_commands            ?
cputime                  ?
final_score              ?
final_status_list        ?
showboard                ?
get_komi                 ?
all_legal                ?
legal_moves              ?
is_legal                 ?
captures                 ?
list_stones              ?
countlib                 ?
findlib                  ?
get_handicap             ?
query_boardsize          ?
query_orientation        ?
gogui-analyze_commands   ?
gogui-rules_board_size   ?
gogui-rules_side_to_move ?
score                    ?
policy_moves             ?
eyes                     ?
twoeyes                  ?
eyespaces                ?
display                  ?
is_captured              ?
can_play                 ?
is_over                  ?
"""
ROWS = [tuple(line.split()) for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(("name", "letters"), ROWS)
def test_what_each_command_is(name, letters):
    assert EVERYONES[name].is_known
    assert "".join(letter for letter, has in LETTERS.items() if has(EVERYONES[name])) == letters


def test_the_table_has_every_command_that_is_known():
    own = {command for name in NAMES for command in specification(name).command_properties}
    standard = {name for name, one in STANDARD.items() if one.is_known and one is not ASKS}
    assert {name for name, _ in ROWS} >= own | standard


@pytest.mark.parametrize("game", GAMES)
def test_the_oracles_own_commands_are_told_apart(game):
    """What it does not know as a question can be undone, set anew, or is about its clock."""
    strangers = {name for name in new_engine(game).commands if not EVERYONES[name].is_known}
    assert strangers <= {"time_settings", "time_left"}


def test_an_answer_may_depend_on_more():
    score = ASKS.needing(KOMI)
    assert score.needs == BOARD | {KOMI}
    assert score.does_as(ASKS)
    assert not score.does_as(STANDARD["komi"])
    assert ASKS.needs == BOARD
