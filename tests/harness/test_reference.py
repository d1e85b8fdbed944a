"""A teacher's program asked for what is right: what it is sent, what is kept, how it may break."""

import os
import random

import pytest

from harness.assignments import assignment
from harness.core.errors import ReferenceFailedError
from harness.core.records import Reply
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import read
from harness.declared.engine import accepts, choices
from harness.declared.reference import digest, end_processes
from harness.declared.specifying import specify
from harness.engine import launch
from tests.harness.declared_games import DECLARED, ENGINE, HANDED_IN, lay, read_sent_commands
from tests.harness.test_check import works

pytestmark = pytest.mark.processes

GAME = ("boardsize 3", "mode stones", "play b a1", "play w b1", "count b")


@pytest.fixture(autouse=True)
def cache(open_place, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(open_place / "cache"))


@pytest.fixture
def find_specification(open_place):
    """Return the specification of a declaration: a new one each time, as in another run."""
    made = []

    def specify_anew(declared=DECLARED, engine=ENGINE, *ways):
        path = lay(open_place, declared, engine)
        found = read(path)
        words = (*found.reference.command.split(), *ways)
        made.append(specify("row", found, open_place, words))
        return made[-1]

    yield specify_anew
    for one in made:
        one.truth.close()


def texts(replies):
    return [one.text for one in replies]


def test_what_was_asked_once_is_not_asked_again(find_specification, open_place):
    first = find_specification().truth.replies(GAME)
    assert texts(first) == ["", "", "", "", "1"]
    assert read_sent_commands(open_place) == ["start", *GAME]
    assert find_specification().truth.replies(GAME) == first
    assert find_specification().truth.replies(GAME[:3]) == first[:3]
    assert read_sent_commands(open_place) == ["start", *GAME]


def test_another_program_or_command_is_asked_anew(find_specification, open_place):
    find_specification().truth.replies(GAME)
    changed = find_specification(engine=ENGINE.replace("WAYS else count", "WAYS else count + 1"))
    assert texts(changed.truth.replies(GAME))[-1] == "2"
    assert (
        texts(find_specification(DECLARED, ENGINE, "fractions").truth.replies(GAME))[-1] == "1.0"
    )
    assert read_sent_commands(open_place).count("start") == 3


def test_what_another_program_answers_is_not_kept(find_specification, open_place):
    """Its files were changed between the look at them and the start of a process."""
    truth = find_specification().truth
    lay(open_place, DECLARED, ENGINE.replace("WAYS else count", "WAYS else count + 1"))
    for _ in range(2):
        with pytest.raises(ReferenceFailedError, match="have changed since it was first asked"):
            truth.replies(GAME)
    assert texts(find_specification().truth.replies(GAME))[-1] == "1"


OTHER_FOLDER = "import runpy\nrunpy.run_path('row.py')"
CHANGED = ENGINE.replace("WAYS else count", "WAYS else count + 1")


@pytest.mark.parametrize(
    ("reference", "other"),
    [
        ('command = "python3 -m row"', ""),
        ('command = "./run.sh"\nfiles = ["row.py"]', "exec python3 row.py"),
        ('command = "python3 main.py"', "from row import *"),
        ('command = "python3 sub/main.py"\nfiles = ["*.py"]', OTHER_FOLDER),
    ],
)
def test_in_one_process_a_changed_reference_is_asked_anew(open_place, reference, other):
    """A service lives longer than a reference stays as it is."""
    lay(open_place)
    started = open_place / reference.split('"')[1].split()[-1]
    if other:
        started.parent.mkdir(exist_ok=True)
        started.write_text(f"#!/bin/sh\n{other}\n" if started.suffix == ".sh" else other)
        started.chmod(0o755)
    table = f'[reference]\n{reference}\nsandbox = "off"\n'
    own = DECLARED.partition("[game]")[2]
    (open_place / "assignment.toml").write_text(f"{HANDED_IN}\n{table}\n[game]{own}")
    (open_place / "a.gtp").write_text("10 name\n")

    def ask_reference():
        truth = assignment.find(str(open_place)).specification.truth
        return texts(truth.replies(GAME))[-1]

    assert ask_reference() == "1"
    (open_place / "row.py").write_text(CHANGED)
    assert ask_reference() == "2"


