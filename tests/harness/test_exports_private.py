"""Nothing private reaches a student: not in pages, not in results.json, not in comments or zips.

Two ways: a class whose private parts are full of words that are found again wherever they leak;
and pairs of submissions that differ only in what a student must not see: all that
students get must be the same to the byte.
"""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.assignments.assignment import VISIBLE
from harness.core.records import Diagnosis, Exchange, Failure, FailureKind, FileResult
from harness.core.text import escape_controls
from harness.grading.exports import exporters as exports
from harness.grading.exports import gradescope
from harness.grading.exports.exporters import Downloaded
from harness.grading.exports.feedback import body_of
from harness.grading.exports.moodle import comment
from harness.grading.exports.showing import feedback
from harness.grading.records import (
    IMAGE,
    PRIVATE,
    PUBLIC,
    Attempt,
    ClassResult,
    Graded,
    PartMark,
    Suspicion,
)
from harness.judging.in_process import mutant_engine
from harness.reading import casefile
from harness.report.views import Views
from harness.specifications import specification
from oracle.mistakes import find_mistake
from tests.harness.made_class import (
    MOODLE,
    PLACE,
    attempts,
    made_class,
    mark_by_counting,
    student,
    submission,
    with_reply,
)
from tests.harness.made_run import Line, V, made_file
from tests.harness.test_diagnosis import result_of
from tests.harness.test_report_formats import anything

# --- words that leak ---------------------------------------------------------------------------

# Where a word was put, and the level from which it may be seen; "never" is beyond all of them.
LEVELS = (*VISIBLE, "never")
FROM = {
    "FILENAME": "everything",
    "COMMENT": "everything",
    "COMMAND": "command",
    "PATTERN": "everything",
    "REPLY": "everything",
    "STDERR": "everything",
    "FAILURE": "everything",
    "WARNING": "everything",
    "SETUP": "everything",
    "ENGINE": "never",
    "EXCHANGE": "never",
    "FAULT": "never",
    "NEARLIMIT": "never",
    "REASON": "never",
    "SUSPICION": "never",
    "IMAGENAME": "never",
    "IMAGEREPLY": "never",
    "DIGEST": "never",
    "OTHERNAME": "never",
    "OTHERREPLY": "never",
}


def word(place: str) -> str:
    return f"xq{place.lower()}qx"


def leaky_file() -> FileResult:
    lines = [
        Line("boardsize 5"),
        Line("clear_board"),
        Line(f"{word('SETUP')}_c", f"? {word('SETUP')}"),
        Line("play b c3"),
        Line(f"# {word('COMMENT')}", None),
        Line(f"10 {word('COMMAND')}", f"=10 {word('REPLY')}", f"[{word('PATTERN')}]", V.FAILED),
        Line("20 score", f"=20 {word('REPLY')}", r"[B\+24]", V.FAILED),
        Line(f"30 {word('COMMAND')}", None, f"[{word('PATTERN')}]", V.NOT_RUN),
    ]
    failure = Failure(FailureKind.DIED, f"It died: {word('FAILURE')}", 5)
    return made_file(
        f"{word('FILENAME')}.gtp",
        lines,
        before=(Exchange(word("EXCHANGE"), None),),
        stderr=word("STDERR"),
        failures=(failure,),
        warnings=(word("WARNING"),),
        name=word("ENGINE"),
        version=word("ENGINE"),
    )


def leaky(key: str, secret: FileResult) -> Graded:
    found = attempts(key, "neutral-points-to-white")
    image = found[0]._replace(kind=IMAGE, case=word("IMAGENAME"))
    name = secret.case.path
    private = Attempt(key, PRIVATE, name, secret, None, (5,), word("NEARLIMIT"))
    broken = Attempt(key, PRIVATE, name, None, fault=word("FAULT"))
    public = [one for one in found if one.kind == PUBLIC]
    graded = mark_by_counting(
        submission(key, student(key, "Me Myself", 1)), (*public, private, broken, image)
    )
    return _with_words(graded)


def _with_words(graded: Graded) -> Graded:
    *parts, last = graded.marks.parts
    last = last._replace(reason=word("REASON"))
    consolation = PartMark("does not run", last.points * 0, last.of * 0, word("REASON"))
    mistakes = (find_mistake("komi-twice"),)
    return graded._replace(
        marks=graded.marks._replace(parts=(*parts, last, consolation)),
        diagnoses=(Diagnosis((mistakes,), 3, 3),),
        suspicion=Suspicion(3, 24, 20, 1e-6, f"{word('SUSPICION')} {word('IMAGEREPLY')}"),
    )


def other() -> Graded:
    whole = mark_by_counting(
        submission("other", student("other", word("OTHERNAME"), 2)), attempts("other")
    )
    first, *rest = whole.attempts
    result = with_reply(first.result, 7, word("OTHERREPLY"))
    return whole._replace(attempts=(first._replace(result=result), *rest))


