"""One fault costs one test: classes graded from start to end, every mark computed beforehand."""

import os
import shutil
import time
from contextlib import closing
from fractions import Fraction

import pytest

from harness.assignments import assignment
from harness.assignments.public_tests import run_public_tests
from harness.core.options import BoxLimits, Limits, Options
from harness.core.processes import children, descendants
from harness.core.records import FailureKind, Reply, Verdict
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.reading.pattern import read_gogui
from harness.report.difference import difference
from harness.running.file_runner import RunContext, run_file
from harness.running.hangs import HANGS, HangPolicy, do_anything
from harness.sandbox import levels
from harness.sandbox.boxed_engines import Sandbox
from harness.specifications import EVERYONES
from tests.harness.made_class_of_files import (
    GO,
    PUBLIC,
    faulty,
    grade_class,
    marks,
    results,
    scene,
    write_class,
)
from tests.harness.test_grade import sandbox  # noqa: F401 - a fixture

VERTICES = [f"{column}{row}" for row in range(1, 6) for column in "abcde"][:18]
SET = "komi 6.5\n" + "".join(scene(10 * n, one) for n, one in enumerate(VERTICES, 1))

pytestmark = pytest.mark.usefixtures("warm_commands")

BREAKING = {"right": 18, "dies_once": 17, "hangs_once": 17, "dies_of_komi": 0}
ANSWERING = {"tab_after_id": 18, "chatty": 18, "double_answer": 0, "forged_next": 0, "wrong_id": 0}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, sandbox, warm_commands):  # noqa: F811 - the fixture
    """A class with one fault each, and what was said of it."""
    room = tmp_path_factory.mktemp("faults")
    write_class(room, faulty(*BREAKING, *ANSWERING), SET, timeout=3)
    return room, grade_class(room)


@pytest.mark.processes
def test_one_fault_costs_what_it_spoils_and_no_more(graded):
    expected = BREAKING | ANSWERING
    assert marks(graded[0]) == {name.replace("_", ""): mark for name, mark in expected.items()}


@pytest.mark.processes
def test_a_crash_or_a_hang_at_one_of_18_tests_costs_one(graded):
    room, said = graded
    found = results(room)
    for name, kind in (("diesonce", "died"), ("hangsonce", "timeout")):
        (failure,) = found[name][-1]["failures"]
        (restart,) = found[name][-1]["restarts"]
        assert failure["kind"] == kind
        assert [one["text"] for one in restart["sent"]] == ["name", "komi 6.5"]
        verdicts = [one["verdict"] for one in found[name][-1]["outcomes"]]
        assert verdicts.count("passed") == 17
        assert verdicts[VERTICES.index("b2")] == "not run"
    assert len(found["diesofkomi"][0]["failures"]) == 1  # not tried again and again
    assert (room / "out" / "class.html").read_text().count("engine failure in 1 file") == 2
    assert "0 withheld" in said


@pytest.mark.processes
@pytest.mark.usefixtures("sandbox")
def test_without_restart_the_rest_of_the_file_is_not_run(tmp_path):
    room = write_class(tmp_path, faulty("dies_once"), SET, cases="restart = false")
    grade_class(room)
    assert marks(room) == {"diesonce": VERTICES.index("b2")}


@pytest.mark.long(4)
@pytest.mark.processes
@pytest.mark.usefixtures("sandbox")
def test_the_processor_time_of_all_engines_counts_together(tmp_path):
    """Each engine computes 0.7 of the limit and dies: the second is the last."""
    main = faulty("dies_once")["diesonce"].replace(
        'raise RecursionError("maximum recursion depth exceeded")',
        "exec('import time\\nwhile time.process_time() < 1.4: pass'); os._exit(3)",
    )
    text = "".join(scene(10 * n, "b2") for n in range(1, 7))
    room = write_class(tmp_path, {"ada": main}, text, points=6)
    toml = room / "go" / "assignment.toml"
    toml.write_text(toml.read_text().replace("cpu = 20", "cpu = 2"))
    grade_class(room)
    assert marks(room) == {"ada": Fraction(0)}
    failures = results(room)["ada"][-1]["failures"]
    assert [one["kind"] for one in failures] == ["died", "processor time"]
    limit = failures[1]["limit"]
    assert (limit["name"], limit["used"], round(limit["allowed"], 6)) == ("time", None, 2)


