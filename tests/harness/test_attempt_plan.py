"""Which case files are run in a grading: names are told apart, and what cannot be read is told."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

import pytest

from harness.assignments.assignment import Assignment, MarkPart, find
from harness.core.errors import CaseError, UsageError
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.attempt_plan import GradeOptions
from harness.grading.records import PRIVATE, PUBLIC, Submission
from harness.work import canonical_json
from oracle import __version__

CASE = "boardsize 3\nclear_board\nkomi 0\n10 score\n#? [0]\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder / "inner").mkdir(parents=True)
        (tmp_path / folder / "a.gtp").write_text(CASE)
    (tmp_path / "two" / "inner" / "b.gtp").write_text(CASE)
    return tmp_path


def names(*named: str) -> list[str]:
    found = attempt_plan.read_cases(find("go-scoring"), named)
    return [case.name for case in found if case.kind == PRIVATE]


def test_private_case_files_have_names_in_their_folder(here):
    assert names("two") == ["a.gtp", "inner/b.gtp"]
    assert names("one/a.gtp", "two/inner") == ["a.gtp", "b.gtp"]


@pytest.mark.parametrize(
    ("points", "named", "said"),
    [
        (1, [], "'private tests' needs private case files, but none are given"),
        (1, ["one"], ""),
        (1, None, ""),  # public ones only
        (0, [], ""),
    ],
)
def test_private_case_files_are_needed_only_where_they_are_worth_points(points, named, said, here):
    own = find("go-scoring")
    parts = [one for one in own.marks if one.judged_by != PRIVATE]
    hidden = MarkPart("private tests", Fraction(points), PRIVATE, "share", {})
    own = own._replace(marks=(*parts, hidden))
    assert sum(one.points for one in parts) > 0
    if said:
        with pytest.raises(UsageError, match=said):
            attempt_plan.cases(own, named)
    else:
        kinds = {case.kind for case in attempt_plan.cases(own, named)}
        assert kinds == ({PUBLIC, PRIVATE} if named else {PUBLIC})


def test_two_private_case_files_of_one_name_are_refused(here):
    with pytest.raises(UsageError) as refused:
        names("one", "two", "two/inner", "two/inner/b.gtp")
    assert str(refused.value) == "two private case files have the same name: a.gtp, b.gtp"


def test_a_private_case_file_that_is_not_there(here):
    with pytest.raises(UsageError) as refused:
        names("one/c.gtp")
    assert str(refused.value) == "cannot read one/c.gtp: No such file or directory"


def test_a_mistake_in_a_private_case_file_is_told_before_anything_runs(here):
    (here / "one" / "a.gtp").write_text(CASE + "#? [1]\n")
    with pytest.raises(CaseError) as refused:
        names("one")
    assert str(refused.value).startswith("one/a.gtp:6: found a second pattern for one command")


def test_what_speaks_gtp_is_known_by_what_it_was_before_there_were_protocols(
    monkeypatch, tmp_path
):
    own = find("go-scoring")
    parts = [own.archive.folder, own.engine, own.build, own.adapter]
    limits = {name: value for name, value in own.limits._asdict().items() if name != "thinking"}
    inputs = [__version__, *parts, limits, own.box, own.cases.restart, [], True, ""]

    def digest(value: object) -> str:
        return hashlib.sha256(canonical_json.dumps(value).encode()).hexdigest()

    for protocol, more in (("gtp", []), ("lines", ["lines", ""])):
        monkeypatch.setattr(Assignment, "protocol", protocol)
        options = GradeOptions(own, None, Path(), overlay=tmp_path)
        (attempt,) = attempt_plan.attempts(
            options, [Submission("ada", ())], attempt_plan.read_cases(own)[:1]
        )
        ground = canonical_json.dumps([*inputs, *more])
        assert attempt.build == digest([ground, ["ada", "", "", []]])


def test_a_game_that_nobody_knows_has_no_images(here):
    unknown = find("go-scoring")._replace(specification_key="")
    cases = [case._replace(kind=PUBLIC) for case in attempt_plan.read_cases(unknown, ["one"])][-1:]
    assert attempt_plan.images(unknown, cases, "secret") == []
    assert len(attempt_plan.images(find("go-scoring"), cases, "secret")) == 1