def class_of(visible_: str, *graded: Graded) -> ClassResult:
    return made_class(visible_)._replace(
        graded=graded,
        items=(),
        cases=((PRIVATE, word("FILENAME"), word("DIGEST")),),
    )


def for_students(folder, result, mine="me") -> dict[str, str]:
    """All that the student with this key gets, as text."""
    worksheet = folder / "sheet.csv"
    worksheet.write_bytes(MOODLE.encode())
    out = folder / "out"
    exports.write(result, out, {"moodle": Downloaded(worksheet)})
    found = {
        "page": (out / f"feedback/{mine}.html").read_text(),
        "gradescope": (out / f"gradescope/{mine}/results.json").read_text(),
        "comment": next(
            line for line in (out / "moodle.csv").read_text().splitlines() if ",<p>" in line
        ),
    }
    for name in ("moodle-feedback-folders.zip", "moodle-feedback-flat.zip"):
        with zipfile.ZipFile(io.BytesIO((out / name).read_bytes())) as archive:
            (member,) = [one for one in archive.namelist() if one.startswith("Me Myself_101_")]
            found[name] = member + archive.read(member).decode()
    found |= {f"{name}, as text": as_text(text) for name, text in found.items()}
    found["gradescope, read"] = str(json.loads(found["gradescope"]))
    return found


def as_text(markup: str) -> str:
    """What is read: words are not cut by the tags within them."""
    return html.unescape(re.sub("<[^<>]*>", "", markup))


@pytest.mark.parametrize("visible_", VISIBLE)
def test_private_words_are_seen_from_their_level_on_and_not_before(tmp_path, visible_):
    result = class_of(visible_, leaky("me", leaky_file()), other())
    texts = for_students(tmp_path, result)
    for place, level in FROM.items():
        leaks = [name for name, text in texts.items() if word(place) in text.lower()]
        if LEVELS.index(visible_) < LEVELS.index(level):
            assert leaks == [], f"{place} is in {leaks} where {visible_} may be seen"
        else:
            assert "page, as text" in leaks, f"{place} is missing"


def test_the_teacher_sees_every_word(tmp_path):
    """The words above would be found if they were there: they all are in the class's files."""
    result = class_of("nothing", leaky("me", leaky_file()), other())
    exports.write(result, tmp_path)
    names = ("class.json", "class.html", "junit.xml", "evidence/me.html")
    texts = [(tmp_path / name).read_text() for name in names]
    assert [p for p in FROM if not any(word(p) in text for text in texts)] == []


def test_a_withheld_mark_and_its_reason_are_not_shown(tmp_path):
    graded = leaky("me", leaky_file())
    marks = graded.marks._replace(withheld=True, note=f"No mark yet: {word('FAULT')}")
    exports.write(class_of("verdict", graded._replace(marks=marks)), tmp_path)
    page = (tmp_path / "feedback/me.html").read_text()
    assert word("FAULT") not in page
    assert "There is no mark yet" in page
    assert str(graded.marks) not in page
    assert not (tmp_path / "gradescope/me/results.json").exists()


SECRET_CASE = b"""\
boardsize 7
clear_board
komi 1.5
play b d4
play w a7
10 score
#? [W\\+1.5]
"""


@pytest.mark.parametrize("visible_", VISIBLE)
def test_the_oracles_reason_and_board_are_private_too(visible_, tmp_path):
    case = casefile.parse(SECRET_CASE, "secret.gtp")
    file = result_of(case, mutant_engine(find_mistake("neutral-points-to-white")))
    seen = Views(specification("go-scoring"), PLACE).of(file, "secret.gtp")
    (reason,), (board,) = seen.reasons.values(), seen.boards.values()
    assert "W+1.5" in reason
    texts = for_students(tmp_path, class_of(visible_, leaky("me", file)))
    for secret in (reason, "D4 A7", "Black: D4", board.caption, r"W\+1.5", "W+48.5"):
        shown = [name for name, text in texts.items() if secret in text]
        told = visible_ == "everything" and secret not in ("D4 A7", r"W\+1.5")
        assert bool(shown) == told, secret


def test_members_of_a_group_do_not_see_each_others_names(tmp_path):
    exports.write(made_class(), tmp_path)
    names = {"cat": "Cat Stevens", "dan": "Dan O'Neill", "eve": "Eve, the third"}
    for key, own in names.items():
        page = html.unescape((tmp_path / f"feedback/{key}.html").read_text())
        assert own in page
        assert "by a group of 3" in page
        assert not [name for name in names.values() if name != own and name in page]


# --- what makes no difference ------------------------------------------------------------------


