"""Records as servers and programs write them: what boards need is read, the rest is warned of.

Where GNU Go is installed it reads the same position, except where a row says why not.
"""

import re
import subprocess

import pytest

from oracle.errors import SgfError
from oracle.gtp import new_engine
from oracle.position import NAMES, vertex
from oracle.sgf import read_sgf
from oracle.sgf.load import load_sgf
from tests.oracle.program import gtp_oracle

FF4 = "GNU Go leaves the move out, which SGF has executed"
WORSE = "GNU Go reads less of it"
DIES = "GNU Go ends or refuses"
KOMI = "GNU Go knows no decimal comma"

# Record; stones of Black and of White, to play, komi; the warnings, and what a strict engine says
# (both by a part of them); why GNU Go reads something else.
RECORDS = [
    # handicap: no board hangs on words
    ("(;SZ[9]HA[even];B[aa])", "A9", "", "w 0", "HA[even]: expected a number; left out", ""),
    ("(;SZ[9]HA[none];B[aa])", "A9", "", "w 0", "HA[none]: expected a number; left out", ""),
    ("(;SZ[9]HA[two];W[aa])", "", "A9", "b 0", "HA[two]: expected a number; left out", ""),
    ("(;SZ[9]HA[-1];W[aa])", "", "A9", "b 0", "HA[-1]: expected a number; left out", DIES),
    ("(;SZ[9]HA[2 stones];W[aa])", "C3 G7", "A9", "b 0", "expected a number; read as HA[2]", ""),
    ("(;SZ[9]HA[2]HA[3];W[aa])", "C3 G7", "A9", "b 0", "found 2; the first counts", ""),
    ("(;SZ[9]HA[0];B[aa])", "A9", "", "w 0", "", ""),
    # komi
    ("(;SZ[9]KM[6,5];B[aa])", "A9", "", "w 6.5", "such as 6.5; read as KM[6.5]", KOMI),
    ("(;SZ[9]KM[,5];B[aa])", "A9", "", "w 0.5", "such as 6.5; read as KM[0.5]", KOMI),
    ("(;SZ[9]KM[-6,5];B[aa])", "A9", "", "w -6.5", "such as 6.5; read as KM[-6.5]", KOMI),
    ("(;SZ[9]KM[6½];B[aa])", "A9", "", "w 6.5", "such as 6.5; read as KM[6.5]", KOMI),
    ("(;SZ[9]KM[6.5 points];B[aa])", "A9", "", "w 6.5", "read as KM[6.5]", ""),
    ("(;SZ[9]KM[x];B[aa])", "A9", "", "w 0", "such as 6.5; left out", ""),
    ("(;SZ[9]KM[6.5.1];B[aa])", "A9", "", "w 0", "such as 6.5; left out", WORSE),
    (f"(;SZ[9]KM[{'9' * 50}];B[aa])", "A9", "", "w 0", "such as 6.5; left out", WORSE),
    ("(;SZ[9]KM[6.5]KM[7.5];B[aa])", "A9", "", "w 6.5", "found 2; the first counts", ""),
    ("(;SZ[9]KM[];B[aa])", "A9", "", "w 0", "", ""),
    ("(;SZ[9]KM[6.5\n];B[aa])", "A9", "", "w 6.5", "", ""),
    # sizes
    ("(;SZ[9x9];B[aa])", "A9", "", "w 0", "columns:rows; read as SZ[9]", ""),
    ("(;SZ[9 X 9];B[aa])", "A9", "", "w 0", "columns:rows; read as SZ[9]", ""),
    ("(;SZ[9×9];B[aa])", "A9", "", "w 0", "columns:rows; read as SZ[9]", ""),
    ("(;SZ[9*9];B[aa])", "A9", "", "w 0", "columns:rows; read as SZ[9]", ""),
    ("(;SZ[9 lines];B[aa])", "A9", "", "w 0", "columns:rows; read as SZ[9]", ""),
    ("(;SZ[9:];B[aa])", "A9", "", "w 0", "columns:rows; read as SZ[9]", ""),
    ("(;SZ[9.0];B[aa])", "A9", "", "w 0", "columns:rows; read as SZ[9]", ""),
    ("(;SZ[5x3];B[aa])", "A3", "", "w 0", "columns:rows; read as SZ[5:3]", WORSE),
    ("(;SZ[9]SZ[13];B[aa])", "A9", "", "w 0", "found 2; the first counts", ""),
    ("(;SZ[];B[aa])", "A19", "", "w 0", "", DIES),
    ("(;B[pd];W[dd])", "Q16", "D16", "b 0", "", ""),
    # the game: a Go engine is asked, so Go is meant
    ("(;GM[19]SZ[19];B[aa])", "A19", "", "w 0", "(Gomoku); read as GM[1]", ""),
    ("(;GM[0]SZ[9];B[aa])", "A9", "", "w 0", "(Gomoku); read as GM[1]", ""),
    ("(;GM[Go]SZ[9];B[aa])", "A9", "", "w 0", "(Gomoku); read as GM[1]", ""),
    ("(;GM[1]GM[2]SZ[9];B[aa])", "A9", "", "w 0", "found 2; the first counts", ""),
    ("(;GM[]SZ[9];B[aa])", "A9", "", "w 0", "", ""),
    # the end of the file, and other damage
    ("(;SZ[9]", "", "", "b 0", "the file ends (line 1) before the game does", ""),
    ("(;SZ[9];B[aa]", "A9", "", "w 0", "node 2, B: the file ends (line 1)", ""),
    ("(;SZ[9];B[aa];W", "A9", "", "w 0", "node 3, W: the file ends", DIES),
    ("(;SZ[9];B[aa];W[b", "A9", "", "w 0", "the file ends inside a value", DIES),
    ("(;SZ[9];B[aa];W[bb]C[hel", "A9", "B8", "b 0", "the file ends inside a value", DIES),
    ("(;SZ[9];B[aa](;W[bb];B[cc]", "A9 C7", "B8", "w 0", "before the game does", DIES),
    ("(;SZ[9];B[aa]C[a]b];W[bb])", "A9", "", "w 0", "word in small letters", ""),
    ("(;SZ[9];B[aa],W[bb])", "A9", "", "w 0", "node 2, B: found ',W[bb])'", ""),
    ("(;SZ[9];B[aa]\x00;W[bb])", "A9", "", "w 0", "the rest of the game cannot be read", ""),
    ("(;SZ[9];B[aa](;W[bb])(;W[cc]);B[dd])", "A9", "B8", "b 0", "';' after a variation", ""),
    ("(;SZ[9];B[aa];W[bb])) -- \nmail", "A9", "B8", "b 0", "", ""),
    ("text ( first (;SZ[9];B[aa];W[bb])", "A9", "B8", "b 0", "", ""),
    # moves: on another stone, of a color again, in other letters
    ("(;SZ[9];B[aa];W[aa])", "", "A9", "b 0", "occupied; the stone replaces", FF4),
    ("(;SZ[9];B[aa];B[aa])", "A9", "", "w 0", "occupied; the stone replaces", FF4),
    # … which takes chains that lose their last liberty by it, and is taken if nothing else is
    ("(;SZ[9]AB[ba][ab]AW[aa];B[aa])", "A8 A9 B9", "", "w 0", "the stone replaces", FF4),
    ("(;SZ[9]AB[aa]AW[ba][ab];B[ba])", "A9 B9", "A8", "w 0", "the stone replaces", FF4),
    ("(;SZ[3]AW[aa]AB[ba][bb][ac];W[ba];B[ab];W[ab])",
     "A1 B2", "A2 A3 B3", "b 0", "the stone replaces", FF4),
    ("(;SZ[9]AW[ba][ab]AB[aa];W[aa];B[aa])", "", "A8 B9", "w 0", "the stone replaces", FF4),
    ("(;SZ[9];B[AA];W[bB])", "A9", "B8", "b 0", "two small letters; read as B[aa]", ""),
    ("(;SZ[9];B[pass];W[bb])", "", "B8", "b 0", "two small letters; read as B[]", WORSE),
    ("(;SZ[9];B[--];W[bb])", "", "B8", "b 0", "two small letters; read as B[]", DIES),
    ("(;SZ[9];B[zz];W[bb])", "", "B8", "b 0", "two small letters; read as B[]", ""),
    ("(;SZ[19];B[tt];W[aa];B[])", "", "A19", "w 0", "", ""),
    ("(;SZ[9];B[aa][bb];W[cc])", "A9 B8", "C7", "b 0", "2 values of B; they are played", ""),
    # setup and turn
    ("(;SZ[9]AB[ba:aa]AW[cc];B[dd])", "A9 B9 D6", "C7", "w 0", "read as AB[aa:ba]", WORSE),
    ("(;SZ[9]AB[aa:];W[dd])", "A9", "D6", "b 0", "read as AB[aa:aa]", ""),
    ("(;SZ[9]AB[AA];W[dd])", "A9", "D6", "b 0", "read as AB[aa]", ""),
    ("(;SZ[9]AB[aa:ba]AB[];W[dd])", "A9 B9", "D6", "b 0", "", ""),
    ("(;SZ[9]PL[];W[dd])", "", "D6", "b 0", "expected B or W; left out", ""),
    ("(;SZ[9]PL[x];W[dd])", "", "D6", "b 0", "expected B or W; left out", ""),
    ("(;SZ[9]PL[2])", "", "", "w 0", "expected B or W; read as PL[W]", ""),
    # names of FF[1] to FF[3], stray signs, brackets in values
    ("(;GaMe[1]SiZe[9];Black[aa];White[bb])", "A9", "B8", "b 0", "", ""),
    ("(;sz[9];b[aa];w[bb])", "A9", "B8", "b 0", "", WORSE),
    ("(;SZ[9];;B[aa];;W[bb];)", "A9", "B8", "b 0", "", ""),
    ("(;SZ[9]C[(;B[cc\\])];B[aa]C[a\\\\])", "A9", "", "w 0", "", ""),
    ("(;SZ[9]\r\n;B[aa]\r\n;W[bb])\r\n\x1a", "A9", "B8", "b 0", "", ""),
]  # fmt: skip
# A komi that no game has: taken as it stands, and warned of by every reader.
ABSURD = [("375", "375"), ("50", "50"), ("650", "650"), ("-50", "-50"), ("49.5", ""), ("7.5", "")]

