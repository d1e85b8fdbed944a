"""``gtp-harness calibrate``: what a declaration forgets is named, and a good one is left alone."""

import json

import pytest

from harness.cli import main
from harness.core.errors import ExitCode
from tests.harness import own_assignments
from tests.harness.declared_games import DECLARED, ENGINE, HANDED_IN, command, lay
from tests.tiers import one_in

pytestmark = pytest.mark.processes

WHOLE = DECLARED.replace("row.py log", "row.py").replace(
    "[game]", "[game]\ncolors = ['b', 'w']", 1
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def get_remarks(tmp_path, capsys):
    """Return the remarks on a declaration, as (command, matter, text)."""

    def calibrate_game(declared=WHOLE, engine=ENGINE, *ways, status=ExitCode.FAILED, many=12):
        lay(tmp_path, declared, engine)
        (tmp_path / "assignment.toml").write_text(HANDED_IN.replace('["*.gtp"]', "[]") + declared)
        found = tmp_path / "found.json"
        engines = [word for way in ways for word in ("--engine", command(tmp_path, *way.split()))]
        given = ["--conversations", str(many), "--seconds", "0", "--sandbox", "off", *engines]
        assert main(["calibrate", str(tmp_path), *given, "--json", str(found)]) == status
        capsys.readouterr()
        notes = json.loads(found.read_text())["notes"]
        return [(one["command"], one["matter"], one["text"]) for one in notes]

    return calibrate_game


def test_nothing_is_said_of_a_good_declaration(get_remarks):
    assert get_remarks(WHOLE, ENGINE, "turned", status=ExitCode.OK) == []


GTP_ERRORS = "No case file for GTP can expect an error (a reply that begins with ?)"
TURNED = "grade asks public tests with the board turned as well"
BOTH = "grade asks public tests with the board turned or with colors exchanged as well"


@pytest.mark.long(2)
@pytest.mark.parametrize(
    ("declared", "engine", "sentences"),
    [
        (
            WHOLE + '\n[[command]]\nname = "play"\nbad = ["{turn}"]\n',
            ENGINE,
            [f"{GTP_ERRORS}, as to wrong arguments of play:", TURNED],
        ),
        (
            WHOLE.replace("[game]", '[game]\nturns = "any"')
            + '\n[[command]]\nname = "play"\nbad = ["{turn} {stone}"]\n',
            ENGINE.replace(" or color != turn:", ":"),
            [BOTH],
        ),
    ],
)  # fmt: skip
def test_what_cases_cannot_ask_is_told_and_is_nothing_to_look_at(
    tmp_path, capsys, declared, engine, sentences
):
    lay(tmp_path, declared, engine)
    (tmp_path / "assignment.toml").write_text(HANDED_IN.replace('["*.gtp"]', "[]") + declared)
    found = tmp_path / "found.json"
    given = ["--conversations", "12", "--seconds", "0", "--sandbox", "off"]
    status = main(["calibrate", str(tmp_path), *given, "--json", str(found)])
    told = " ".join(capsys.readouterr().out.split())
    assert status == ExitCode.OK, told
    bounds = json.loads(found.read_text())["bounds"]
    assert [one[: len(two)] for one, two in zip(bounds, sentences, strict=True)] == sentences
    assert all(one in told for one in bounds)


def without(*lines):
    """Return the declaration without the lines that begin so."""
    kept = [one for one in WHOLE.splitlines() if not one.startswith(lines)]
    return "\n".join(kept)


def replace_once(old, new):
    assert old in WHOLE
    return WHOLE.replace(old, new, 1)


def more(text):
    return WHOLE + "\n" + text


ANY_TURN = ENGINE.replace(" or color != turn:", ":")
CHANCE = ENGINE.replace('return "yes"', 'import os; return os.getpid() if size == 2 else "yes"')
SOLVE = '[[command]]\nname = "solve"\nkind = "chooses"\n'

YES = 'return "yes" if not free() else "no"'
LOUD = ENGINE.replace(YES, f"return ({YES[7:]}).upper() if WAYS else {YES[7:]}")

# What is forgotten, the declaration, the reference, another engine, and whose note is about what.
FORGOTTEN = {
    "refused": (without("refused"), ENGINE, "", ("", "the game", "refused = ")),
    "over": (without("over"), ENGINE, "", ("", "the game", 'over = { ask = "over", is = "yes" }')),
    "colors": (replace_once("['b', 'w']", "['x', 'o']"), ENGINE, "",
               ("play", "always refused", "wrong color")),
    "sizes": (replace_once("[2, 3, 4]", "[2, 20]"),
              ENGINE.replace("    return begin()", "    return begin(1 // (size < 9))", 1)
              .replace("def begin():", "def begin(_=0):"), "",
              ("", "the game", "refuses 'boardsize 20' (sizes)")),
    "vertices": (replace_once("[game]", '[game]\nvertices = "x y"'), ENGINE, "",
                 ("play", "always refused", "vertices")),
    "turns, alternate": (replace_once("[game]", '[game]\nturns = "any"'), ENGINE, "",
                         ("", "the game", 'turns = "alternate"')),
    "turns, any": (WHOLE, ANY_TURN, "", ("", "the game", 'turns = "any"')),
    "a command": (replace_once('[[command]]\nname = "count"\narguments = ["color"]\n', ""),
                  ENGINE, "", ("count", "not declared", "nothing asks it")),
    "kind = sets": (without('kind = "sets"'), ENGINE, "",
                    ("mode", "another kind", 'kind = "sets"')),
    "kind = chooses": (replace_once('name = "genmove"', 'name = "genmove"\nkind = "asks"'),
                       ENGINE, "", ("genmove", "another kind", '"chooses"')),
    "arguments": (without('arguments = ["color"]'), ENGINE, "",
                  ("count", "always refused", "are its arguments")),
    "bad": (more('[[command]]\nname = "play"\nbad = []'), ENGINE, "",
            ("play", "never refused", "'bad' has none")),
    "bad that is good": (more('[[command]]\nname = "play"\nbad = ["{turn} {vertex} x"]'),
                         ENGINE.replace("return played(*words)", "return played(*words[:2])"), "",
                         ("play", "never refused", "'{turn} {vertex} x'")),
    "reply, order": (without('reply = "any order"'), ENGINE, "turned",
                     ("list", "too strict", 'reply = "any order"')),
    "reply, numbers": (WHOLE, ENGINE, "fractions", ("count", "too strict", 'reply = "numbers"')),
    "reply, free": (more('[[command]]\nname = "picture"'), ENGINE, "fractions",
                    ("picture", "too strict", 'reply = "free"')),
    "keeps": (more(SOLVE + 'instead = ["unknown"]'), ENGINE, "",
              ("solve", "its own choice", 'keeps = "first word"')),
    "instead": (replace_once('instead = ["pass"]', "instead = []"), ENGINE, "",
                ("genmove", "its own choice", "'pass'")),
    "plays": (replace_once('instead = ["pass"]', 'instead = ["pass"]\nplays = false'), ENGINE, "",
              ("genmove", "another kind", "plays = true?")),
    "fresh": (WHOLE, CHANCE, "", ("over", "not repeatable", "fresh = true")),
    "kind = moves": (more('[[command]]\nname = "put"\narguments = ["color", "vertex"]'),
                     ENGINE.replace('name == "play"', 'name in ("play", "put")'), "",
                     ("put", "another kind", '"moves"')),
    "kind = starts": (more('[[command]]\nname = "begin"'),
                      ENGINE.replace('name == "clear_board"', 'name in ("clear_board", "begin")'),
                      "", ("begin", "another kind", '"starts"')),
    "arguments, files": (more('[[command]]\nname = "load"'), ENGINE, "",
                         ("load", "always refused", "are its arguments")),
    "over, another end": (replace_once('is = "yes"', 'is = "done"'), ENGINE, "",
                          ("", "never reached", "over never said 'done' (over)")),
    "reply, caseless": (WHOLE, LOUD, "capitals", ("over", "too strict", 'reply = "caseless"')),
    "what is no command": (more('[[command]]\nname = "nothing"'), ENGINE, "",
                           ("nothing", "never reached", "list_commands")),
}  # fmt: skip


@pytest.mark.long(2)
def test_files_that_answers_depend_on_are_named(get_remarks, tmp_path):
    """Without ``files`` answers would be kept although the file changes."""
    reads = 'PLACE = "books"\n'
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "one.txt").write_text("1")
    found = get_remarks(WHOLE, reads + ENGINE)
    assert any(one[:2] == ("", "not declared") and 'files = ["books' in one[2] for one in found)
    declared = WHOLE.replace("[game]", 'files = ["books/*"]\n[game]', 1)
    assert get_remarks(declared, reads + ENGINE, "turned", status=ExitCode.OK) == []


