"""Whatever happens to a game record: a position, or an SgfError; nothing else."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle.errors import SgfError
from oracle.formats import Snapshot, SnapshotChoice
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.sgf import read_sgf

# Sound files of every kind: collections, variations, setup anywhere, encodings, odd properties.
SEEDS = [
    b"(;FF[4]GM[1]SZ[9]KM[6.5]PB[A]PW[B]RE[W+0.5];B[ee];W[];B[tt];W[cc](;B[dd];W[ed])(;B[gg]))",
    b"(;FF[4]GM[1]SZ[5:3]AB[aa:bc]AW[ee]PL[W]C[a \\] b];W[ec];AE[aa]AW[ba]PL[B];B[ca])",
    b"(;GM[4]SZ[15]5A[gh][hg];B[hh];W[hi];B[ih];W[gg])(;GM[1]sz[3];b[aa];w[cc])(;SZ[7])",
    "(;CA[gb2312]SZ[9]HA[2]AB[cg][gc]PB[聂卫平]C[严肃];W[ee];B[ef])".encode("gbk"),
    "(;SZ[7]PW[Jürgen Größe];B[dd];W[de];B[ce])".encode("latin-1"),
    "\ufeff(;CA[UTF-8]SZ[13]PW[村瀬]KM[0];B[dd]W[jj];B[dj])".encode(),
    b"From: mail\n\n(\n;GaMe[1]SiZe[9]AddBlack[dd]\n;White[ee]\n(;Black[ff])\n)\n-- \n",
    b"(;SZ[3];B[ba];W[aa];B[ab];W[bb];B[ca];W[bc];B[cc];W[cb];B[cc])",
]
FRAGMENTS = [
    *(b"[", b"]", b"(", b")", b";", b"\\", b":", b"\x00", b"\xff", b"\xc3", b"\xfe\xff", b"[]"),
    *(b"SZ[1]", b"SZ[25]", b"SZ[26]", b"SZ[9:4]", b"sz[7]", b"SZ[-3]", b"SZ[99999999999]"),
    *(b"GM[4]", b"GM[0]", b"GM[]", b"KM[1e999]", b"KM[nan]", b"HA[4]", b"HA[-1]", b"PL[X]"),
    *(b"CA[utf-7]", b"CA[utf-16]", b"CA[rot13]", b"CA[idna]", b"CA[unicode_escape]", b"CA[hz]"),
    *(b";B[aa]", b";W[aa]", b"AB[aa:zz]", b"AB[bb:aa]", b"AE[aa]", b"B[aa][bb]", b"5A[", b"B"),
    *(b"(;", b"(;)", b"()", b"((", b"))", b"(;(;(;", b"a" * 100, b"7" * 100, b"\r\n", b"\xe5\x5d"),
]

Mutation = tuple[str, float, float, bytes]
places = st.floats(0, 1)
mutations = st.lists(
    st.tuples(
        st.sampled_from(["cut", "delete", "insert", "replace", "double"]),
        places,
        st.floats(0, 0.3),
        st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=3)),
    ),
    max_size=4,
)
choices = st.builds(
    SnapshotChoice,
    number=st.sampled_from([None, 1, 1, 2, 3, 9]),
    move=st.sampled_from([None, None, 0, 1, 3, 7, 1000]),
    variation=st.sampled_from([(), (), (1,), (2,), (2, 2), (0,)]),
    keep_faults=st.booleans(),
    size=st.sampled_from([None, (3, 25), (9, 9)]),
    game=st.sampled_from([None, None, "go", "gomoku"]),
)


def mutate(data: bytes, mutation: Mutation) -> bytes:
    kind, place, length, fragment = mutation
    start = int(place * len(data))
    end = start + int(length * len(data))
    return {
        "cut": data[:start],
        "delete": data[:start] + data[end:],
        "insert": data[:start] + fragment + data[start:],
        "replace": data[:start] + fragment + data[start + len(fragment) :],
        "double": data[:end] + data[start:],
    }[kind]


def replay_moves(snapshot: Snapshot) -> object:
    """Return the position that the snapshot's moves lead to."""
    kind = GoGame if snapshot.game == "go" else GomokuGame
    game = kind(snapshot.start)
    for move in snapshot.moves:
        game.play(*move)
    return game.position


def check(data: bytes, choice: SnapshotChoice) -> None:
    try:
        snapshot = read_sgf(data, "game.sgf", choice)
    except SgfError as error:
        text = str(error)
        assert text.startswith("game.sgf: ")
        assert len(text.splitlines()) == 1
        assert len(text) < 300
        return
    assert snapshot.game in ("go", "gomoku")
    assert snapshot.to_play in (None, 1, 2)
    assert replay_moves(snapshot) == snapshot.position
    assert choice.keep_faults or choice.move is None or len(snapshot.moves) <= choice.move


@pytest.mark.long(3)
@pytest.mark.soak(20_000)
@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.sampled_from(SEEDS), mutations, choices)
def test_a_mutated_file_gives_a_position_or_an_sgf_error(seed, changes, choice):
    data = seed
    for mutation in changes:
        data = mutate(data, mutation)
    check(data, choice)


@pytest.mark.soak(5_000)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(FRAGMENTS + SEEDS[:1]), max_size=12), choices)
@example([b"(;SZ[3]", b";B[aa]", b"))", b"(;"], SnapshotChoice())
def test_pieces_in_any_order_give_a_position_or_an_sgf_error(pieces, choice):
    check(b"(;" + b"".join(pieces), choice)


def test_every_cut_of_every_seed_gives_a_position_or_an_sgf_error():
    for seed in SEEDS:
        for length in range(len(seed)):
            for keep in (False, True):
                check(seed[:length], SnapshotChoice(number=1, keep_faults=keep))


def test_deep_nesting_costs_no_stack():
    depth = 20_000
    tree = b"(;SZ[9]" + b"(;" * depth + b"B[aa]" + b")" * depth + b")"
    assert read_sgf(tree).position.black.bit_count() == 1
    check(b"(;" * depth, SnapshotChoice())


@pytest.mark.long(1)
def test_large_hostile_files_are_read_in_bounded_time():
    """Each would take minutes if the time grew with the square of the size."""
    many = 100_000
    for data in (
        b"(;" + b"[" * many,
        b"(;C[" + b"\\" * (many + 1),
        b"(;C[" + b"[" * many,
        b"(" * many + b";",
        b"( " * many,
        b"(;" + b"AB" * many,
        b"(;SZ[3]" + b";B[]" * (many // 10) + b")",
    ):
        check(data, SnapshotChoice())
        check(data, SnapshotChoice(number=1, keep_faults=True))