# What leaves the board unknown.
UNKNOWN = [
    ("(;SZ[x];B[aa])", "SZ[x]: expected a number of lines, or columns:rows"),
    ("(;SZ[:9];B[aa])", "expected a number of lines"),
    ("(;SZ[0];B[aa])", "expected 1 to 25 lines"),
    ("(;SZ[37];B[aa])", "expected 1 to 25 lines"),
    ("(;SZ[26x26];B[aa])", "expected a number of lines"),
    ("(;GM[1]SZ[9", "the size of the board cannot be read"),
    ("(;GM[1],SZ[9];B[aa])", "the size of the board cannot be read"),
    ("(;SZ[9];B[jj])", "B[jj] (move 1): the board has 9 columns and 9 rows"),
    ("(;SZ[9];B[C3])", "B[C3] (move 1): expected a point of two small letters"),
    ("(;SZ[9];B[JJ])", "expected a point of two small letters"),
    ("(;SZ[9]AB[tt])", "AB[tt]: the board has 9 columns and 9 rows"),
    ("(;SZ[9]AB[aa bb])", "expected a point of two small letters"),
    ("(;SZ[9];B[aa]W[bb]B[cc])", "the node has 2 values of B"),
    ("(;SZ[9]HA[99];W[aa])", "the record lacks the stones"),
    (";SZ[9];B[aa]", "found no game record"),
]