def test_a_reference_may_have_its_own_words(find_specification, open_place):
    (open_place / "words.toml").write_text('[names]\ncount = "stones"\n')
    engine = ENGINE.replace('"count"', '"stones"')
    assert engine != ENGINE
    truth = find_specification(
        DECLARED.replace("[game]", 'translate = "words.toml"\n[game]', 1), engine
    ).truth
    assert texts(truth.replies(GAME))[-1] == "1"
    (open_place / "words.toml").write_text('[names]\ncount = "number"\n')
    changed = digest(truth.program)
    assert changed != truth._digest, "other words are another reference"


def test_one_process_answers_as_long_as_that_is_sound(find_specification, open_place):
    truth = find_specification().truth
    truth.replies(GAME)
    truth.replies((*GAME, "list"))
    assert read_sent_commands(open_place) == ["start", *GAME, "list"], "it goes on"
    other = ("boardsize 2", "mode double", "play b a1", "count b")
    truth.replies(other)
    assert read_sent_commands(open_place).count("start") == 1, (
        "a new board, and every mode set anew"
    )
    silent = ("boardsize 2", "play b a1", "count b")
    assert texts(truth.replies(silent))[-1] == "1", "modes outlive games: not of a used process"
    assert read_sent_commands(open_place).count("start") == 2
    truth.replies(("play b b1",))
    assert read_sent_commands(open_place).count("start") == 3, (
        "what does not begin a board needs a new process"
    )


def test_a_board_that_is_refused_does_not_begin(find_specification, open_place):
    """A used process would still have the board of the conversation before."""
    engine = ENGINE.replace(
        '    if name == "boardsize":', '    if name == "boardsize" and words != ["9"]:'
    )
    truth = find_specification(engine=engine).truth
    truth.replies(GAME)
    replies = truth.replies(("boardsize 9", "mode stones", "list"))
    assert not replies[0].ok
    assert texts(replies)[-1] == "a1 b1 c1", "as of a new process"


ROWS = """\
import sys
size = 0
for line in sys.stdin:
    name, *words = line.split()
    if name == "game" and words == ["9"]:
        print("= illegal move: 9", flush=True)
        continue
    size = int(words[0]) if name == "game" else size
    print(*([size] if name == "wide" else []), "= 1", sep="\\n", flush=True)
"""
ROWS_DECLARED = """\
[reference]
command = "python3 row.py"
sandbox = "off"
[game]
protocol = "status last"
sizes = [3]
[[command]]
name = "game"
kind = "starts"
arguments = ["size"]
[[command]]
name = "wide"
kind = "asks"
"""


def test_a_board_that_a_status_line_refuses_does_not_begin(find_specification):
    truth = find_specification(ROWS_DECLARED, ROWS).truth
    assert truth.replies(("game 3", "wide"))[-1].text == "3"
    assert truth.replies(("game 9", "wide"))[-1].text == "0", "as of a new process"


def test_what_follows_a_choice_that_is_played_is_not_kept(find_specification):
    """The next time it may be another choice, and then the reply is about another board."""
    drawn = ENGINE.replace("found[0]", "__import__('random').choice(found)")
    truth = find_specification(engine=drawn).truth
    for _ in range(8):
        *_, chosen, left = texts(truth.replies(("boardsize 3", "genmove b", "list")))
        assert chosen not in left.split()


def test_a_reference_whose_modes_matter_is_always_new(find_specification, open_place):
    truth = find_specification(DECLARED.replace("[game]", "fresh = true\n\n[game]", 1)).truth
    assert texts(truth.replies((*GAME[:2], "quit", "count b"))) == ["", "", ""]  # and to its end
    truth.replies(("boardsize 2", "mode double", "count b"))
    assert read_sent_commands(open_place).count("start") == 2


