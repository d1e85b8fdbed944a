"""``gtp-harness generate``: right, small, varied, unpredictable, and as strong as it says."""

import re
import shutil
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from harness.assignments import assignment as assignments
from harness.cli import main
from harness.core.errors import UsageError
from harness.generating import record_reading, record_replay, scene_production
from harness.judging.in_process import identities
from harness.judging.strength import measure
from harness.reading import casefile
from harness.running import restarting
from harness.specifications import EVERYONES, specification
from harness.verifying.verification import verify
from harness.vocabulary import made_positions
from harness.vocabulary.made_positions import corner_with_move
from harness.vocabulary.scenes import stones
from oracle.formats import SnapshotChoice
from oracle.gtp import new_engine
from oracle.mistakes import ASSIGNMENTS
from oracle.position import Position, grid, vertex
from oracle.sgf import games, read_sgf, write_sgf
from oracle.symmetry import ALL, image
from tests.tiers import one_in

SECRET = "correct horse battery staple"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """A folder of 24 random games of Go and 12 of Gomoku, some in collections."""
    folder = tmp_path_factory.mktemp("games")
    go = [go_record(seed) for seed in range(24)]
    (folder / "club.sgf").write_bytes(b"\n".join(go[:16]))
    for number, record in enumerate(go[16:]):
        (folder / f"{number}.SGF").write_bytes(record)
    gomoku = [gomoku_record(seed) for seed in range(12)]
    (folder / "gomoku.sgf").write_bytes(b"".join(gomoku))
    return folder


def go_record(seed, size=None):
    random = Random(seed)
    engine = new_engine("go", seed=seed)
    size = size or random.choice((9, 9, 9, 13))
    engine.handle(f"boardsize {size}")
    for number in range(2 * size * size):
        if "pass" in engine.handle(f"genmove {'bw'[number % 2]}"):
            break
    game = engine.session.game
    return write_sgf(game.start, game.moves)


def gomoku_record(seed):
    random = Random(seed)
    size = random.choice((7, 9, 15))
    engine = new_engine("gomoku", seed=seed, playouts=0)
    engine.handle(f"boardsize {size}")
    engine.handle(f"policy {'rule_based' if seed % 2 else 'random'}")
    for number in range(size * size):
        if re.search("pass|resign", engine.handle(f"genmove {'bw'[number % 2]}")):
            break
    return write_sgf(engine.session.game.start, engine.session.game.moves, game="gomoku")


def generate(output, *arguments):
    """Run the command; return its exit status and the case file."""
    status = main(["generate", "-o", str(output), *map(str, arguments)])
    return status, casefile.read(str(output))


@pytest.fixture
def without_mistakes(monkeypatch):
    """Let a set catch none: to try which mistakes a test catches takes most of the time."""
    stage = scene_production.Stage
    monkeypatch.setattr(scene_production, "Stage", lambda wanted, _: stage(wanted, ()))


def comments(case):
    return "\n".join(line for line in case.lines if line.startswith("#"))


# --- choices -----------------------------------------------------------------------------------


def test_choices_hang_on_key_and_subject_alone():
    public, private = record_reading.choices(3), record_reading.choices(3, SECRET.encode())
    assert public.rank("game", 5) == record_reading.choices(3).rank("game", 5)
    assert public.rank("game", 5) != public.rank("game", 6)
    assert len({one.rank("x") for one in (public, private, record_reading.choices(4))}) == 3
    assert public.random("x").random() == record_reading.choices(3).random("x").random()


def test_a_secret_is_in_a_file_or_the_environment(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text(f" {SECRET}\n")
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    assert record_reading.read_secret(str(tmp_path / "secret")) == SECRET.encode()
    assert record_reading.read_secret("env:COURSE_SECRET") == SECRET.encode()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("env:NO_SUCH_SECRET", "the variable NO_SUCH_SECRET: found no secret"),
        ("no/such/file", "cannot be read: No such file"),
        ("short", "found 5 bytes, expected at least 16"),
    ],
)
def test_a_secret_that_can_be_tried_out_is_refused(tmp_path, monkeypatch, place, message):
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("12345")
    with pytest.raises(UsageError, match=re.escape(message)):
        record_reading.read_secret(place)