class Secret(NamedTuple):
    """A private case file as a student might come to see it: all but verdicts is anything."""

    commands: list[str]
    dressing: list[tuple[str, str]]  # reply and expectation of each
    texts: list[str]  # a name, standard error, how it broke, a warning, a limit, a reason


def commands(count: int) -> st.SearchStrategy[list[str]]:
    one = anything.map(lambda text: " ".join(escape_controls(text).split()) or "score")
    return st.lists(one, min_size=count, max_size=count)


def secrets(count: int) -> st.SearchStrategy[Secret]:
    pairs = st.tuples(anything, anything)
    return st.builds(
        Secret,
        commands(count),
        st.lists(pairs, min_size=count, max_size=count),
        st.lists(anything, min_size=7, max_size=7),
    )


def secretly(verdicts: list[V], secret: Secret, broke: bool) -> Graded:
    lines = [
        Line(f"{n} {command}", f"={n} {reply}", f"[{expected}]", verdict)
        for n, (command, (reply, expected), verdict) in enumerate(
            zip(secret.commands, secret.dressing, verdicts, strict=True), 1
        )
    ]
    name, stderr, message, warning, near, why, example = secret.texts
    failures = (Failure(FailureKind.DIED, message, None),) if broke else ()
    file = made_file(
        escape_controls(name) or "x", lines, stderr=stderr, failures=failures, warnings=(warning,)
    )
    public = [one for one in attempts("me", "komi-ignored") if one.kind == PUBLIC]
    private = Attempt("me", PRIVATE, name, file, None, (), near)
    image = Attempt("me", IMAGE, name, file)
    graded = mark_by_counting(
        submission("me", student("me", "Me Myself", 1)), (*public, private, image)
    )
    *parts, last = graded.marks.parts
    parts.append(last._replace(reason=why, points=last.of / 3))
    return graded._replace(
        marks=graded.marks._replace(parts=tuple(parts), total=last.of),
        suspicion=Suspicion(1, 8, 8, 0.01, example) if example else None,
    )


def seen_by_the_student(graded: Graded, visible_: str) -> tuple[str, str, str]:
    result = class_of(visible_, graded)
    shown = feedback(graded, result, Views(specification("go-scoring"), PLACE))
    return body_of(shown), gradescope.results(shown), comment(shown)


JUDGED = [V.PASSED, V.FAILED, V.NOT_RUN, V.NOT_JUDGED]


@settings(max_examples=45, deadline=None)
@given(st.data(), st.sampled_from(["nothing", "verdict", "command"]))
def test_only_what_may_be_seen_makes_a_difference(data, visible_):
    drawn = []
    for _ in range(2):
        verdicts = data.draw(st.lists(st.sampled_from(JUDGED), min_size=1, max_size=4))
        drawn.append((verdicts, data.draw(secrets(len(verdicts))), data.draw(st.booleans())))
    (verdicts, secret, broke), (others, another, breaks) = drawn
    if visible_ != "nothing":
        others, another, breaks = verdicts, data.draw(secrets(len(verdicts))), broke
    if visible_ == "command":
        another = another._replace(commands=secret.commands)
    assert seen_by_the_student(secretly(verdicts, secret, broke), visible_) == (
        seen_by_the_student(secretly(others, another, breaks), visible_)
    )


def test_these_differences_would_be_seen():
    """The one above can fail: what may be seen does make a difference."""
    one = Secret(["a"], [("r", "e")], ["n"] * 7)
    two = one._replace(commands=["b"])
    failed, passed = secretly([V.FAILED], one, False), secretly([V.PASSED], one, False)
    assert seen_by_the_student(failed, "verdict") != seen_by_the_student(passed, "verdict")
    assert seen_by_the_student(failed, "command") != seen_by_the_student(
        secretly([V.FAILED], two, False), "command"
    )
    assert seen_by_the_student(failed, "everything") != seen_by_the_student(
        secretly([V.FAILED], one._replace(dressing=[("q", "e")]), False), "everything"
    )


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({}, "1 of 2 tests passed."),
        ({"hidden.gtp:10": Fraction(0)}, "1 of 1 test passed."),
        ({"hidden.gtp": Fraction(0), "hidden.gtp:10": Fraction(2)}, "0 of 1 test passed."),
        ({"hidden.gtp": Fraction(0)}, ""),
    ],
)
def test_students_are_told_of_private_tests_those_that_count(weights, told):
    """Bob fails the first of two."""
    result = made_class()
    (bob,) = (one for one in result.graded if one.submission.key == "bob")
    parts = [
        part._replace(weights=weights) if part.judged_by == PRIVATE else part
        for part in result.assignment.marks
    ]
    result = result._replace(assignment=result.assignment._replace(marks=tuple(parts)))
    shown = feedback(bob, result, Views(specification("go-scoring"), PLACE))
    assert [one.reason for one in shown.marks.parts][-1] == told