def test_many_at_once_are_answered_as_one_by_one(find_specification):
    """Also those that may share no process, and one whose board is refused."""
    many = [
        GAME,
        ("boardsize 2", "mode stones", "play b a1", "count b"),
        ("boardsize 9", "mode stones", "play b a1", "count b", "list"),
        ("play b b1", "count b"),
        ("boardsize 3", "play b a1", "count b"),
        GAME[:3],
    ]
    engine = ENGINE.replace(
        '    if name == "boardsize":', '    if name == "boardsize" and words != ["9"]:'
    )
    alone = []
    for one in many:
        truth = find_specification(engine=engine).truth  # a new process for each
        alone.append(texts(truth.replies(one)))
        truth.close()
    truth = find_specification(engine=engine).truth
    truth.replies((*GAME, "list"))
    under_way = truth.begin(many)
    under_way.go_on()
    assert [texts(replies) for replies in under_way.replies()] == alone


def test_no_process_lasts_longer_than_the_work(find_specification, open_place):
    before = set(launch.children())
    truths = [find_specification().truth for _ in range(2)]
    for place, truth in enumerate(truths):
        truth.replies(GAME[: 3 + place])
    assert len(set(launch.children()) - before) == 2
    end_processes()
    assert set(launch.children()) <= before
    assert texts(truths[0].replies(GAME)) == ["", "", "", "", "1"]  # another one is started


def test_another_question_does_not_disturb_those_under_way(find_specification):
    truth = find_specification().truth
    truth.replies(GAME[:2])
    under_way = truth.begin([GAME, GAME])
    assert texts(truth.replies((*GAME[:2], "count w"))) == ["", "", "0"]
    assert [texts(replies)[-1] for replies in under_way.replies()] == ["1", "1"]


def test_files_are_found_from_where_the_case_is(find_specification, open_place, monkeypatch):
    declared = DECLARED + '[[command]]\nname = "load"\narguments = [{ files = "*.txt" }]\n'
    cases = open_place / "cases"
    cases.mkdir()
    monkeypatch.chdir(cases)
    (cases / "a.txt").write_text("one")
    truth = find_specification(declared).truth
    assert texts(truth.replies(("load a.txt",))) == ["one"]
    (cases / "a.txt").write_text("two")
    assert texts(truth.replies(("load a.txt",))) == ["two"], "its content belongs to the question"


def test_in_its_box_it_sees_the_files_that_commands_name(
    find_specification, open_place, monkeypatch
):
    if not works():
        pytest.skip("no sandbox works on this machine")
    declared = DECLARED.replace('sandbox = "off"', "").replace(" log", "")
    declared += '[[command]]\nname = "load"\narguments = [{ files = "*.txt" }]\n'
    cases = open_place / "cases"
    cases.mkdir()
    monkeypatch.chdir(cases)
    (cases / "a.txt").write_text("one")
    (cases / "b.txt").write_text("other")
    truth = find_specification(declared).truth
    assert texts(truth.replies(("boardsize 3", "list"))) == ["", "a1 b1 c1"]
    assert texts(truth.replies(("boardsize 3", "list", "load a.txt")))[-1] == "one"
    assert not truth.replies(("boardsize 3", f"list {cases}/b.txt", "load c.txt"))[-1].ok


def test_a_reference_that_breaks_is_named_and_nothing_is_kept(find_specification):
    truth = find_specification().truth
    with pytest.raises(
        ReferenceFailedError, match="did not answer 'die': The engine ended with exit status 3"
    ):
        truth.replies(("boardsize 3", "die"))
    assert texts(truth.replies(GAME))[-1] == "1", "it is asked on, by a new process"


