"""Private cases made on the pages: case files, positions from game records, what they catch."""

import re
import time
from pathlib import Path
from threading import Thread

import pytest

from harness.assignments import assignment
from harness.banks import banks
from harness.core.errors import UsageError
from harness.engine import launch
from harness.generating import test_production
from harness.judging import strength
from harness.reading import casefile, shipped
from harness.service.jobs import drafts, private_cases
from harness.service.jobs.candidates import Candidate, DraftFindings, PublicCatch
from harness.service.jobs.drafts import DraftFolder, KeptCandidates
from harness.service.jobs.private_cases import MOST_HUNG
from harness.service.records import LEASED
from harness.service.storage import queue
from harness.specifications import specification
from tests.service.running import command
from tests.service.serving import KINDS_AT_LENGTH, make_course, rows, work
from tests.service.test_gradebooks import api_of
from tests.service.test_own_files import as_archive, send

pytestmark = pytest.mark.processes

GAME = b"(;GM[1]FF[4]SZ[5];B[bb];W[cb];B[bc];W[cc];B[bd];W[cd];B[be];W[ce];B[ba];W[ca])"
SCORED = b"boardsize 3\nclear_board\nplay B B2\n1 score\n#? [B\\+9]\n"


def private_of(course):
    return f"{course.assignment}/private"


def files_of(service, course):
    return service.settings.assignment_folder(course.assignment.split("/")[-1]) / "private"


def test_positions_are_found_dropped_exchanged_and_become_a_case_file(service):
    course = make_course(service, "student\nada\n", source="go-scoring")
    tess, page = course.teacher, private_of(course)
    games = {"games": ("game.sgf", GAME)}
    draft = tess.post(f"{page}/drafts", page, games, tests="12").url.path
    assert "Looking for positions" in tess.get(draft).text
    assert work(service) == 1
    text = tess.get(draft).text
    places = re.findall(r'id="p(\d+)"', text)
    assert text.count('class="board"') == len(places) > 3
    assert "From record 1.sgf" in text and str(service.settings.data) not in text

    rate = int(re.search(r"they catch (\d+) of", text)[1])
    first, second = places[:2]
    text = tess.post(f"{draft}/drop", draft, place=first).text
    assert f'id="p{first}"' not in text
    assert int(re.search(r"they catch (\d+) of", text)[1]) <= rate
    text = tess.post(f"{draft}/exchange", draft, place=second).text
    left = re.findall(r'id="p(\d+)"', text)
    assert second not in left and len(left) == len(places) - 1
    assert tess.post(f"{draft}/drop", draft, place=first).status_code == 422
    assert "Positions that were left out: 2" in text
    before = re.search(r"they catch (\d+) of", text)[1]
    text = tess.post(f"{draft}/take-back", draft, place=first).text
    assert re.findall(r'id="p(\d+)"', text) == [*left, first]
    assert tess.post(f"{draft}/take-back", draft, place=first).status_code == 422
    text = tess.post(f"{draft}/drop", draft, place=first).text
    assert re.search(r"they catch (\d+) of", text)[1] == before
    rate = int(re.search(r"they catch (\d+) of", text)[1])

    assert tess.post(f"{draft}/write", draft, name="../mine").status_code == 200
    (path,) = files_of(service, course).glob("*")
    assert path.name == "mine.gtp"
    assert work(service) == 1
    case = casefile.parse(path.read_bytes(), "mine.gtp")
    found = strength.measure([case], specification("go-scoring"))
    assert found.wrong == () and found.caught.bit_count() == rate  # as generate's own measure
    assert f"they catch {rate} of {len(found.mistakes)}" in tess.get(page).text


def test_a_draft_replaces_no_case_file(service):
    course = make_course(service, "student\nada\n", source="go-scoring")
    tess, page = course.teacher, private_of(course)
    tess.post(page, page, {"file": ("mine.gtp", SCORED)})
    draft = tess.post(f"{page}/drafts", page, tests="1").url.path
    work(service)
    refused = tess.post(f"{draft}/write", draft, name="../mine")
    assert refused.status_code == 409
    said = "here is a private case file mine.gtp already; choose another name"
    assert said in refused.text and 'value="../mine"' in refused.text
    api, place = api_of(service, "Tess Teacher"), f"/api/v1{course.assignment}/drafts"
    written = f"{place}/{draft.rpartition('/')[2]}/write"
    answer = api("POST", written, json={"name": "mine"})
    assert answer.status_code == 409 and said in answer.json()["detail"]
    assert (files_of(service, course) / "mine.gtp").read_bytes() == SCORED

    assert 'value="positions"' in tess.get(draft).text
    assert tess.post(f"{draft}/write", draft, name="positions").status_code == 200
    assert 'value="positions-2"' in tess.get(draft).text
    assert api("POST", written, json={}).status_code == 200
    names = {path.name for path in files_of(service, course).glob("*.gtp")}
    assert names == {"mine.gtp", "positions.gtp", "positions-2.gtp"}


