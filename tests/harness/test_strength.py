"""``gtp-harness strength``: what tests catch, what gets away, and which tests would do."""

import json
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assignments import assignment
from harness.assignments.sets import Set, is_good, sets_of
from harness.cli import main
from harness.core.errors import ExitCode
from harness.judging.strength import MeasuredTest, Strength, measure
from harness.reading import casefile, suite
from harness.specifications import specification
from oracle.mistakes import ASSIGNMENTS, MISTAKES
from oracle.mistakes.clauses import CLAUSES
from tests.harness.shipped_assignments import SOME_LONG
from tests.tiers import one_in

CASES = Path(__file__).parents[2] / "cases"

KOMI = """\
# The komi is White's.
boardsize 2
komi 2.5
play b a1
10 score
#? [B\\+1\\.5]
20 score
#? [B\\+1\\.5]
"""


def strength_of(text, assignment="go-scoring"):
    return measure([casefile.parse(text.encode(), "some.gtp")], specification(assignment))


def names(strength, caught):
    return {one.name for place, one in enumerate(strength.mistakes) if caught >> place & 1}


@pytest.fixture(scope="module", params=ASSIGNMENTS)
def shipped_strength(request):
    paths = suite.expand([str(CASES / request.param)])
    return measure([casefile.read(path) for path in paths], specification(request.param))


def test_the_shipped_cases_catch_every_mistake(shipped_strength):
    assert shipped_strength.survivors == []
    assert shipped_strength.wrong == ()
    assert shipped_strength.kill_rate == 1


@pytest.mark.parametrize("name", SOME_LONG)
def test_the_public_tests_are_few_and_catch_every_mistake(name):
    """There is room for private ones below the limit of forty."""
    public, thorough = sets_of(assignment.find(name))
    assert is_good([public, thorough])
    assert public.tests <= 24
    assert public.strength.survivors == []
    assert thorough.tests > 3 * public.tests


@pytest.mark.parametrize("name", SOME_LONG)
def test_every_settled_clause_has_a_public_test_that_catches_a_mistake(name):
    (public,) = islice(sets_of(assignment.find(name)), 1)
    assert public.strength.untested == []
    assert len(CLAUSES[name]) > 10


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_settled_mistake_breaks_one_clause(name):
    broken = [one for clause in CLAUSES[name] for one in clause.mistakes]
    settled = [one.name for one in MISTAKES.values() if one.assignment == name and not one.is_open]
    assert sorted(broken) == sorted(settled)
    names = [one.name for one in CLAUSES[name]]
    assert len(set(names)) == len(names)


def test_clauses_without_a_test_are_listed(tmp_path, capsys):
    case = tmp_path / "some.gtp"
    case.write_text(KOMI)
    found = tmp_path / "found.json"
    assert main(["strength", str(case), "--assignment", "go-scoring", "--json", str(found)]) == 1
    told = capsys.readouterr().out
    listed = told.partition("No test of these clauses (")[2].partition("\n\n")[0]
    assert "\n  draw: A draw is 0. (GTP Command for Scoring)" in listed
    assert "\n  komi: " not in listed
    untested = json.loads(found.read_text())["untested"]
    assert [f"{one['name']}:" for one in untested] == re.findall(r"(?<=\n  )[a-z-]+:", listed)


def test_forty_of_the_shipped_tests_would_do(shipped_strength):
    least, is_least = shipped_strength.smallest()
    assert is_least
    assert len(least) <= 40
    caught = 0
    for test in least:
        caught |= test.caught
    assert caught == shipped_strength.caught


def test_the_indispensable_are_in_the_smallest_set(shipped_strength):
    assert set(shipped_strength.indispensable) <= set(shipped_strength.smallest()[0])


def test_what_a_test_catches():
    found = strength_of(KOMI)
    first, second = (names(found, test.caught) for test in found.tests)
    assert {"komi-to-black", "komi-twice", "integer-division"} <= first
    assert "minus-sign" not in first, "White does not lead"
    assert second - first == {"points-add-up"}, "one score cannot show it"
    assert [test.step.id for test in found.indispensable] == [20]
    assert [test.step.id for test in found.smallest()[0]] == [20]