def test_a_forked_process_asks_one_of_its_own(find_specification):
    truth = find_specification().truth
    truth.replies(GAME)
    if not (child := os.fork()):
        try:
            right = texts(truth.replies((*GAME, "list"))) == ["", "", "", "", "1", "c1"]
            os._exit(0 if right else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert texts(truth.replies((*GAME, "over")))[-1] == "no"


def test_an_engine_is_followed_with_ids_and_its_own_moves(find_specification, open_place):
    engine = find_specification().reference_engine()
    assert engine.handle("10 boardsize 3\n") == "=10 \n\n"
    assert engine.handle("# nothing") == ""
    assert engine.handle("genmove b") == "= a1\n\n"
    assert engine.handle("20 list") == "=20 b1 c1\n\n"
    assert engine.said[-2:] == ("play b a1", "list"), "a choice is said as the move that it is"
    assert engine.handle("bad").startswith("? ")
    engine.follow("genmove w", Reply(True, "c1", "= c1", 0.0))
    assert engine.handle("list") == "= b1\n\n"


# --- what is drawn -----------------------------------------------------------------------------


def test_games_are_drawn_of_all_that_is_declared(find_specification, open_place):
    specification = find_specification()
    drawer = Drawer(read(open_place / "row.toml"), random.Random(1), open_place)
    drawn = [drawer.draw(10, specification.reference_engine().reply).commands for _ in range(15)]
    for commands in drawn:
        assert commands[0].startswith("boardsize ")
        modes = [one for one in commands[:3] if one.startswith("mode ")]
        assert modes, "every conversation makes every setting"
        ended = False
        for command, told in zip(commands, specification.truth.replies(commands), strict=True):
            assert not (ended and command.startswith("play")), "no stone after the end"
            ended = told.text == "yes" if command == "over" else ended and "board" not in command
    names = {command.split()[0] for commands in drawn for command in commands}
    assert names == {
        *("boardsize", "clear_board", "mode", "play", "count", "list", "over", "genmove"),
    }
    refused = {
        reply.text.split(" ", 2)[-1]
        for commands in drawn
        for reply in specification.truth.replies(commands)
        if reply.text.startswith("illegal")
    }
    assert any("wrong color" in text for text in refused)
    assert any("taken" in text for text in refused)
    again = Drawer(read(open_place / "row.toml"), random.Random(1), open_place)
    assert drawn[0] == again.draw(10, specification.reference_engine().reply).commands


# --- what is chosen ----------------------------------------------------------------------------

SOLVER = """
[[command]]
name = "solve"
kind = "chooses"
keeps = "first word"
instead = ["unknown"]
"""


def reply(text):
    return Reply(True, text, f"= {text}", 0.0)


@pytest.mark.parametrize(
    ("said", "color", "right", "wrong"),
    [
        ((), "b", ("a1", "c1"), ("C1", "d1", "pass", "")),
        (("play b a1", "play w b1", "play b c1"), "w", ("pass",), ("a1",)),
    ],
)
def test_any_move_that_the_reference_plays_is_right(find_specification, said, color, right, wrong):
    engine = find_specification().reference_engine()
    for command in ("boardsize 3", *said):
        engine.reply(command)
    own = engine.replies((*engine.said, f"genmove {color}"))[-1]
    judged = [accepts(engine, f"genmove {color}", own, reply(got)) for got in right + wrong]
    assert judged == [True] * len(right) + [False] * len(wrong)


def test_all_right_choices_are_known(find_specification):
    engine = find_specification(DECLARED + SOLVER).reference_engine()
    engine.reply("boardsize 3")
    engine.reply("play b b1")
    assert choices(engine, "genmove w") == ("a1", "c1")
    assert choices(engine, "list") == ()
    engine.reply("boardsize 4")
    assert choices(engine, "solve") == (), "it says that it does not know"


def test_a_choice_keeps_what_it_must(find_specification):
    winning = ENGINE.replace(
        '''return f"{found} {free()[0]}"''',
        '''return f"b {free()[0]}" if "c1" in free() else "w"''',
    )
    engine = find_specification(DECLARED + SOLVER, winning).reference_engine()
    engine.reply("boardsize 3")
    own = reply("b a1")
    assert choices(engine, "solve") == ("b a1", "b b1")
    answers = ("b b1", "B b1", "b c1", "w b1", "b", "w", "unknown")
    right = [accepts(engine, "solve", own, reply(text)) for text in answers]
    assert right == [True, True, False, False, False, False, False]
