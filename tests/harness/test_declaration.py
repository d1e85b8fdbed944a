"""What a teacher declares: read, with its defaults and its errors; how replies are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assignments.assignment import find
from harness.core.errors import AssignmentError
from harness.declared import specifying
from harness.declared.declaration import (
    ALTERNATE,
    Argument,
    DeclaredCommand,
    DeclaredGame,
    Form,
    GameEndQuery,
    Kind,
    read,
)
from harness.declared.game_state import ConversationState, place_of, vertex_of
from harness.reading import pattern

NOGO = """\
[reference]
command = "python3 nogo.py"
[game]
protocol = "gtp"
colors = ["b", "w"]
sizes = [2, 3, [3, 6]]
turns = "alternate"
refused = "(?i)illegal move"
over = { ask = "gogui-rules_final_result", is = "black|white" }
[[command]]
name = "play"
kind = "moves"
arguments = ["color", "vertex"]
bad = ["{turn} pass", "x a1"]
[[command]]
name = "gogui-rules_legal_moves"
kind = "asks"
reply = "any order"
[[command]]
name = "genmove"
kind = "chooses"
arguments = ["color"]
instead = ["resign", "pass"]
plays = true
[[command]]
name = "policy"
kind = "sets"
arguments = [["random", "pattern"]]
[[command]]
name = "digit"
arguments = [{ from = 1, to = 3 }, { files = "*.txt" }]
"""


def read_declaration(tmp_path, text):
    path = tmp_path / "game.toml"
    path.write_text(text)
    return read(path)


def test_a_declaration_is_read_as_it_stands(tmp_path):
    found = read_declaration(tmp_path, NOGO)
    assert found.game == DeclaredGame(
        sizes=((2, 2), (3, 3), (3, 6)),
        refused="(?i)illegal move",
        over=GameEndQuery("gogui-rules_final_result", "black|white"),
    )
    assert found.reference is not None
    assert found.reference.command == "python3 nogo.py"
    play = found.command("play")
    assert play is not None
    assert play.bad == ("{turn} pass", "x a1")
    assert [one.name for one in found.of_kind(Kind.STARTS)] == ["boardsize", "clear_board"]
    assert [one.name for one in found.of_kind(Kind.CHOOSES, Kind.SETS)] == ["genmove", "policy"]
    digit = found.command("digit")
    assert digit is not None
    assert digit.arguments == (Argument(words=("1", "2", "3")), Argument(files="*.txt"))


def test_what_is_forgotten_has_a_default(tmp_path):
    found = read_declaration(tmp_path, '[[command]]\nname = "score"\n')
    assert found.game == DeclaredGame()
    assert found.game.turns == ALTERNATE
    assert found.reference is None
    assert [(one.name, one.kind) for one in found.commands] == [
        ("boardsize", Kind.STARTS),
        ("clear_board", Kind.STARTS),
        ("play", Kind.MOVES),
        ("score", Kind.ASKS),
    ]
    assert found.move is not None
    assert "{other} {vertex}" in found.move.bad
    assert found.move.reply == (Form.FREE,), "what a move says when all is well is not compared"


def test_nothing_is_added_that_other_commands_do(tmp_path):
    text = """
