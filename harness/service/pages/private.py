"""Private cases: case files with what they catch, and positions that more are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from harness.errors import UsageError
from harness.generating.records import Staged
from harness.generating.scene_text import provenance
from harness.reading import expectation
from harness.records import Pattern
from harness.report.board_evidence import Evidence
from harness.report.html import board_drawing
from harness.report.markup import Markup
from harness.service.courses import cases, own_files
from harness.service.pages.assignment_page import crumbs
from harness.service.pages.course import uploaded
from harness.service.records import CASES, DRAFT, FAULT, MEASURE, Job
from harness.service.storage import queue
from harness.service.storage.audit_log import Act
from harness.service.storage.rows import new_id
from harness.service.web import rendering
from harness.service.web.access import Here, Now, Refused, Routes, whoever_may
from harness.service.work import drafting, strong
from harness.service.work.drafting import DraftFindings, DraftFolder, KeptCandidates, Wish
from harness.specifications.record import Specification
from harness.vocabulary import wordings
from oracle.draw import Diagram

ROUTES = Routes()
_MAY = whoever_may(CASES)
_PATH = "/courses/{course}/assignments/{assignment}/private"
_DRAFT = f"{_PATH}/drafts/{{draft}}"
_LARGEST = 4 << 20  # bytes of a case file, or of all game records
_MOST_GAMES = 200  # files
_MOST_TESTS = 200


class Shown(NamedTuple):
    """A position on a page."""

    place: int  # among the candidates
    feature: str
    sentence: str  # what it is about
    origin: str
    board: Markup
    tests: tuple[tuple[str, str, str], ...]  # what is asked, what is right, why
    caught: int
    only: int  # mistakes that nothing else chosen catches


class Chosen(NamedTuple):
    """The positions that are chosen."""

    positions: tuple[Shown, ...]
    alive: tuple[str, ...]  # mistakes that nothing catches
    caught: int  # mistakes, by these and the case files that there are


@ROUTES.at("GET", _PATH, _MAY)
def show(here: Now) -> Response:
    """Show the private case files, with what they catch, and the drafts."""
    made, what = _made(here), _about(here)
    with here.service.database.reading() as db:
        job = queue.JOBS.find(db, kind=MEASURE, about=what)
        drafts = queue.JOBS.all(db, "made", kind=DRAFT, assignment=here.sure().assigned.id)
    found = strong.known(made, what)
    told = {one.name: one for one in found.files} if found else {}
    return rendering.page(
        here,
        "private.html",
        crumbs(here, "Private cases"),
        files=[(path.name, told.get(path.name)) for path in cases.paths(made)],
        found=found,
        fault=job.fault if job and job.state == FAULT else "",
        is_running=job is not None and job.state != FAULT,
        drafts=drafts,
        can_draft=drafting.can_draft(
            own_files.assignment_of(here.service.settings, here.sure().assigned)
        ),
    )


def _made(here: Here) -> Path:
    return here.service.settings.made(here.sure().assigned.id)


def _about(here: Here) -> str:
    return strong.about(here.sure().assigned.id, _made(here))


def _address(here: Here, *more: str) -> str:
    known = here.sure()
    return "/".join([f"/courses/{known.course.id}/assignments/{known.assigned.id}/private", *more])


@ROUTES.at("POST", _PATH, _MAY)
def add(here: Now) -> Response:
    """Add a case file, or put another one in the place of one of the same name."""
    file = here.form.get("file")
    name = file.filename if isinstance(file, UploadFile) and file.filename else ""
    called = cases.put(_made(here), name, uploaded(here, _LARGEST))
    with here.service.database.acting(here.by) as act:
        act.note("private case file added", here.sure().assigned.id, name=called)
        _measure(here, act)
    return RedirectResponse(_address(here), 303)


@ROUTES.at("POST", f"{_PATH}/remove", _MAY)
def remove(here: Now) -> Response:
    """Remove a case file."""
    cases.remove(_made(here), here.field("name"))
    with here.service.database.acting(here.by) as act:
        act.note("private case file removed", here.sure().assigned.id, name=here.field("name"))
        _measure(here, act)
    return RedirectResponse(_address(here), 303)


def _measure(here: Here, act: Act) -> None:
    """Let a worker measure what the case files catch."""
    if cases.paths(_made(here)):
        queue.put(act.db, Job("", MEASURE, here.sure().assigned.id, _about(here)))


# --- positions ---------------------------------------------------------------------------------


@ROUTES.at("POST", f"{_PATH}/drafts", _MAY, files=_MOST_GAMES)
def begin(here: Now) -> Response:
    """Let a worker find positions, in game records if there are some."""
    wish, games = Wish(_tests(here)), list(_games(here))
    made = new_id()
    DraftFolder(_made(here), made).begin(wish, games)
    with here.service.database.acting(here.by) as act:
        queue.put(act.db, Job("", DRAFT, here.sure().assigned.id, made))
        act.note("positions wanted", here.sure().assigned.id, draft=made, games=len(games))
    return RedirectResponse(_address(here, "drafts", made), 303)


def _tests(here: Here) -> int:
    text = here.field("tests")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
    if not 1 <= number <= _MOST_TESTS:
        raise UsageError(f"tests: found {text!r}, expected a number from 1 to {_MOST_TESTS}")
    return number


def _games(here: Here) -> Iterator[bytes]:
    left = _LARGEST
    for file in here.form.getlist("games"):
        data = file.file.read(left + 1) if isinstance(file, UploadFile) else b""
        left -= len(data)
        if left < 0:
            raise UsageError(f"the game records are larger than {_LARGEST:,} bytes together")
        if data:
            yield data


@ROUTES.at("GET", _DRAFT, _MAY)
def show_draft(here: Now) -> Response:
    """Show the positions that are chosen, with boards, and what they catch."""
    assert here.job
    found = _draft(here).found()
    fault = here.job.fault if here.job.state == FAULT else ""
    chosen = _chosen(here, found) if found else Chosen((), (), 0)
    return rendering.page(
        here,
        "draft.html",
        [*crumbs(here), ("Private cases", _address(here)), ("Positions", "")],
        found=found,
        fault=fault,
        is_running=not found and not fault,
        chosen=chosen,
    )


def _draft(here: Here) -> DraftFolder:
    assert here.job
    return DraftFolder(_made(here), here.job.about)


def _chosen(here: Here, found: DraftFindings) -> Chosen:
    kept = _draft(here).kept()
    bits = drafting.caught(found, kept.chosen)
    specification = own_files.assignment_of(
        here.service.settings, here.sure().assigned
    ).specification
    assert specification
    return Chosen(
        tuple(_shown(specification, found, kept, place) for place in kept.chosen),
        tuple(one for place, one in enumerate(found.mistakes) if not bits >> place & 1),
        bits.bit_count(),
    )


def _shown(
    specification: Specification, found: DraftFindings, kept: KeptCandidates, place: int
) -> Shown:
    one = found.candidates[place]
    others = drafting.caught(found, (other for other in kept.chosen if other != place))
    find = one.scene.find
    sentences = {feature.name: feature.sentence for feature in specification.kind.features}
    diagram = Diagram(find.moment.position(), letters=specification.board.letters)
    return Shown(
        place,
        find.feature,
        sentences[find.feature],
        provenance(find.moment),
        rendering.own(board_drawing.board(diagram, Evidence())),
        tuple(_tests_of(specification, one)),
        one.caught.bit_count(),
        (one.caught & ~others).bit_count(),
    )


def _tests_of(specification: Specification, one: Staged) -> Iterator[tuple[str, str, str]]:
    for test in one.asked:
        told = wordings.asked(specification.wordings, test.command) or test.command
        pattern = Pattern(test.expression, test.expression, negated=False, expected_fail=False)
        yield told, expectation.in_words(pattern), test.reason


@ROUTES.at("POST", f"{_DRAFT}/drop", _MAY)
def drop(here: Now) -> Response:
    """Leave a position out."""
    return _changed(here, lambda _, kept, place: drafting.drop(kept, place))


@ROUTES.at("POST", f"{_DRAFT}/exchange", _MAY)
def exchange(here: Now) -> Response:
    """Take another position for one."""
    return _changed(here, drafting.exchange)


def _changed(
    here: Here, how: Callable[[DraftFindings, KeptCandidates, int], KeptCandidates]
) -> Response:
    draft, found = _draft(here), _found(here)
    text = here.field("place")
    place = int(text) if text.isascii() and text.isdigit() else -1
    draft.choose(how(found, draft.kept(), place))
    assert here.job
    return RedirectResponse(_address(here, "drafts", here.job.about), 303)


def _found(here: Here) -> DraftFindings:
    found = _draft(here).found()
    if found is None:
        raise Refused(409, "no positions have been found yet")
    return found


@ROUTES.at("POST", f"{_DRAFT}/write", _MAY)
def write(here: Now) -> Response:
    """Make a private case file of the positions that are chosen."""
    known, found = here.sure(), _found(here)
    assignment = own_files.assignment_of(here.service.settings, known.assigned)
    text, beside = drafting.written(assignment, found, _draft(here).kept())
    name = cases.put(_made(here), here.field("name") or "positions", text.encode(), beside)
    with here.service.database.acting(here.by) as act:
        act.note("private case file made", known.assigned.id, name=name)
        _measure(here, act)
    return RedirectResponse(_address(here), 303)
