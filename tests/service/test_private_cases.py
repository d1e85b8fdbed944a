"""Private cases made on the pages: case files, positions from game records, what they catch."""

import re

import pytest

from harness import shipped
from harness.assignments import assignment
from harness.errors import UsageError
from harness.generating.records import SceneTest, Staged
from harness.judging import strength
from harness.reading import casefile
from harness.service.work import drafting, strong
from harness.service.work.drafting import DraftFindings, KeptCandidates
from harness.specifications import specification
from harness.vocabulary.scenes import MADE, Find, Scene, SceneMoment, StoneBits
from tests.service.serving import made, opened, rows, settings_of, work

pytestmark = pytest.mark.processes

GAME = b"(;GM[1]FF[4]SZ[5];B[bb];W[cb];B[bc];W[cc];B[bd];W[cd];B[be];W[ce];B[ba];W[ca])"
SCORED = b"boardsize 3\nclear_board\nplay B B2\n1 score\n#? [B\\+9]\n"


@pytest.fixture
def service(request, tmp_path):
    with opened(settings_of("sqlite", request, tmp_path / "data")) as found:
        yield found


def private_of(course):
    return f"{course.assignment}/private"


def files_of(service, course):
    return service.settings.made(course.assignment.split("/")[-1]) / "private"


def test_positions_are_found_dropped_exchanged_and_become_a_case_file(service):
    course = made(service, "student\nada\n", source="go-scoring")
    tess, page = course.teacher, private_of(course)
    games = {"games": ("game.sgf", GAME)}
    draft = tess.post(f"{page}/drafts", page, games, tests="12").url.path
    assert "being looked for" in tess.get(draft).text
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
    rate = int(re.search(r"they catch (\d+) of", text)[1])

    assert tess.post(f"{draft}/write", draft, name="../mine").status_code == 200
    (path,) = files_of(service, course).glob("*")
    assert path.name == "mine.gtp"
    assert work(service) == 1
    case = casefile.parse(path.read_bytes(), "mine.gtp")
    found = strength.measure([case], specification("go-scoring"))
    assert found.wrong == () and found.caught.bit_count() == rate  # as generate's own measure
    assert f"they catch {rate} of {len(found.mistakes)}" in tess.get(page).text


def test_case_files_are_added_exchanged_and_removed(service):
    course = made(service, "student\nada\n", source="go-scoring")
    tess, page = course.teacher, private_of(course)

    def add(name, data):
        return tess.post(page, page, {"file": (name, data)})

    assert "is being measured" in add("one.gtp", SCORED).text
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
    assert "There are none yet" in tess.post(f"{page}/remove", page, name="one.gtp").text
    assert list(files_of(service, course).glob("*")) == []


@pytest.mark.parametrize("tests", ["", "0", "-1", "201", "many", "²"])
def test_how_many_tests_nobody_gets(service, tests):
    course = made(service, "student\nada\n", source="go-scoring")
    page = private_of(course)
    assert course.teacher.post(f"{page}/drafts", page, tests=tests).status_code == 422


def test_a_file_that_is_no_game_leaves_positions_that_are_made(service):
    course = made(service, "student\nada\n", source="gosensei")
    page = private_of(course)
    games = {"games": ("game.sgf", b"\x00\xff no game")}
    draft = course.teacher.post(f"{page}/drafts", page, games, tests="8").url.path
    assert work(service) == 1
    text = course.teacher.get(draft).text
    assert "a file is no game record" in text and 'class="board"' in text
    course.teacher.post(f"{draft}/write", draft, name="mine")
    work(service)
    page = course.teacher.get(page).text
    assert "The right answer fails" not in page and "Kill rate" in page
    case = casefile.read(str(files_of(service, course) / "mine.gtp"))  # with its boards beside it
    assert strength.measure([case], specification("gosensei")).wrong == ()


def staged(feature, caught, identity):
    moment = SceneMoment(MADE, "go", 3, 0, StoneBits(), 0, 0, StoneBits())
    asked = SceneTest("score", "0", "", (identity,))
    return Staged(Scene(Find(0, feature, "", moment), ()), (asked,), caught)


FOUND = DraftFindings(
    (
        staged("eye", 0b0001, "a"),
        staged("eye", 0b0010, "b"),
        staged("ko", 0b1100, "c"),
        staged("eye", 0b0110, "d"),
        staged("eye", 0b1111, "a"),  # the same test as the first one, by a symmetry
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


@pytest.mark.parametrize(("chosen", "dropped", "which", "new"), EXCHANGED)
def test_what_comes_for_a_position(chosen, dropped, which, new):
    kept = drafting.exchange(FOUND, KeptCandidates(chosen, dropped), which)
    assert kept.chosen == tuple(new if one == which else one for one in chosen)
    assert kept.dropped == (*dropped, which)


def test_there_may_be_no_other_position():
    with pytest.raises(UsageError, match="no other position"):
        drafting.exchange(FOUND, KeptCandidates((0, 1), (2, 3)), 1)


def test_the_rate_counts_what_other_files_catch():
    assert drafting.caught(FOUND, (0, 1)) == 0b1011
    assert drafting.caught(FOUND, ()) == 0b1000


def test_without_a_specification_tests_are_counted_alone():
    case = casefile.parse(SCORED, "one.gtp")
    found = strong.measured([case], None)
    assert found.files == (strong.OfFile("one.gtp", 1, 0, ()),) and found.of == 0


def test_all_that_ships_can_have_positions():
    for name in shipped.names():
        assert drafting.can_draft(assignment.find(name)), name