@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_draft_names_public_files_that_catch_what_it_misses(service):
    course = make_course(service, "student\nada\n", source="go-scoring")
    page = private_of(course)
    draft = course.teacher.post(f"{page}/drafts", page, tests="1").url.path
    work(service)
    text = course.teacher.get(draft).text
    assert "Mistakes that only public tests catch" in text
    (public,) = re.findall(r"only public tests catch.*?</details>", text, re.DOTALL)
    files = set(re.findall(r"caught by ([^<]*)", public))
    names = {path.name for path in assignment.find("go-scoring").public_cases()}
    assert files and all(set(one.split(", ")) <= names for one in files)
    told = re.search(r"that no test catches: (\d+)", text)
    alive, only = int(told[1]) if told else 0, public.count("<li>")
    rate, of = map(int, re.search(r"they catch (\d+) of (\d+)", text).groups())
    assert rate + alive + only == of
    api = api_of(service, "Tess Teacher")
    (listed,) = api("GET", f"/api/v1{course.assignment}/drafts").json()["items"]
    found = api("GET", f"/api/v1{course.assignment}/drafts/{listed['id']}").json()
    assert (len(found["survivors"]), len(found["only_public"])) == (alive, only)
    assert found["only_public"][0]["files"] and set(found["only_public"][0]["files"]) <= names


def test_case_files_are_added_exchanged_and_removed(service):
    course = make_course(service, "student\nada\n", source="go-scoring")
    tess, page = course.teacher, private_of(course)

    def add(name, data):
        return tess.post(page, page, {"file": (name, data)})

    assert "Measuring what they catch" in add("one.gtp", SCORED).text
    work(service)
    (row,) = rows(tess.get(page).text)
    assert row[:2] == ["one.gtp", "1"] and int(row[2]) > 0
    wrong = SCORED.replace(b"9", b"8")
    add("one.gtp", wrong)
    work(service)
    (row,) = rows(tess.get(page).text)
    assert "The right answer fails in line 4" in row[0] and row[2] == "0"
    assert add("two.gtp", b"1 score\n#? [B\n").status_code == 422
    assert tess.post(f"{page}/remove", page, name="two.gtp").status_code == 422
    assert tess.post(f"{page}/remove", page, name="../one.gtp").status_code == 422
    empty = tess.post(f"{page}/remove", page, name="one.gtp", sure="yes").text
    assert "No private case files yet" in empty
    assert list(files_of(service, course).glob("*")) == []


def test_how_many_tests_nobody_gets(service):
    course = make_course(service, "student\nada\n", source="go-scoring")
    page = private_of(course)
    for tests in ("", "0", "201", "many", "²"):
        assert course.teacher.post(f"{page}/drafts", page, tests=tests).status_code == 422


@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_file_that_is_no_game_leaves_positions_that_are_made(service):
    course = make_course(service, "student\nada\n", source="gosensei")
    page = private_of(course)
    games = {"games": ("game.sgf", b"\x00\xff no game")}
    draft = course.teacher.post(f"{page}/drafts", page, games, tests="8").url.path
    assert work(service) == 1
    text = course.teacher.get(draft).text
    assert "a file is not a game record" in text and 'class="board"' in text
    course.teacher.post(f"{draft}/write", draft, name="mine")
    work(service)
    page = course.teacher.get(page).text
    assert "The right answer fails" not in page and "Kill rate" in page
    case = casefile.read(str(files_of(service, course) / "mine.gtp"))  # with its boards beside it
    assert strength.measure([case], specification("gosensei")).wrong == ()
    for path in service.settings.data.rglob("drafts/*/ch*.json"):  # as another version named them
        path.rename(path.with_name("kept.json"))
    assert "search again" in course.teacher.get(draft).text


def candidate(kind, caught, identity):
    return Candidate(kind, "", "", None, (), (), (identity,), caught, "")


FOUND = DraftFindings(
    (
        candidate("eye", 0b0001, "a"),
        candidate("eye", 0b0010, "b"),
        candidate("ko", 0b1100, "c"),
        candidate("eye", 0b0110, "d"),
        candidate("eye", 0b1111, "a"),  # the same test as the first one, by a symmetry
    ),
    (0, 1),
    ("one", "two", "three", "four"),
    0b1000,
    (),
)


