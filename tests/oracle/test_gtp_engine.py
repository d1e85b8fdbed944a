"""The engine as an object: its tables, its moves, its defenses."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle.gtp
from oracle.gtp import serve
from tests.oracle.test_against_gnugo import replies as gnugo_replies

GAMES = oracle.gtp.GAMES


def ask(engine, *lines):
    """Return the texts of the replies to some commands; each must succeed."""
    texts = []
    for line in lines:
        reply = engine.handle(line)
        assert reply.startswith("="), (line, reply)
        texts.append(reply.removeprefix("= ").removesuffix("\n\n"))
    return texts


# --- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_every_command_is_listed_known_and_described(game):
    engine = oracle.gtp.new_engine(game)
    (listed,) = ask(engine, "list_commands")
    assert sorted(engine.commands) == listed.split("\n")
    assert ask(engine, *[f"known_command {name}" for name in engine.commands]) == [
        "true" for _ in engine.commands
    ]
    lines = oracle.gtp.describe(engine.commands).splitlines()
    assert [line.split()[0] for line in lines] == list(engine.commands)
    assert all(re.fullmatch(r"  \S+( [A-Z_.\[\] ]+?)? +[a-zA-Z0-9].*\.", line) for line in lines)


@pytest.mark.parametrize("game", GAMES)
def test_every_question_is_explained_in_a_fresh_engine(game):
    engine = oracle.gtp.new_engine(game)
    ask(engine, "boardsize 9")
    for name in engine.session.questions:
        arguments = {"is_captured": "C3", "is_legal": "b C3", "score": "b"}.get(name, "")
        (explanation,) = ask(engine, f"oracle-explain {name} {arguments}")
        assert re.search(r"^TEXT .+\.$", explanation, re.MULTILINE)
        (readings,) = ask(engine, f"oracle-readings {name} {arguments}")
        assert readings.split("\n")[0] in ("settled", "underspecified")


# White's recapture at B1 takes A1, B2 and C1, so that no board is repeated; Black's B1 is none.
RECAPTURE = ("boardsize 3", "gogui-setup W A2 W C2 W B3 W B1 B B2 B C1", "play b A1")
OPEN = [
    *(("can_play w B1", True), ("play white b1", True), ("can_play b B1", False)),
    *(("can_play w C3", False), ("play w pass", False), ("can_play w", False)),
    *(("is_legal w B1", False), ("can_play w Z99", False)),
]


@pytest.mark.parametrize(("command", "is_open"), OPEN)
def test_a_recapture_of_more_than_was_lost_is_left_open(command, is_open):
    engine = oracle.gtp.new_engine("java-go")
    ask(engine, *RECAPTURE)
    assert bool(engine.session.explain_open_answer(command.split())) is is_open


# --- moves -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_game():
    def game(seed):
        engine = oracle.gtp.new_engine("go", seed)
        return ask(engine, "boardsize 5", *["genmove b", "genmove w"] * 10)

    assert game(1) == game(1)
    assert game(1) != game(2)


@pytest.mark.parametrize("game", ["go", "gomoku"])
def test_reg_genmove_repeats_itself_and_plays_nothing(game):
    engine = oracle.gtp.new_engine(game, playouts=1)
    ask(engine, "boardsize 7", "play b D4")
    before, first, second, after = ask(
        engine, "showboard", "reg_genmove w", "reg_genmove w", "showboard"
    )
    assert first == second
    assert before == after
    assert ask(engine, f"play w {first}") == [""]


def test_a_game_of_gomoku_ends_and_the_rest_is_resign_and_pass():
    engine = oracle.gtp.new_engine("gomoku", seed=5, playouts=0)
    ask(engine, "boardsize 6")
    for color in "bw" * 18:
        (move,) = ask(engine, f"genmove {color}")
        (result,) = ask(engine, "gogui-rules_final_result")
        if result != "unknown":
            break
    assert re.fullmatch(r"[A-F][1-6]", move)
    other = "bw".replace(color, "")
    expected = {"draw": "pass", {"b": "black", "w": "white"}[color]: "resign"}[result]
    assert ask(engine, *[f"genmove {other}"] * 2) == [expected, expected]


@pytest.mark.parametrize("size", [*range(5, 12), 13, 15, 18, 19])
def test_fixed_handicaps_are_those_of_the_reference_implementation(gnugo, size):
    """All but 12 by 12, where GNU Go already takes the fourth line and the standard the third."""
    commands = [f"boardsize {size}", "clear_board"]
    asked = [line for n in range(2, 10) for line in (f"fixed_handicap {n}", "clear_board")]
    engine = oracle.gtp.new_engine("go")
    ours = [engine.handle(line).strip() for line in commands + asked]
    theirs = gnugo_replies(gnugo, commands + asked)
    for our, their in zip(ours, theirs, strict=True):
        assert our.startswith("?") == their.startswith("?")
        if our.startswith("="):
            assert sorted(our.removeprefix("=").split()) == sorted(their.split())


# --- serving -----------------------------------------------------------------------------------


def serve_chunks(chunks, game="go"):
    """Return what is written when the input arrives in these chunks, write by write."""
    arriving, written = iter([*chunks, b""]), []
    serve(oracle.gtp.new_engine(game), lambda: next(arriving), written.append)
    return written


def test_each_command_is_answered_before_the_next_begins():
    assert serve_chunks([b"name\nprotocol_version\n"]) == [b"= gtp-oracle\n\n", b"= 2\n\n"]


def test_lines_may_arrive_in_pieces_and_without_the_last_newline():
    assert serve_chunks([b"na", b"m", b"e\nver", b"sion"])[0] == b"= gtp-oracle\n\n"
    assert b"".join(serve_chunks([b"\n\n#\n", b"name"])) == b"= gtp-oracle\n\n"


def test_bytes_that_are_no_utf8_come_back_as_they_were():
    (reply,) = serve_chunks([b"play \xff\xfe A1\n"], "gomoku")
    assert reply == b'= illegal move: "\xff\xfe" wrong color\n\n'


# --- any input ---------------------------------------------------------------------------------

ARGUMENTS = """
b w c B 0 1 2 5 7 9 19 25 26 -1 6.5 .5 1e9 A1 a1 A2 B1 C3 J9 T19 Z25 I5 pass PASS alive dead random
rule_based score eyes is_legal policy_moves final_score file black White " # nowhere.sgf
"""
WORDS = st.sampled_from([*ARGUMENTS.split(), "\t", "\x00", "\r", "é", "9" * 50])


@st.composite
def command_lines(draw):
    """Lines that look like commands of a game, with arguments that may fit or not."""
    names = sorted({name for game in GAMES for name in oracle.gtp.new_engine(game).commands})
    name = draw(st.sampled_from([name for name in names if name != "quit"]))
    number = draw(st.sampled_from(["", "1 ", "007 ", " 12\t"]))
    return f"{number}{name} {' '.join(draw(st.lists(WORDS, max_size=4)))}"


LINES = st.one_of(
    st.binary(max_size=40).filter(lambda line: b"quit" not in line),
    command_lines().map(str.encode),
)


@pytest.mark.soak(10_000)
@settings(max_examples=120, deadline=None)
@given(game=st.sampled_from(list(GAMES)), lines=st.lists(LINES, max_size=12))
def test_whatever_comes_in_replies_go_out(tmp_path_factory, game, lines):
    """Each line is answered by nothing or by one reply, which has the line's id and one end."""
    engine = oracle.gtp.new_engine(game, playouts=0)
    for line in b"\n".join(lines).split(b"\n"):
        reply = engine.handle(line.decode("utf-8", "surrogateescape"))
        words = bytes(b for b in line if b == 9 or (b >= 32 and b != 127)).split(b"#")[0].split()
        if not words:
            assert reply == ""
            continue
        number = words[0].decode() if words[0].isdigit() else ""
        assert re.match(rf"[=?]{number} ", reply)
        assert reply.endswith("\n\n")
        assert "\n\n" not in reply[:-2]
        assert all(character >= " " for character in reply.replace("\n", ""))


@settings(max_examples=100, deadline=None)
@given(game=st.sampled_from(list(GAMES)), lines=st.lists(command_lines(), max_size=12))
def test_a_refused_command_changes_nothing(game, lines):
    engine = oracle.gtp.new_engine(game, playouts=0)
    for line in lines:
        before = engine.handle("showboard")
        if engine.handle(line).startswith("?"):
            assert engine.handle("showboard") == before


@pytest.mark.parametrize("game", ["go", "gomoku"])
def test_a_sequence_of_moves_ends_with_one_that_is_refused(game):
    engine = oracle.gtp.new_engine(game)
    engine.handle("boardsize 5")
    assert engine.handle("gogui-play_sequence b a1 w b2") == "= \n\n"
    assert engine.handle("gogui-play_sequence b c3 w a1 b d4") == engine.handle("play w a1")
    assert engine.handle("play w c3") != "= \n\n"
    assert engine.handle("play w d4") == "= \n\n"