@pytest.mark.parametrize(("hangs", "seconds"), [(HANGS - 1, 0.0), (HANGS, 3.0)])
def test_the_hangs_in_all_processes_that_grade_a_submission_count(hangs, seconds):
    told = []
    policy = HangPolicy(hangs=hangs - 1, on_hang=lambda: told.append(1))
    policy.note_hang()
    assert policy.seconds(30) == seconds
    assert told == [1]


@pytest.mark.processes
@pytest.mark.usefixtures("sandbox")
def test_after_three_hangs_others_wait_side_by_side(open_place, monkeypatch):
    """Six hang: each is left after a part of its limit, and all are waited for together."""
    monkeypatch.setattr("harness.running.hangs.LEAST", 1.0)
    text = "komi 6.5\n" + "".join(
        scene(number, vertex) for number, vertex in enumerate(("a1", "b2") * 8, 1)
    )
    shutil.copytree(GO, open_place / "go")
    main = open_place / "go" / "assignment1" / "Go1.py"
    main.write_text(faulty("hangs_and_is_slow")["hangsandisslow"])
    case = casefile.parse(text.encode(), str(open_place / "private.gtp"))
    seen = []

    def do_and_note(left):
        begun = time.monotonic()
        found = do_anything(left)
        seen.append(([one.rest for one in left], time.monotonic() - begun))
        return found

    monkeypatch.setattr("harness.running.file_runner.do_anything", do_and_note)
    patience = HangPolicy(hangs=HANGS)
    others = set(children(os.getpid()))  # what tests before have not ended
    with closing(Sandbox("auto", BoxLimits(cpu=20), (), (), EVERYONES)) as boxes:
        before = children(os.getpid())
        setting = RunContext(
            (levels.interpreter(), str(main)),
            Options(limits=Limits(timeout=3), restart=True, strict=True),
            find_dialect(Options().dialect),
            launcher=lambda case: boxes.launcher(case, (str(open_place / "go"),)),
            patience=patience,
        )
        result = run_file(case, setting)
        assert children(os.getpid()) == before  # their box servers are gone
        assert [pid for server in set(before) - others for pid in descendants(server)] == []
    verdicts = [outcome.verdict for outcome in result.outcomes]
    assert verdicts[:12] == [Verdict.PASSED, Verdict.NOT_RUN] * 6
    assert set(verdicts[12:]) == {Verdict.NOT_RUN}  # as many new engines as one file may have
    assert [one.kind for one in result.failures] == [FailureKind.TIMEOUT] * 6
    assert all("did not answer '" in one.message for one in result.failures)
    assert all(one.message.endswith("score' within 3 s.") for one in result.failures)
    ((rests, seconds),) = seen
    assert len(rests) == 6
    assert min(rests) > 1
    assert seconds < sum(rests) / 2
    assert not patience.late


@pytest.mark.processes
@pytest.mark.long(20)
@pytest.mark.usefixtures("sandbox")
def test_who_answers_late_by_the_short_limit_loses_nothing(tmp_path, open_place, monkeypatch):
    rooms = open_place / "rooms"
    rooms.mkdir()
    rooms.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(rooms))
    vertices = ["b2"] * 3 + ["c3"] * 2 + ["a1"]
    text = "komi 6.5\n" + "".join(scene(number, one) for number, one in enumerate(vertices, 1))
    room = write_class(tmp_path, faulty("hangs_and_is_slow"), text, timeout=4, points=6)
    (room / "go" / "public.gtp").write_text(PUBLIC.replace("c3", "c4"))
    said = grade_class(room)
    assert marks(room) == {"hangsandisslow": 3}
    first, second = results(room)["hangsandisslow"]
    assert [one["verdict"] for one in first["outcomes"]] == ["not run"] * 5 + ["passed"]
    assert [one["verdict"] for one in second["outcomes"]] == ["not run"] * 3 + ["passed"] * 3
    assert "flaky, judged" not in said
    assert list(rooms.iterdir()) == []