def test_a_mistake_that_hangs_is_caught_where_it_hangs():
    found = strength_of("boardsize 2\nkomi 0\n10 score\n#? [0]\n20 score\n#? [0]\n")
    first, second = (names(found, test.caught) for test in found.tests)
    assert "fill-never-ends-on-empty-board" in first
    assert "fill-never-ends-on-empty-board" not in second, "it was not reached"


def test_a_wrong_test_counts_for_nothing():
    found = strength_of(KOMI.replace("20 score\n#? [B", "20 score\n#? [W"))
    assert [test.step.id for test in found.wrong] == [20]
    assert [test.step.id for test in found.tests] == [10]


def test_open_mistakes_are_left_out():
    found = strength_of("10 gogui-rules_final_result\n#? [unknown]\n", "gomoku-rules")
    assert [one.name for one in found.open_mistakes] == ["draw-before-win", "sorted-as-numbers"]
    assert not set(found.open_mistakes) & set(found.mistakes)
    assert all(MISTAKES[one.name].is_open for one in found.open_mistakes)


@given(st.lists(st.sets(st.integers(0, 4)), max_size=6), st.integers(0, 5))
def test_what_is_said_of_tests_is_what_sets_say(caught, count):
    """Recomputed with sets of places, of which a number of bits is one."""
    caught = [{place for place in one if place < count} for one in caught]
    tests = tuple(MeasuredTest("a.gtp", None, sum(1 << place for place in one)) for one in caught)
    found = Strength("", tuple("abcde"[:count]), (), tests, ())
    every = set().union(*caught)
    assert found.caught == sum(1 << place for place in every)
    assert found.kill_rate == (len(every) / count if count else 0)
    assert found.survivors == [
        one for place, one in enumerate("abcde"[:count]) if place not in every
    ]
    assert list(map(id, found.idle)) == [
        id(test) for test, one in zip(tests, caught, strict=True) if not one
    ]
    assert list(map(id, found.indispensable)) == [
        id(test)
        for place, test in enumerate(tests)
        if caught[place].difference(*caught[:place], *caught[place + 1 :])
    ]
    least, is_least = found.smallest()
    assert is_least
    assert sum(1 << place for place in every) == Strength("", (), (), tuple(least), ()).caught


def test_a_command_of_a_teacher_s_own_catches_nobody():
    """Engines with a mistake do not know it, and fail it whatever the mistake."""
    own = replace(specification("go-scoring"), own_commands=frozenset({"score", "b", ""}))
    text = "boardsize 2\nplay b a1\n10 score\n#? [B\\+4]\n20 protocol_version x\n#? [2]\n"
    case = casefile.parse(text.encode(), "a.gtp")
    shipped, other = measure([case], specification("go-scoring")), measure([case], own)
    assert [bool(one.caught) for one in shipped.tests] == [True, False]
    assert [(one.path, one.step.id, one.caught) for one in other.tests] == [
        ("a.gtp", 10, 0),
        ("a.gtp", 20, 0),
    ]
    none = replace(own, own_commands=frozenset({"boardsize", "play", "b", "a1", " ", ""}))
    assert measure([case], none) == shipped


def test_the_dialect_decides_what_fails():
    """An error may be the right answer in GNU Go's."""
    text = b"10 nonsense\n#? [unknown command]\n"
    case, go_scoring = casefile.parse(text, "a.gtp"), specification("go-scoring")
    gogui, gnugo = measure([case], go_scoring), measure([case], go_scoring, "gnugo")
    assert ([one.step.id for one in gogui.wrong], gogui.tests) == ([10], ())
    assert ([one.step.id for one in gnugo.tests], gnugo.wrong) == ([10], ())


# --- the command -------------------------------------------------------------------------------


@pytest.fixture
def komi(tmp_path):
    path = tmp_path / "komi.gtp"
    path.write_text(KOMI)
    return str(path)


def test_the_report(komi, capsys):
    assert main(["strength", komi, "--assignment", "go-scoring"]) == ExitCode.FAILED
    out = capsys.readouterr().out
    assert out.startswith("go-scoring: 2 tests in 1 file, ")
    assert f"komi-to-black{' ' * 27}2  {komi}:5" in out
    assert "\nNo test catches (" in out
    assert "  minus-sign  As if White's lead were written with a minus sign, W+-3." in out
    assert f"\nA smallest set that catches the same (1):\n  {komi}:7  20 score\n" in out
    assert out.splitlines()[-1].startswith("kill rate ")