# --- games -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_game_is_replayed_as_the_careful_reader_does(seed):
    record = go_record(seed) if seed % 2 else gomoku_record(seed)
    played = record_replay.replay(games(record)[0].root, "x")
    for number in range(0, len(played.moves) + 1, 7):
        right = read_sgf(record, choice=SnapshotChoice(move=number)).position
        assert played.boards[number] == (right.black, right.white)
    assert len(played.moves) == len(read_sgf(record).moves)


@pytest.mark.parametrize(
    ("text", "moves_played"),
    [
        ("(;SZ[5];B[bb];W[];B[tt];W[yy])", 3),  # passes, then no point
        ("(;SZ[3]AB[aa][bb]AW[cc];W[ba])", 1),  # stones set up first
        ("(;SZ[9]HA[2]KM[0];AB[gc][cg];W[ee];B[ec])", 2),  # as the Fox server writes a handicap
        ("(;SZ[9]C[a comment];;AB[gc];AW[cg];B[ee])", 1),  # in several nodes
        ("(;SZ[3];B[bb];AB[aa];W[cc])", 1),  # and in the middle
        ("(;SZ[3];B[bb](;W[aa];B[cc])(;W[cc]))", 3),  # the first variation
        ("(;GM[4]SZ[5];B[aa];W[bb];B[];W[cc])", 2),  # Gomoku has no pass
    ],
)
def test_a_game_ends_where_it_is_not_sound(text, moves_played):
    assert len(record_replay.replay(games(text.encode())[0].root, "x").moves) == moves_played


# A record, its last board as a strict run and as any other has it, and what is odd about it.
ODD = [
    ("(;SZ[3];B[bb];W[bb];B[aa])", ("B2", ""), ("A3", "B2"), "a move that the rules forbid"),
    ("(;SZ[3];B[bb];B[bb];W[aa])", ("B2", ""), ("B2", "A3"), "a move that the rules forbid"),
    ("(;SZ[3];B[ab];W[cc];B[ba];W[aa];B[bb])", ("A2 B3", "C1"), ("A2 B2 B3", "C1"),
     "a move that the rules forbid"),
    ("(;SZ[9x9]HA[even]KM[6,5];B[aa])", None, ("A9", ""), "SZ[9x9]: "),
    ("(;SZ[9]SZ[13];B[aa])", ("A9", ""), ("A9", ""), "expected one value, found 2"),
    ("(;GM[19]SZ[19];B[aa])", None, ("A19", ""), "read as GM[1]"),
    ("(;GM[19];B[aa])", None, ("A19", ""), "read as GM[1]"),
    ("(;GM[Go]SZ[9];B[aa])", None, ("A9", ""), "read as GM[1]"),
    ("(;SZ[9];B[AA];W[pass];B[ bb ])", ("", ""), ("A9 B8", ""), "points in another spelling"),
    ("(;SZ[9]AB[bb:aa];W[cc])", None, ("A8 A9 B8 B9", "C7"), "points in another spelling"),
    ("(;SZ[9];B[aa];W[C3];B[bb])", ("A9", ""), ("A9", ""), "a move that cannot be played"),
    ("(;GM[4]SZ[9];B[aa];W[aa])", ("A9", ""), ("A9", ""), "a move that cannot be played"),
    ("(;SZ[9];B[aa];W[b", ("A9", ""), ("A9", ""), ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "strict", "lenient", "note"), ODD)
def test_an_odd_record_is_used_and_noted(text, strict, lenient, note):
    root = games(text.encode())[0].root
    for is_strict, board in ((True, strict), (False, lenient)):
        if board is None:
            with pytest.raises(record_replay.Unusable):
                record_replay.replay(root, "x", strict=is_strict)
            continue
        played = record_replay.replay(root, "x", strict=is_strict)
        last = Position(grid(played.size), *played.boards[-1])
        assert board == tuple(
            " ".join(sorted(map(vertex, last.grid.points(last.stones(color))))) for color in (1, 2)
        )
    assert note in "".join(played.notes)
    assert bool(played.notes) == bool(note)