@pytest.mark.processes
def test_an_answer_counts_for_the_command_it_answers_and_no_other(graded):
    found = {name: runs[-1] for name, runs in results(graded[0]).items()}
    assert not any(found[name.replace("_", "")]["failures"] for name in ANSWERING)
    for honest in ("right", "tabafterid"):
        assert found[honest]["warnings"] == [], honest
    assert all("text without = or ?" in one for one in found["chatty"]["warnings"])
    for name in ("doubleanswer", "forgednext"):
        (told,) = found[name]["warnings"]
        assert "more replies than it got commands; the extra ones count for nothing" in told
    (told,) = found["wrongid"]["warnings"]
    assert "has the id 99, the command has the id 10 (and 17 more like it)" in told


def test_a_student_reads_why_a_right_answer_under_another_number_fails():
    pattern = read_gogui("[B\\+18\\.5]")
    reply = Reply(True, "B+18.5", "=99 B+18.5", 0.0)
    expected = "The reply has the id 99, the command has 10: it answers another one."
    assert difference(pattern, reply, 10).hint == expected
    assert "id" not in difference(pattern, reply._replace(raw="= B+18.5"), 10).hint


CHOICES = "".join(
    f"boardsize {size}\nclear_board\n{number} genmove b\n#? [(?i)c3]\n"
    for number, size in ((10, 5), (20, 6), (30, 7))
)


def player(place, misses):
    """Return a player that misses choices (of A, B and C) in its first run, its second and so on;
    the public case file, which is run before, counts as none.
    """
    place.mkdir()
    place.chmod(0o777)
    (main,) = faulty("chooses_by_chance").values()
    return main.replace('"PLACE"', repr(str(place))).replace('(("A",), ("B",), ())', repr(misses))


@pytest.mark.processes
def test_a_choice_is_believed_to_have_failed_only_when_it_fails_again_alone(tmp_path):
    public = ()  # the public file is run first, and asks for no choice
    files = {
        "unlucky": player(tmp_path / "1", (public, ("A",), ("B",))),
        "bad": player(tmp_path / "2", (public, ("A", "B"), ("A", "C"))),
        "lucky": player(tmp_path / "3", (public, (), ("A", "B", "C"))),
    }
    room = write_class(tmp_path, files, CHOICES, points=3)
    grade_class(room, "--unsafe-no-sandbox")
    assert marks(room) == {"unlucky": 3, "bad": 2, "lucky": 3}
    runs = {name: len(found) for name, found in results(room).items()}
    assert runs == {"unlucky": 2, "bad": 2, "lucky": 1}
    assert "flaky" in (room / "out" / "class.html").read_text()


@pytest.mark.processes
def test_check_runs_a_failed_choice_again_before_it_tells(tmp_path):
    files = {"ada": player(tmp_path / "1", (("A",), ("B",)))}
    room = write_class(tmp_path, files, CHOICES)
    (room / "go" / "public.gtp").write_text(CHOICES)
    stage = room / "stage"
    shutil.copytree(room / "go" / "util", stage / "util")
    shutil.copytree(GO / "assignment1", stage / "assignment1")
    (stage / "assignment1" / "Go1.py").write_text(files["ada"])
    told = []
    trial = run_public_tests(
        assignment.find(str(room / "go")), stage, Options(sandbox="off"), told.append
    )
    assert [one.verdict for one in told[0].outcomes] == [Verdict.PASSED] * 3
    assert trial.result.files == tuple(told)