def test_the_exit_status_is_the_teachers(komi, capsys):
    command = ["strength", komi, "--assignment", "go-scoring", "--at-least"]
    assert main([*command, "20"]) == ExitCode.OK
    assert main([*command, "99"]) == ExitCode.FAILED


def test_a_wrong_test_fails_whatever_the_rate(tmp_path, capsys):
    path = tmp_path / "wrong.gtp"
    path.write_text("boardsize 2\n10 score\n#? [W\\+1]\n")
    command = ["strength", str(path), "--assignment", "go-scoring", "--at-least", "0"]
    assert main(command) == ExitCode.FAILED
    assert "The reference engine fails (1):" in capsys.readouterr().out


def test_json(komi, tmp_path, capsys):
    path = tmp_path / "strength.json"
    main(["strength", komi, "--assignment", "go-scoring", "--json", str(path)])
    document = json.loads(path.read_text())
    assert (document["schema"], document["version"]) == ("gtp-harness/strength", 1)
    assert [test["id"] for test in document["tests"]] == [10, 20]
    assert "komi-twice" in document["tests"][0]["catches"]
    assert document["smallest"] == {"tests": [f"{komi}:7"], "exact": True}
    assert document["indispensable"] == [f"{komi}:7"]
    caught = {name for test in document["tests"] for name in test["catches"]}
    assert caught.isdisjoint(document["survivors"])
    assert len(caught) + len(document["survivors"]) == len(document["mistakes"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.gtp"], "give --assignment"),
        (["no-such.gtp", "--assignment", "go-scoring"], "no-such.gtp: cannot be read"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys):
    assert main(["strength", *arguments]) == ExitCode.BROKEN
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


# --- the sets of an assignment -----------------------------------------------------------------


@pytest.mark.long(2)
def test_the_table_of_sets(capsys):
    assert main(["strength"]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["set", "files", "tests", "caught"]
    assert [line[:16].strip() for line in lines[1:]] == [
        text for name in ASSIGNMENTS for text in (name, "")
    ]
    assert {tuple(line[16:].split()[:1]) for line in lines[1:]} == {("public",), ("thorough",)}


def sets(public, together, size):
    """Two sets with these numbers of the 33 mistakes of go-scoring caught."""
    found = strength_of(KOMI)
    test = found.tests[0]
    made = [
        found._replace(tests=(test._replace(caught=(1 << caught) - 1),) * count)
        for caught, count in ((public, 10), (together, size))
    ]
    return [Set("public", 1, made[0]), Set("public and private", 2, made[1])]


@pytest.mark.parametrize(
    ("public", "together", "size", "good"),
    [(24, 33, 40, True), (23, 33, 40, False), (33, 32, 40, False), (24, 33, 41, False)],
)
def test_what_is_good(public, together, size, good):
    """At least 70 % (23.1 of 33), all of them, at most forty."""
    assert is_good(sets(public, together, size)) is good


@pytest.mark.long(2)
@pytest.mark.parametrize("name", one_in(3, sorted(ASSIGNMENTS)[::2]))
def test_public_tests_and_secret_ones_are_at_most_forty_and_catch_all(name, tmp_path):
    """What a teacher does: makes private tests beside the public ones, and looks at both."""
    secret, private = tmp_path / "secret", tmp_path / "private.gtp"
    secret.write_text("a secret of this test, and long enough")
    public = [str(path) for path in assignment.find(name).public_cases()]
    arguments = ["--assignment", name, "-n", "16", "-o", str(private), "--secret", str(secret)]
    assert main(["generate", *arguments, "--jobs", "1", "--with", *public]) == ExitCode.OK
    found = list(sets_of(assignment.find(name), [str(private)]))
    assert is_good(found)
    assert [one.name for one in found] == ["public", "thorough", "private", "public and private"]
    assert found[3].tests == found[0].tests + 16 <= 40
    assert main(["verify", *public, str(private), "--assignment", name]) == ExitCode.OK