def test_no_move_led_to_a_board_after_a_forbidden_one():
    """Its features are those of a board and of whose turn it is, not of a stone that took some."""
    played = record_replay.replay(games(ODD[0][0].encode())[0].root, "x")
    moment = record_replay.moment(played, 2)
    assert (moment.before, moment.move, moment.taken, moment.to_play) == (moment.board, 0, 0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "(;SZ[9]HA[2]KM[0];AB[gc][cg];W[ee];B[ec])",
        "(;SZ[9]AB[aa]AW[bb];AE[aa]AB[cc][dd];C[go];W[dc])",
        "(;SZ[9];AB[aa:cc];AE[bb])",
        "(;SZ[9];B[aa]AB[bb];W[cc])",  # which no record should have
    ],
)
def test_stones_that_are_set_up_before_the_first_move_are_there(text):
    played = record_replay.replay(games(text.encode())[0].root, "x")
    right = read_sgf(text.encode()).position
    assert played.boards[-1] == (right.black, right.white)


@pytest.mark.parametrize("text", ["(;GM[2];B[aa])", "(;SZ[9:7];B[aa])", "(;SZ[x])"])
def test_a_game_that_cannot_be_used_is_counted(text):
    with pytest.raises(record_replay.Unusable):
        record_replay.replay(games(text.encode())[0].root, "x")


def test_a_mirrored_copy_of_a_game_is_the_same_game():
    snapshot = read_sgf(go_record(5))
    shape = snapshot.position.grid
    names = set()
    for symmetry in ALL:
        turned = [
            (color, point and image(point, shape, symmetry)) for color, point in snapshot.moves
        ]
        copy = write_sgf(snapshot.start, turned[: None if symmetry else -1])
        names.add(record_replay.replay(games(copy)[0].root, "x").origin.game)
    other = record_replay.replay(games(go_record(6, shape.rows))[0].root, "x").origin.game
    assert len(names) == 1
    assert other not in names


def test_collections_are_cut_between_games(tmp_path, monkeypatch):
    text = b"(;C[a \\] ( b];B[aa](;W[bb])(;W[cc]))\n(;B[cc])  (;B[dd];W[ee])\n"
    (tmp_path / "c.sgf").write_bytes(text)
    monkeypatch.setattr(record_reading, "_PIECE", 8)
    pieces = [piece for task in record_reading.tasks([str(tmp_path / "c.sgf")]) for piece in task]
    assert [text[piece.start : piece.end].strip()[:3] for piece in pieces] == [
        b"(;C",
        b"(;B",
        b"(;B",
    ]
    assert sum(piece.end - piece.start for piece in pieces) == len(text.strip())


@pytest.mark.parametrize(
    ("text", "numbers", "end"),
    [("10", {10}, False), ("5,20-40/10,end", {5, 20, 30, 40}, True), ("3-5", {3, 4, 5}, False)],
)
def test_moves(text, numbers, end):
    assert record_reading.parse(text) == record_reading.Moves(frozenset(numbers), end)


@pytest.mark.parametrize("text", ["x", "", "3-", "-3", "end-"])
def test_moves_that_mean_nothing(text):
    with pytest.raises(UsageError, match="expected such as"):
        record_reading.parse(text)


# --- setting up --------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [0, 1, 2])
def test_stones_are_set_up_in_a_legal_order(last):
    for seed in range(40):
        moment = made_positions.go_game(Random(seed), 5)
        engine = new_engine("go")
        engine.handle("boardsize 5")
        black, white = moment.board
        steps = stones(moment, black, white, Random(seed), last=last)
        assert all(engine.handle(step.command).startswith("=") for step in steps)
        assert engine.session.game.position == moment.position()
        assert engine.session.game.prisoners(1) + engine.session.game.prisoners(2) == 0
        assert not last or not moment.board.of(last) or engine.session.game.to_play == 3 - last


# --- whole sets --------------------------------------------------------------------------------


@pytest.mark.long(1)
@pytest.mark.parametrize("assignment", one_in(2, reversed(ASSIGNMENTS)))
def test_a_set_from_nothing(assignment, tmp_path, capsys):
    status, case = generate(tmp_path / "a.gtp", "--assignment", assignment, "-n", 18)
    report = capsys.readouterr().out
    assert status == 0
    assert sum(step.is_test for step in case.steps) == 18
    assert_a_place_before_each_test(case)
    assert not verify([case], specification(assignment)).findings
    found = measure([case], specification(assignment))
    assert not found.wrong
    assert f"({found.caught.bit_count()} of {len(found.mistakes)} mistakes)" in report
    assert found.kill_rate > 0.85
    every = [same for _, same in identities(case, specification(assignment))]
    assert len(set(every)) == len(every)