EXCHANGED = [
    # chosen, dropped, which, what comes for it
    ((0, 1), (), 1, 3),  # of its kind, and catches more; not 4, which asks the same as 0
    ((0, 1), (3,), 1, 2),  # no other of its kind is left
    ((1,), (), 1, 4),
]


def test_a_mistake_that_a_public_test_catches_is_not_called_uncaught():
    public = (PublicCatch("one.gtp", 0b0101), PublicCatch("two.gtp", 0b0100))
    found = FOUND._replace(public=public)
    shown = drafts.describe_choice(found, KeptCandidates((1,)))
    assert (shown.caught, shown.alive) == (2, ())
    assert shown.only_public == (("one", ("one.gtp",)), ("three", ("one.gtp", "two.gtp")))
    without = drafts.describe_choice(FOUND, KeptCandidates((1,)))
    assert (without.alive, without.only_public) == (("one", "three"), ())
    (both,) = drafts.describe_choice(found, KeptCandidates((3,))).candidates
    assert (both.caught, both.only) == (2, 1)  # the public one.gtp catches the other


@pytest.mark.parametrize(("chosen", "dropped", "which", "new"), EXCHANGED)
def test_what_comes_for_a_position(chosen, dropped, which, new):
    kept = drafts.exchange(FOUND, KeptCandidates(chosen, dropped), which)
    assert kept.chosen == tuple(new if one == which else one for one in chosen)
    assert kept.dropped == (*dropped, which)


def test_two_who_choose_at_once_are_both_heeded(tmp_path):
    folder = DraftFolder(tmp_path, "a")
    folder.begin(2, [])
    folder.keep(FOUND)
    other = Thread(target=folder.change, args=[lambda _, kept: drafts.drop(kept, 1)])

    def drop_slowly(_, kept):
        other.start()
        other.join(0.5)  # it waits for us
        return drafts.drop(kept, 0)

    folder.change(drop_slowly)
    other.join()
    assert folder.load_choice() == KeptCandidates((), (0, 1))


def test_a_position_is_taken_back_unless_its_tests_are_there_already():
    kept = drafts.take_back(FOUND, KeptCandidates((1,), (0, 2)), 0)
    assert kept == KeptCandidates((1, 0), (2,))
    for place in (0, 3):  # 4 asks the same as 0; 3 was never left out
        with pytest.raises(UsageError, match=r"equals one that|not among those"):
            drafts.take_back(FOUND, KeptCandidates((1, 4), (0, 2)), place)


def test_the_rate_counts_what_other_files_catch():
    assert drafts.find_caught(FOUND, (0, 1)) == 0b1011
    assert drafts.find_caught(FOUND, ()) == 0b1000


def test_all_that_ships_can_have_positions():
    for name in shipped.names():
        assert drafts.why_not(assignment.find(name)) == "", name


OWN = Path(__file__).parents[1] / "own_games"


def game_files(game, change=lambda text: text):
    """Return the files of an assignment of a declared game, by name."""
    names = ["assignment.toml", f"{game}.py"]
    files = {name: (OWN / game / name).read_text() for name in names}
    files["assignment.toml"] = change(files["assignment.toml"])
    folder = OWN / game / "cases"
    return files | {f"cases/{path.name}": path.read_text() for path in folder.iterdir()}


def own_game(course, game, change=lambda text: text):
    """Make an assignment of a declared game; return the course with it."""
    answer = send(course, as_archive(game_files(game, change)))
    assert answer.status_code == 200, answer.text
    return course._replace(assignment=answer.url.path)


def boxes():
    """Return the children that serve a box; on a busy machine a matcher may be another child."""
    return {pid for pid in launch.children() if b"harness.sandbox.server" in command(pid)}


@pytest.mark.long(3)
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_game_without_a_board_shows_what_is_said(service, monkeypatch):
    monkeypatch.setattr(test_production, "_IN_A_ROUND", 10)
    course = make_course(service, "student\nada\n", source="go-scoring")
    course = own_game(course, "takuzu", lambda text: text.replace(SIZES, "sizes = [[3, 3]]"))
    page = private_of(course)
    draft = course.teacher.post(f"{page}/drafts", page, tests="4").url.path
    before = boxes()
    assert work(service) == 1
    assert boxes() <= before, "the reference has ended with the job"
    text = course.teacher.get(draft).text
    assert 'class="board"' not in text and text.count('<pre class="setup"') > 0
    assert "game 3 3" in text and "no kill rate" in text
    assert course.teacher.post(f"{draft}/write", draft, name="mine").status_code == 200
    work(service)
    text = course.teacher.get(page).text
    assert "mine.gtp" in text and "right answer fails" not in text


