"""What of private tests is in the source of a student's page: boards, coordinates, data, digests.

A private case file is run by an engine that fails all of it. Everything that its pages would be
made of is worked out here as a page of a run would show it, piece by piece; no piece may be in the
student's source below the level that shows it, as it stands or in any of the forms that HTML,
addresses and scripts write it in.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from urllib.parse import quote, unquote

import pytest

from harness.assignments.assignment import VISIBLE
from harness.core.records import FileResult, Verdict
from harness.grading.exports import exporters as exports
from harness.grading.records import PRIVATE, PUBLIC, Attempt, ClassResult
from harness.judging.in_process import mutant_engine
from harness.reading import casefile
from harness.reading.expectation import examples, in_words
from harness.report.board_evidence import evidence
from harness.report.file_view import FileView
from harness.report.html.board_drawing import board
from harness.report.views import Views
from harness.specifications import specification
from oracle.mistakes import find_mistake
from tests.harness.made_class import (
    PLACE,
    attempts,
    made_class,
    mark_by_counting,
    student,
    submission,
)
from tests.harness.test_diagnosis import result_of

SECRET = """\
# The private comment speaks of a snapback.
boardsize 7
clear_board
komi 41.5
play b d4
play w g7
play b e5
10 score
#? [W\\+2.25]
clear_board
# Another private sentence.
play w b6
play b f2
20 score
#? [B\\+17|B\\+18]
"""
# Other stones, komi, comments, expectations and replies; the same commands are asked.
OTHER_SECRET = """\
boardsize 5
clear_board
komi 0
# Nothing.
play w a1
10 score
#? [B\\+1]
play b e5
20 score
#? [!W\\+25]
"""
NAME = "snapback-corner.gtp"
DIGEST = hashlib.sha256(SECRET.encode()).hexdigest()


def make_failed_result(text: str, name: str = NAME) -> FileResult:
    """The result of a private case file, all of whose tests fail."""
    case = casefile.parse(text.encode(), name)
    file = result_of(case, mutant_engine(find_mistake("komi-twice")))
    wrong = tuple(one._replace(verdict=Verdict.FAILED) for one in file.outcomes)
    return file._replace(outcomes=wrong)


def class_with(visible: str, secret: FileResult, digest: str = DIGEST) -> ClassResult:
    """A class of one that fails public tests as well, so that the page has boards."""
    public = [one for one in attempts("me", "neutral-points-to-white") if one.kind == PUBLIC]
    private = Attempt("me", PRIVATE, secret.case.path, secret)
    graded = mark_by_counting(submission("me", student("me", "Me Myself", 1)), (*public, private))
    cases = ((PRIVATE, secret.case.path, digest),)
    return made_class(visible)._replace(graded=(graded,), items=(), cases=cases)


def page(folder, result: ClassResult) -> str:
    exports.write(result, folder)
    return (folder / "feedback/me.html").read_text()


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict[str, str]:
    """The student's page at each level."""
    return {
        level: page(tmp_path_factory.mktemp(level), class_with(level, make_failed_result(SECRET)))
        for level in VISIBLE
    }


@pytest.fixture(scope="module")
def unseen(tmp_path_factory) -> str:
    """The page of a student without private tests: nothing on it is secret."""
    result = class_with("nothing", make_failed_result(SECRET))
    (graded,) = result.graded
    public = tuple(one for one in graded.attempts if one.kind == PUBLIC)
    alone = result._replace(graded=(graded._replace(attempts=public),), cases=())
    return page(tmp_path_factory.mktemp("alone"), alone)


def view_secret_file() -> FileView:
    return Views(specification("go-scoring"), PLACE).of(make_failed_result(SECRET), NAME)


def list_picture_pieces(view: FileView) -> list[str]:
    """Every piece of the pictures of a file: paths, places, labels, words for screen readers."""
    found = []
    for outcome in view.remarkable:
        diagram = view.boards[outcome.step]
        step = view.file.case.steps[outcome.step]
        picture = board(diagram, evidence(step, outcome, diagram))
        found += re.findall(r'class="s[SBW]" d="([^"]+)"', picture)
        found += re.findall(r'class="[tq][bwn]" d="([^"]+)"', picture)
        found += re.findall(r'aria-label="([^"]+)"', picture)
    return found


@cache
def pieces() -> dict[str, list[str]]:
    """What must not be seen, by what it is; only what no public test has as well."""
    view = view_secret_file()
    steps = view.file.case.steps
    patterns = [step.pattern for step in steps if step.pattern]
    return {
        "file name": [NAME, "snapback-corner", "snapback"],
        "digest": [DIGEST, base64.b64encode(bytes.fromhex(DIGEST)).decode(), DIGEST[:16]],
        "setup": [step.command for step in steps if not step.is_test],
        "comment": ["private comment", "Another private sentence"],
        "expectation": [pattern.text for pattern in patterns],
        "right answer": [text for p in patterns for text in examples(p.expression).texts],
        "expectation in words": [in_words(pattern) for pattern in patterns],
        "reply": [one.reply.text for one in view.file.outcomes if one.reply],
        "reason": list(view.reasons.values()),
        "caption": [diagram.caption for diagram in view.boards.values()],
        "board": list_picture_pieces(view),
        "moves": ["bD4 wG7 bE5", "wB6 bF2", "bD4", "wG7", "wB6"],
        "komi": ["41.5"],
    }


@cache
def forms(source: str) -> list[str]:
    """The source as it stands, and as those read it who decode it."""
    text = html.unescape(source)
    found = [source, text, unquote(text), re.sub("<[^<>]*>", "", text)]
    return [one.lower() for one in found]


def hidden_in(secret: str, source: str) -> bool:
    written = (secret, html.escape(secret), quote(secret))
    return any(one.lower() in form for one in written for form in forms(source))


@pytest.mark.parametrize("kind", sorted(pieces()))
def test_no_piece_of_a_private_test_is_in_the_source(sources, unseen, kind):
    """Nor is the search blind: where everything may be seen, it finds some of each kind."""
    secret = [one for one in pieces()[kind] if not hidden_in(one, unseen)]
    assert secret, f"nothing of {kind} is secret: the test would prove nothing"
    for level in VISIBLE[:-1]:
        assert [one for one in secret if hidden_in(one, sources[level])] == []
    if kind not in ("digest", "expectation"):
        assert any(hidden_in(one, sources["everything"]) for one in secret)


@pytest.mark.parametrize("level", VISIBLE)
def test_two_private_files_with_the_same_verdicts_and_commands_give_one_page(
    tmp_path, sources, level
):
    """Nothing else has any influence, wherever it might be hidden, below the last level."""
    other = class_with(level, make_failed_result(OTHER_SECRET, "other.gtp"), "0" * 64)
    assert (page(tmp_path, other) == sources[level]) is (level != VISIBLE[-1])


def test_private_tests_are_not_repeated_at_home(sources):
    for source in sources.values():
        lines = re.findall(r'<div class="cmd"><pre[^>]*><b[^>]*>\$ </b><span>([^<]*)', source)
        assert lines
        assert not any("snapback" in line for line in lines)


def test_boards_of_private_tests_are_drawn_at_one_level_only(sources, unseen):
    counts = {level: source.count('<svg class="board"') for level, source in sources.items()}
    public = unseen.count('<svg class="board"')
    assert counts == dict.fromkeys(VISIBLE[:-1], public) | {"everything": public + 2}