def vertices(position, color):
    return " ".join(sorted(map(vertex, position.grid.points(position.stones(color)))))


def describe(snapshot):
    turn = NAMES[snapshot.to_play][0]
    position = snapshot.position
    return vertices(position, 1), vertices(position, 2), f"{turn} {snapshot.komi or 0}"


@pytest.mark.parametrize(("text", "black", "white", "turn", "warning", "_why"), RECORDS)
def test_what_boards_need_is_read_and_the_rest_is_warned_of(
    text, black, white, turn, warning, _why
):
    snapshot = load_sgf(text.encode())
    assert describe(snapshot) == (black, white, turn)
    assert bool(snapshot.notes) == bool(warning)
    assert warning in "".join(snapshot.notes)


@pytest.mark.parametrize("row", [row for row in RECORDS if row[4]], ids=lambda row: row[0])
def test_a_strict_engine_refuses_it(row, tmp_path):
    (tmp_path / "a.sgf").write_bytes(row[0].encode())
    engine = new_engine("go")
    engine.session.strict = True
    assert engine.handle(f"loadsgf {tmp_path}/a.sgf").startswith("? cannot load file: ")


@pytest.mark.parametrize(("text", "reason"), UNKNOWN)
def test_what_leaves_the_board_unknown_is_refused(text, reason):
    with pytest.raises(SgfError, match=re.escape(reason)):
        load_sgf(text.encode())