HANGS = """
[[wrong]]
name = "sleeper"
command = "sleep 1000"
sentence = "never answers"
"""


@pytest.mark.long(20)
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_program_that_hangs_is_given_up_and_named(service, monkeypatch):
    monkeypatch.setattr(banks, "TRIED_TIMEOUT", 0.2)
    monkeypatch.setattr(banks, "_FILE", 0.5)
    monkeypatch.setattr(test_production, "_IN_A_ROUND", 5)  # all of them are drawn in vain
    asked = []
    monkeypatch.setattr(DraftFolder, "tell_program", lambda _, name: asked.append(name))
    course = make_course(service, "student\nada\n", source="go-scoring")
    course = own_game(
        course, "takuzu", lambda text: text.replace(SIZES, "sizes = [[3, 3]]") + HANGS
    )
    page = private_of(course)
    draft = course.teacher.post(f"{page}/drafts", page, tests="4").url.path
    assert work(service) == 1
    assert set(asked) == {"sleeper"} and len(asked) <= MOST_HUNG
    assert "hung in four case files, or took too long: sleeper" in course.teacher.get(draft).text


@pytest.mark.long(20)
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_program_that_hangs_has_one_budget_for_all_private_case_files(service, monkeypatch):
    monkeypatch.setattr(banks, "TRIED_TIMEOUT", 0.2)
    monkeypatch.setattr(banks, "_FILE", 0.5)
    monkeypatch.setattr(private_cases, "LONGEST", 0.4)
    asked, results = [], banks.EngineAsker.results

    def count(asker, cases, engine):
        asked.append(engine.name)
        return results(asker, cases, engine)

    monkeypatch.setattr(banks.EngineAsker, "results", count)
    course = make_course(service, "student\nada\n", source="go-scoring")
    course = own_game(
        course, "takuzu", lambda text: text.replace(SIZES, "sizes = [[3, 3]]") + HANGS
    )
    tess, page = course.teacher, private_of(course)
    for name in ("a.gtp", "b.gtp", "c.gtp", "d.gtp"):
        tess.post(page, page, {"file": (name, b"1 game 3 3\n2 winner\n#? [.*]\n")})
    work(service)
    assert 0 < len(asked) < 4
    text = tess.get(page).text
    assert "0 seconds in those before: sleeper. Whether the other case files catch it" in text
    assert "they catch 1 of 1" in text
    told = api_of(service, "Tess Teacher")("GET", f"/api/v1{page.removesuffix('/')}").json()
    assert (told["given_up"], told["survivors"]) == (["sleeper"], [])


def test_the_page_of_positions_says_what_it_waits_for(service):
    course = make_course(service, "student\nada\n", source="gosensei")
    tess, page = course.teacher, private_of(course)
    draft = tess.post(f"{page}/drafts", page, tests="4").url.path
    assert "No worker is free yet" in tess.get(draft).text
    name, assigned = draft.rpartition("/")[2], course.assignment.rpartition("/")[2]
    own = DraftFolder(service.settings.assignment_folder(assigned), name)
    own.tell_step("round 2: 30 tests, 1 not caught")
    own.tell_program("sleeper")
    with service.database.changing() as db:
        queue.JOBS.change(db, {"state": LEASED}, about=name)
    text = tess.get(draft).text
    assert "Now: round 2: 30 tests, 1 not caught. It asks the program <b>sleeper</b>." in text
    assert "This takes longer than usual" not in text
    with service.database.changing() as db:
        queue.JOBS.change(db, {"made": time.time() - drafts.LONG - 1}, about=name)
    assert "This takes longer than usual: it began" in tess.get(draft).text
    api = api_of(service, "Tess Teacher")
    told = api("GET", f"/api/v1{course.assignment}/drafts/{name}").json()
    assert (told["now"], told["given_up"]) == ("round 2: 30 tests, 1 not caught: sleeper", [])
    own.tell_step("round 3")
    assert own.load_progress().program == ""


SIZES = "sizes = [[3, 3], [4, 3], [3, 5], [5, 2], [4, 4]]"


def test_a_game_that_nobody_knows_has_no_positions_and_the_page_says_why(service):
    course = make_course(service, "student\nada\n", source="go-scoring")
    reference = '[reference]\ncommand = "python3 -S -E nogo.py"'
    course = own_game(course, "nogo", lambda text: text.replace(reference, ""))
    text = course.teacher.get(private_of(course)).text
    assert "without a reference" in text and "Upload case files instead" in text
    draft = course.teacher.post(f"{private_of(course)}/drafts", private_of(course), tests="4")
    assert draft.status_code == 422 and "without a reference" in draft.text
