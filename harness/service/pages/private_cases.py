"""Private cases: case files with what they catch, and positions that more are made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from harness.errors import UsageError
from harness.report.board_evidence import Evidence
from harness.report.html import board_drawing
from harness.report.markup import Markup
from harness.service.courses import cases, own_files
from harness.service.jobs import drafts as drafting
from harness.service.jobs import previews, private_cases, wrong_expectations
from harness.service.jobs.candidates import DraftFindings
from harness.service.jobs.drafts import DraftFolder, KeptCandidates, KeptCaseFile, Wish
from harness.service.pages import forms
from harness.service.pages.assignment import crumbs
from harness.service.pages.course import attachment, read_upload
from harness.service.pages.forms import SecondQuestion
from harness.service.records import CASES, DRAFT, FAULT, MEASURE
from harness.service.storage import queue
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import STAFF_ONLY, Here, whoever_may
from harness.text import read_number

ROUTES = Routes()
_MAY = whoever_may(CASES)
_PATH = "/courses/{course}/assignments/{assignment}/private"
_DRAFT = f"{_PATH}/drafts/{{draft}}"
_MOST_GAMES = 200  # files


@ROUTES.at("GET", _PATH, STAFF_ONLY)
def show(here: Now) -> Response:
    """Show the private case files, with what they catch, and the drafts."""
    settings, assigned = here.service.settings, here.sure().assigned
    measured = private_cases.load_measured(settings, assigned)
    with here.service.database.reading() as db:
        job = queue.JOBS.find(db, kind=MEASURE, about=measured.about)
        drafts = queue.JOBS.all(db, "made", kind=DRAFT, assignment=assigned.id)
    found = measured.caught
    told = {one.name: one for one in found.files} if found else {}
    return rendering.page(
        here,
        "private.html",
        crumbs(here, "Private cases"),
        files=[(path.name, told.get(path.name)) for path in measured.paths],
        added=[path.name for path in cases.added(_get_folder(here))],
        found=found,
        longest=private_cases.LONGEST,
        doubts=wrong_expectations.find(settings, assigned, measured),
        fault=job.fault if job and job.state == FAULT else "",
        is_running=job is not None and job.state != FAULT,
        drafts=drafts,
        still_left_out=previews.still_left_out(settings, assigned),
        why_no_drafts=drafting.why_not(own_files.assignment_of(settings, assigned)),
    )


def _get_folder(here: Here) -> Path:
    return here.service.settings.assignment_folder(here.sure().assigned.id)


def _address(here: Here, *more: str) -> str:
    known = here.sure()
    return "/".join([f"/courses/{known.course.id}/assignments/{known.assigned.id}/private", *more])


@ROUTES.at("POST", _PATH, _MAY, most=Form(page=show))
def add(here: Now) -> Response:
    """Add a case file, or put another one in the place of one of the same name."""
    file = read_upload(here, cases.LARGEST)
    if file is None:
        raise UsageError("choose a case file first")
    with here.service.database.acting(here.by) as act:
        new = private_cases.NewCase(*file)
        private_cases.add(act, here.service.settings, here.sure().assigned, new)
    return RedirectResponse(_address(here), 303)


@ROUTES.at("GET", f"{_PATH}/files/{{name}}", STAFF_ONLY)
def download(here: Now) -> Response:
    """Give a case file."""
    name = here.request.path_params["name"]
    path = cases.find(here.service.settings, here.sure().assigned, name)
    if path is None:
        raise Refused(404, "there is no such private case file")
    return attachment(path.name, path.read_bytes(), "text/plain")


@ROUTES.at("POST", f"{_PATH}/remove", _MAY, most=Form(page=show))
def remove(here: Now) -> Response:
    """Remove a case file, once it was said that this is wanted."""
    name = here.field("name")
    if not forms.is_sure(here):
        cases.require(_get_folder(here), name)
        return _ask_to_remove(here, name)
    with here.service.database.acting(here.by) as act:
        private_cases.remove(act, here.service.settings, here.sure().assigned, name)
    return RedirectResponse(_address(here), 303)


def _ask_to_remove(here: Here, name: str) -> Response:
    question = SecondQuestion(
        f"Remove {name}?",
        "The next grading leaves its tests out, so marks can change. The service keeps no copy of"
        " the file.",
        f"Yes, remove {name}",
        _address(here),
    )
    return forms.ask_again(here, crumbs(here, f"Remove {name}"), question)


# --- positions ---------------------------------------------------------------------------------


@ROUTES.at("POST", f"{_PATH}/drafts", _MAY, most=Form(files=_MOST_GAMES, page=show))
def begin(here: Now) -> Response:
    """Let a worker find positions, in game records if there are some."""
    wish, games = Wish(_tests(here)), list(_games(here))
    with here.service.database.acting(here.by) as act:
        made = drafting.begin(act, here.service.settings, here.sure().assigned, wish, games)
    return RedirectResponse(_address(here, "drafts", made), 303)


def _tests(here: Here) -> int:
    text = here.field("tests")
    if (count := read_number(text)) is None:
        raise UsageError(f"tests: found {text!r}, expected a number")
    return count


def _games(here: Here) -> Iterator[bytes]:
    left = drafting.LARGEST
    for file in here.form.getlist("games"):
        data = file.file.read(left + 1) if isinstance(file, UploadFile) else b""
        left -= len(data)
        if left < 0:
            raise UsageError(
                f"the game records are larger than {drafting.LARGEST:,} bytes together"
            )
        if data:
            yield data


@ROUTES.at("GET", _DRAFT, STAFF_ONLY)
def show_draft(here: Now) -> Response:
    """Show the positions that are chosen, with boards, and what they catch."""
    assert here.job
    found = _draft(here).load_findings()
    fault = drafting.why_nothing(here.job, found)
    kept = _draft(here).load_choice() if found else KeptCandidates(())
    return rendering.page(
        here,
        "draft.html",
        [*crumbs(here), ("Private cases", _address(here)), ("Positions", "")],
        found=found,
        fault=fault,
        is_running=not found and not fault,
        progress=_draft(here).load_progress(),
        is_long=time.time() - here.job.made > drafting.LONG,
        longest=private_cases.LONGEST,
        chosen=drafting.describe_choice(found, kept) if found else None,
        left_out=[(one, found.candidates[one]) for one in kept.dropped] if found else [],
        boards=_boards(found, kept.chosen) if found else {},
        free=cases.find_free_name(cases.paths(here.service.settings, here.sure().assigned)),
    )


def _draft(here: Here) -> DraftFolder:
    assert here.job
    return DraftFolder(_get_folder(here), here.job.about)


def _boards(found: DraftFindings, places: Iterable[int]) -> dict[int, Markup]:
    """Return the boards of candidates, as far as there are some, by their places."""
    boards = {place: found.candidates[place].board for place in places}
    return {
        place: rendering.own(board_drawing.board(one.diagram(), Evidence()))
        for place, one in boards.items()
        if one
    }


@ROUTES.at("POST", f"{_DRAFT}/drop", _MAY, most=Form(page=show_draft))
def drop(here: Now) -> Response:
    """Leave a position out."""
    return _change(here, lambda _, kept, place: drafting.drop(kept, place))


@ROUTES.at("POST", f"{_DRAFT}/exchange", _MAY, most=Form(page=show_draft))
def exchange(here: Now) -> Response:
    """Take another position for one."""
    return _change(here, drafting.exchange)


@ROUTES.at("POST", f"{_DRAFT}/take-back", _MAY, most=Form(page=show_draft))
def take_back(here: Now) -> Response:
    """Take a position back that was left out or exchanged."""
    return _change(here, drafting.take_back)


def _change(
    here: Here, how: Callable[[DraftFindings, KeptCandidates, int], KeptCandidates]
) -> Response:
    draft = _draft(here)
    found = draft.require_findings()
    place = read_number(here.field("place"))
    draft.choose(how(found, draft.load_choice(), -1 if place is None else place))
    assert here.job
    return RedirectResponse(_address(here, "drafts", here.job.about), 303)


@ROUTES.at("POST", f"{_DRAFT}/write", _MAY, most=Form(page=show_draft))
def write(here: Now) -> Response:
    """Make a private case file of the positions that are chosen."""
    draft = _draft(here)
    found = draft.require_findings()
    new = KeptCaseFile(here.field("name"), draft.load_choice())
    with here.service.database.acting(here.by) as act:
        drafting.write(act, here.service.settings, here.sure().assigned, found, new)
    return RedirectResponse(_address(here), 303)