def assert_a_place_before_each_test(case):
    """A new engine may go on between any two tests, so that one that breaks costs one of them."""
    asked = [index for index, step in enumerate(case.steps) if step.is_test]
    for one, other in pairwise(asked):
        place = restarting.next_place(case, one, 0, EVERYONES)
        assert place and place.step <= other, case.steps[other]


@pytest.mark.parametrize(
    "feature", specification("go-scoring").kind.features, ids=lambda f: f.name
)
def test_a_kind_of_position_is_made_on_the_boards_it_names(feature):
    random = Random(1)
    made = [feature.make(random) for _ in range(4)]
    sizes = {moment.size for moment in made if moment}
    assert sizes <= set(feature.sizes or range(2, 26))


@pytest.mark.long(1)
@pytest.mark.parametrize("assignment", one_in(len(ASSIGNMENTS), ASSIGNMENTS))
def test_private_and_public_together_catch_everything(assignment, tmp_path, monkeypatch, records):
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    _, public = generate(tmp_path / "public.gtp", "--assignment", assignment, "-n", 9)
    status, private = generate(
        tmp_path / "private.gtp", records, "--assignment", assignment, "-n", 16,
        "--secret", "env:COURSE_SECRET", "--with", tmp_path / "public.gtp",
    )  # fmt: skip
    assert measure([public, private], specification(assignment)).kill_rate == 1
    assert_a_place_before_each_test(private)
    assert status == 0
    text = comments(private)
    assert SECRET not in text
    assert text.count("# From ") == text.replace("\n# ", " ").count("turned or mirrored") > 0
    assert not verify([public, private], specification(assignment)).findings


@pytest.mark.long(1)
@pytest.mark.usefixtures("without_mistakes")
def test_public_and_private_never_share_a_game(tmp_path, records):
    (tmp_path / "secret").write_text(SECRET)
    found = []
    for more in ((), ("--secret", tmp_path / "secret")):
        path = tmp_path / f"{len(more)}.gtp"
        _, case = generate(path, records, "--assignment", "go-scoring", "-n", 12, *more)
        found.append(set(re.findall(r"# From (.*?\.sgf)", comments(case), re.IGNORECASE)))
    assert found[0]
    assert found[1]
    assert not found[0] & found[1]


@pytest.mark.long(1)
@pytest.mark.parametrize("assignment", one_in(len(ASSIGNMENTS), ASSIGNMENTS))
def test_a_set_is_strong_alone_and_of_different_positions(assignment, tmp_path, records, capsys):
    public = assignments.find(assignment).public_cases()  # they leave no mistake to be caught
    path, more = tmp_path / "private.gtp", ("--half", "all", "--with", *public)
    _, private = generate(path, records, "--assignment", assignment, *more)
    alone = measure([private], specification(assignment))
    assert alone.kill_rate > 0.85
    total, caught = len(alone.mistakes), alone.caught.bit_count()
    assert (
        f"kill rate 100 % ({total} of {total} mistakes)\n"
        f"of these {total} by the cases given already, {caught} by this set alone\n"
    ) in capsys.readouterr().out
    text = comments(private).replace("\n# ", " ")
    origins = re.findall(r"From (.*?\.sgf).*?, after move (\d+)", text, re.IGNORECASE)
    assert origins
    assert len(set(origins)) == len(origins)


@pytest.mark.long(1)
@pytest.mark.usefixtures("without_mistakes")
def test_a_set_is_the_same_wherever_the_records_lie_in_any_number_of_processes(tmp_path, records):
    (tmp_path / "secret").write_text(SECRET)
    found = []
    for jobs, name in enumerate(("here", "there"), 1):
        folder, path = tmp_path / name, tmp_path / f"{name}.gtp"
        shutil.copytree(records, folder)
        more = "--secret", tmp_path / "secret", "--jobs", jobs
        _, case = generate(path, folder, "--assignment", "go-scoring", "-n", 3, *more)
        assert f"/{name}/" in comments(case)
        found.append([step.text for step in case.steps])
    assert found[0] == found[1]


@pytest.mark.long(1)
@pytest.mark.usefixtures("without_mistakes")
def test_seeds_and_secrets_differ(tmp_path):
    (tmp_path / "one").write_text(SECRET)
    (tmp_path / "two").write_text(SECRET + "!")
    options = ((), ("--seed", 1), ("--secret", tmp_path / "one"), ("--secret", tmp_path / "two"))
    texts = set()
    for number, more in enumerate(options):
        path = tmp_path / f"{number}.gtp"
        _, case = generate(path, "--assignment", "gomoku-rules", "-n", 4, *more)
        texts.add("\n".join(step.text for step in case.steps))
    assert len(texts) == len(options)