@pytest.mark.parametrize("read", [load_sgf, read_sgf])
@pytest.mark.parametrize(("komi", "warned"), ABSURD)
def test_a_komi_of_hundredths_is_warned_of(read, komi, warned):
    snapshot = read(f"(;SZ[9]KM[{komi}];B[aa])".encode())
    assert str(snapshot.komi) == komi
    assert [f"KM[{warned}]: no game has such a komi" in note for note in snapshot.notes] == (
        [True] if warned else []
    )


@pytest.mark.processes
def test_gnu_go_reads_the_same(gnugo, tmp_path):
    rows = [row for row in RECORDS if row[-1] != DIES]
    commands = []
    for number, row in enumerate(rows):
        (tmp_path / f"{number}.sgf").write_bytes(row[0].encode())
        commands += [f"loadsgf {number}.sgf", "list_stones black", "list_stones white", "get_komi"]
    answers = subprocess.run(
        [gnugo, "--mode", "gtp"], input="\n".join([*commands, "quit", ""]),
        capture_output=True, text=True, cwd=tmp_path, check=True,
    ).stdout.split("\n\n")  # fmt: skip
    for number, (text, black, white, turn, _, why) in enumerate(rows):
        loaded, *stones, komi = (reply[1:].strip() for reply in answers[4 * number :][:4])
        found = [" ".join(sorted(one.split())) for one in stones]
        states_komi = "KM[" in text.replace("KM[]", "")
        same = (
            found == [black, white]
            and loaded[0] == turn[0]
            and (not states_komi or float(komi) == float(turn[2:]))
        )
        assert same is not bool(why), (text, loaded, found, komi)


@pytest.mark.processes
def test_warnings_are_written_where_no_controller_reads_replies(tmp_path):
    (tmp_path / "a.sgf").write_text("(;SZ[9x9]HA[even]KM[375];B[aa];W[aa]")
    done = gtp_oracle("gtp", input=b"loadsgf a.sgf\nget_komi\n", cwd=tmp_path)
    assert done.stdout == b"= \n\n= 375\n\n"
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 5
    assert all(line.startswith("gtp-oracle gtp: a.sgf: node ") for line in lines)


# --- any legal record, written otherwise -------------------------------------------------------