@pytest.mark.long(3)
@pytest.mark.parametrize("what", one_in(4, FORGOTTEN))
def test_what_is_forgotten_is_named(get_remarks, what):
    declared, engine, way, (name, matter, text) = FORGOTTEN[what]
    found = get_remarks(declared, engine, *([way] if way else []), many=24)
    assert any((name, matter) == one[:2] and text in one[2] for one in found), found


def test_the_protocol_that_is_forgotten_is_named(tmp_path, capsys):
    place = own_assignments.make(tmp_path, "takuzu")
    toml = place / "assignment.toml"
    text = toml.read_text().replace('protocol = "status last"\n', "")
    toml.write_text(text.replace("[game]", 'timeout = 2\nsandbox = "off"\n[game]'))
    assert main(["calibrate", str(place)]) == ExitCode.BROKEN
    said = " ".join(capsys.readouterr().err.split())
    assert "the reference did not answer" in said
    assert "is the engine's --protocol 'status last'?" in said


@pytest.mark.long(1)
def test_two_engines_that_agree_ask_who_is_right(get_remarks):
    engine = ENGINE.replace("WAYS else count", "WAYS else count + (not WAYS)")
    found = get_remarks(WHOLE, engine, "one", "two")
    (question,) = [one for one in found if one[1] == "a question"]
    assert question[0] == "count"
    assert "2 engines agree on '0' where the reference says '1'" in question[2]
    assert "boardsize" in question[2], "the conversation is told"


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("", "found no [reference], [game] or [[command]] to try"),
        ("[game]\nsizes = [3]\n", "found no [reference], expected one"),
        ('[reference]\ncommand = "python3 none.py"\nsandbox = "off"\n', "did not answer"),
    ],
)
def test_without_a_reference_there_is_an_error(tmp_path, capsys, declared, message):
    cases = HANDED_IN if declared else HANDED_IN.replace('["*.gtp"]', '["a.gtp"]')
    (tmp_path / "a.gtp").write_text("10 name\n")
    (tmp_path / "assignment.toml").write_text(cases + declared)
    assert main(["calibrate", str(tmp_path)]) == ExitCode.BROKEN
    assert message in capsys.readouterr().err