[[command]]
name = "init"
kind = "starts"
arguments = ["columns", "rows"]
[[command]]
name = "put"
kind = "moves"
arguments = ["vertex"]
"""
    assert [one.name for one in read_declaration(tmp_path, text).commands] == ["init", "put"]
    other = '[game]\nprotocol = "status last"\n' + text
    assert [one.name for one in read_declaration(tmp_path, other).commands] == ["init", "put"]


WRONG = [
    ("[game]\nprotocol = 'http'", "game.protocol", "expected 'gtp' or 'status last'"),
    ("[game]\nsizes = [30]", "game.sizes[1]", "found 30, expected a size from 1 to 25"),
    ("[game]\nrefused = '('", "game.refused", "a regular expression"),
    ("[game]\nrefused = 'a{99999999999}'", "game.refused", "a regular expression"),
    ("[game]\nover = { ask = 'x' }", "game.over.is", "the key is missing"),
    ("[game]\ncolor = ['b']", "game.color", "did you mean 'colors'?"),
    ("[[command]]\nkind = 'asks'", "command[1].name", "expected the name of a command"),
    ("[[command]]\nname = 'x'\nbad = ['{who}']", "command[1].bad[1]", "no other braces than"),
    ("[[command]]\nname = 'x'\narguments = ['point']", "command[1].arguments[1]", "'vertex'"),
    ("[[command]]\nname='x'\narguments=[{from=5,to=1}]", "command[1].arguments[1]", "from = 1"),
    ("[[command]]\nname = 'x'\n[[command]]\nname = 'x'", "command[2].name", "each command once"),
    ("extends = 'chess'", "extends", "expected 'go-scoring'"),
    ("extends = 'go-scoring'\n[[command]]\nname='x'\nkind='moves'", "command[1].kind", "'sets'"),
    ("[reference]\ncommand = 'a \"b'", "reference.command", "a command that can be split"),
]


@pytest.mark.parametrize(("text", "key", "message"), WRONG, ids=[one[0] for one in WRONG])
def test_an_error_names_the_key_and_what_is_expected(tmp_path, text, key, message):
    with pytest.raises(AssignmentError) as error:
        read_declaration(tmp_path, text)
    assert error.value.key == key
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "game.toml"))


# --- forms -------------------------------------------------------------------------------------


def form(reply, refused="", refusals=Form.FREE):
    reply = (reply,) if isinstance(reply, str) else reply
    return specifying.form_of(
        DeclaredCommand("x", Kind.ASKS, reply=reply),
        DeclaredGame(refused=refused, refusals=refusals),
    )


# how, a right reply, those that are the same, others
ALIKE = [
    ("exact", "A1 b2", ["A1 b2"], ["a1 b2", "b2 A1", "A1  b2", ""]),
    ("exact", "!A1 !", ["!A1 !"], ["A1 !", "b2"]),  # "[!...]" would be negated
    ("caseless", "A1 b2", ["A1 b2", "a1 B2"], ["b2 a1", ""]),
    ("any order", "a1 b2 b2", ["b2 a1 b2", "a1\nb2 b2"], ["a1 b2", "a1 a1 b2", "a1 b2 b3", ""]),
    ("numbers", "2 3.5", ["2.0 3.50", "+2 3.4999", "2 3.5"], ["2 3.501", "2", "3.5 2", "-2 3.5"]),
    ("numbers", "0.6667", ["0.667", ".6667", "0.66666", "0.6669"], ["0.666", "0.6", "1"]),
    ("numbers", "-4", ["-4.0", "-4"], ["4", "-40", "-4.1"]),
    ("numbers", "1" * 40, ["0" + "1" * 40 + ".00"], ["1" * 39 + "2", "1" * 40 + ".5"]),
    ("columns", "a1 b2 0.25 0.75", ["a1 b2 .25 0.750"], ["a1 b2 0.75 0.25", "a1 0.25"]),
    ("first word", "b a1", ["b c2", "b", "b x y"], ["w a1", "bb a1", ""]),
    (("any order", "caseless"), "a1 B2", ["b2 A1"], ["a1", "a1 b3"]),
    ("free", "a b", ["", "anything"], []),
]


@pytest.mark.processes
@pytest.mark.parametrize(("reply", "right", "same", "others"), ALIKE)
def test_replies_are_compared_as_declared(reply, right, same, others):
    how = form(reply)
    assert [how.normal(text) == how.normal(right) for text in same] == [True] * len(same)
    assert [how.normal(text) == how.normal(right) for text in others] == [False] * len(others)
    matches = pattern.matcher(how.expression(right))
    expected = pattern.read_gogui(f"[{how.expression(right)}]")
    assert expected
    assert not expected.negated
    assert [bool(matches(text)) for text in (right, *same)] == [True] * (len(same) + 1)
    assert [bool(matches(text)) for text in others] == [False] * len(others)


def test_pairs_of_columns_have_no_order():
    how = form("columns")
    assert how.normal("a1 b2 0.25 0.75") == how.normal("b2 a1 0.75 0.25")


words = st.lists(st.sampled_from(["a1", "A1", "b2", "3", "3.0", "-0.5", "none"]), max_size=4)


@pytest.mark.processes
@given(st.sampled_from(Form.ALL), words, words)
def test_an_expression_accepts_no_more_than_the_form(reply, right, got):
    how, one, other = form(reply), " ".join(right), " ".join(got)
    if pattern.matcher(how.expression(one))(other):
        assert how.normal(one) == how.normal(other)


@pytest.mark.processes
@given(st.sampled_from(Form.ALL), words)
def test_samples_are_the_same(reply, right):
    how, text = form(reply), " ".join(right)
    assert how.samples(text)[0] == text
    assert {how.normal(one) for one in how.samples(text)} == {how.normal(text)}
    matches = pattern.matcher(how.expression(text))
    assert all(matches(one) for one in how.samples(text))


def test_a_refusal_that_says_all_is_well_is_compared_as_one():
    free = form("exact", "(?i)illegal move")
    assert free.normal('illegal move: "a1" taken') == free.normal("Illegal move")
    assert free.normal("illegal move") != free.normal("")
    assert pattern.matcher(free.expression("illegal move x"))("an ILLEGAL MOVE, sir")
    assert not pattern.matcher(free.expression("illegal move x"))("")
    strict = form("exact", "illegal move", "exact")
    assert strict.normal("illegal move: a") != strict.normal("illegal move: b")


# --- what a conversation has led to ------------------------------------------------------------


def test_a_conversation_is_followed(tmp_path):
    state = ConversationState(read_declaration(tmp_path, NOGO))
    for line in ("boardsize 3", "policy pattern", "play b a1", "play w B2"):
        state.observe(line)
    state.observe("play b b2", refused=True)
    state.observe("genmove b", reply="c3")
    assert state.size == (3, 3)
    assert [(move.color, move.place) for move in state.moves] == [
        ("b", (0, 0)),
        ("w", (1, 1)),
        ("b", (2, 2)),
    ]
    assert (state.turn, state.other) == ("w", "b")
    assert state.as_move("genmove w", "a2") == "play w a2"
    state.observe("genmove w", reply="resign")
    assert len(state.moves) == 3
    state.observe("clear_board")
    assert (state.moves, state.turn, state.size) == ([], "b", (3, 3))


@pytest.mark.parametrize(
    ("game", "place", "text"),
    [
        (DeclaredGame(), (8, 0), "j1"),
        (DeclaredGame(letters="ABCDEFGHI"), (8, 0), "i1"),
        (DeclaredGame(vertices="x y"), (1, 2), "1 2"),
        (DeclaredGame(vertices="x y", origin=1), (1, 2), "2 3"),
    ],
)
def test_places_are_named_as_the_game_has_it(game, place, text):
    assert vertex_of(place, game) == text
    assert place_of(text, game) == place
    assert place_of(text.upper(), game) == place
    for other in ("", "pass", "a", "1a", "a0", "ä1", "a1 b2"):
        assert place_of(other, DeclaredGame()) is None


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("python3 nogo.py", "there is no file 'nogo.py' beside assignment.toml: put"),
        ("gnugo --mode gtp", "its command names no file beside assignment.toml"),
    ],
)
def test_a_reference_whose_file_is_missing_is_named(tmp_path, command, told):
    """It is from that file that what students submit would follow."""
    (tmp_path / "assignment.toml").write_text(f'[reference]\ncommand = "{command}"\n[game]\n')
    with pytest.raises(AssignmentError) as error:
        find(str(tmp_path))
    assert error.value.key == "reference.command"
    assert error.value.message.startswith(told)
    assert "[engine] and [files]" in error.value.message