@pytest.mark.long(1)
def test_kill_writes_what_the_given_cases_miss(tmp_path):
    weak = tmp_path / "weak.gtp"
    weak.write_text("boardsize 5\nclear_board\nkomi 0\nplay B C3\n10 score\n#? [B\\+25(\\.0)?]\n")
    before = measure([casefile.read(str(weak))], specification("go-scoring"))
    status, case = generate(tmp_path / "k.gtp", "--assignment", "go-scoring", "--kill", weak)
    assert status == 0
    assert before.kill_rate < 0.7
    assert measure([casefile.read(str(weak)), case], specification("go-scoring")).kill_rate == 1
    alone = measure([case], specification("go-scoring"))
    assert all(test.caught & ~before.caught for test in alone.indispensable)


@pytest.mark.long(1)
def test_kill_of_cases_that_miss_nothing_writes_nothing(tmp_path, capsys):
    output = tmp_path / "k.gtp"
    status = main(
        ["generate", "--assignment", "go-scoring", "--kill", "cases/go-scoring", "-o", str(output)]
    )
    assert status == 0
    assert "these cases catch every mistake" in capsys.readouterr().out
    assert not output.exists()


@pytest.mark.long(1)
def test_options_that_leave_nothing(tmp_path, capsys):
    output = tmp_path / "n.gtp"
    arguments = ["generate", "--assignment", "gosensei", "--sizes", "7", "-o", str(output)]
    assert main(arguments) == 2
    assert "nothing can be asked with these options" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.long(1)
@pytest.mark.usefixtures("without_mistakes")
def test_excluded_tests_do_not_come_again(tmp_path):
    _, first = generate(tmp_path / "1.gtp", "--assignment", "gomoku-rules", "-n", 10)
    _, second = generate(
        tmp_path / "2.gtp", "--assignment", "gomoku-rules", "-n", 10,
        "--exclude", tmp_path / "1.gtp",
    )  # fmt: skip
    both = [
        {same for _, same in identities(one, specification("gomoku-rules"))}
        for one in (first, second)
    ]
    assert not both[0] & both[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give --assignment and -o"),
        (("--assignment", "chess", "-o", "x"), "there is no assignment 'chess'"),
        (("no-such", "--assignment", "go-scoring", "-o", "x"), "no-such: no such file or folder"),
        ((".", "--assignment", "go-scoring", "-o", "x"), "found no game records in this folder"),
        (("--sizes", "x", "--assignment", "go-scoring", "-o", "x"), "expected such as 9 or 5-9"),
        (("--assignment", "go-scoring", "-o", "/dev/null/x"), "/dev/null: File exists"),
    ],
)
def test_bad_options(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", *arguments]) == 2
    assert message in capsys.readouterr().err


# --- what the features are about ---------------------------------------------------------------


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_feature_can_be_made(assignment):
    kind = specification(assignment).kind
    for feature in kind.features:
        random = Random(feature.name)
        tries = (feature.make(random) for _ in range(400))
        assert any(one and feature.find(one) for one in tries), feature.name


@pytest.mark.long(1)
def test_a_corner_is_cut_out_only_where_the_move_does_the_same():
    found = 0
    for seed in range(300):
        moment = made_positions.go_game(Random(seed), 13, 100 + seed % 60)
        cut = corner_with_move(moment, 11) if moment.taken else None
        if cut is None:
            continue
        found += 1
        assert cut.taken.bit_count() == moment.taken.bit_count()
        game = new_engine("go").session.new_game(Position(cut.shape, *cut.before), cut.color)
        assert game.play(cut.color, cut.shape.point(cut.move)) == cut.taken.bit_count()
        assert game.position == cut.position()
        assert "a corner, cut out" in cut.origin.sentence
    assert found > 3


def test_positions_are_what_they_should_be():
    for seed in range(30):
        random = Random(seed)
        moment = made_positions.go_game(random, 6)
        right = Position(moment.shape, *moment.before)
        game = new_engine("go").session.new_game(right, moment.color)
        game.play(moment.color, moment.shape.point(moment.move))
        assert game.position == moment.position()