# --- questions have a threshold -----------------------------------------------------------------


@pytest.mark.long(1)
def test_one_question_is_proposed_as_the_end_of_a_game(get_remarks):
    """Not one with arguments, nor a drawing, though no move was accepted after them either."""
    declared = WHOLE.replace('over = { ask = "over", is = "yes" }\n', "")
    declared += '\n[[command]]\nname = "picture"\nreply = "free"\n'
    found = [text for _, _, text in get_remarks(declared) if "does that end a game?" in text]
    assert len(found) == 1
    assert 'over = { ask = "over", is = "yes" }' in found[0]


@pytest.mark.long(1)
def test_what_is_refused_whatever_is_asked_is_not_missed(get_remarks):
    listed = "boardsize clear_board play mode count list over genmove"
    engine = ENGINE.replace(f'"{listed}"', f'"{listed} secret picture"')
    found = [one for one in get_remarks(WHOLE, engine) if one[1] == "not declared"]
    assert found == [("picture", "not declared", "the reference knows it, and nothing asks it")]


def test_what_is_to_be_said_of_many_commands_is_said_once(get_remarks):
    engine = ENGINE.replace("    return begin()", "    return 1 // 0", 1)
    found = [command for command, matter, _ in get_remarks(WHOLE, engine, many=8)
             if matter == "never reached"]  # fmt: skip
    assert len([one for one in found if one]) == 1
    assert "count, list" in found[-1]


@pytest.mark.long(1)
def test_a_choice_that_no_command_plays_sends_no_empty_line(get_remarks):
    """The engine ends at an empty line."""
    asks = '\n[[command]]\nname = "play"\nkind = "asks"\narguments = ["color", "vertex"]\n'
    over = 'over = { ask = "over", is = "yes" }\n'
    assert get_remarks(WHOLE.replace(over, "") + asks, many=8), "it came to its end"
