"""One submission: its receipt, its public tests as they are judged, and their results."""

from __future__ import annotations

import asyncio
import datetime
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from sqlalchemy import Connection
from starlette.types import Receive, Scope, Send

from harness.report.markup import NOTHING
from harness.service import machines
from harness.service.courses import deadlines, submissions
from harness.service.courses.submissions import Heap, explain_place
from harness.service.jobs.result_files import check_page
from harness.service.pages import assignment, forms
from harness.service.pages.forms import SecondQuestion
from harness.service.records import FAULT, STUDENT, WAITING, Job
from harness.service.storage import queue, uploads
from harness.service.web import access, rendering
from harness.service.web.access import Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.rendering import send_attachment
from harness.service.web.request_context import MEMBERS, STAFF_ONLY, STUDENTS, Here
from harness.service.web.service import Look
from harness.text import read_number

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}/uploads/{upload}"
_PAUSE = 0.5  # seconds between two looks for news
_SIGN_OF_LIFE = 15.0  # seconds without news after which proxies are shown that we are there
_RECHECK = 5.0  # seconds after which it is checked anew that somebody may watch
_LONGEST = 1800.0  # seconds that somebody watches one page
_END = "event: end\ndata: \n\n"  # the page is loaded anew

Word = Mapping[str, Any]  # what a worker said, as JSON: see harness.work.worker_events


@ROUTES.at("GET", _PATH, MEMBERS)
def show(here: Now) -> Response:
    """Show a submission."""
    assert here.upload
    known = here.sure()
    with here.service.database.reading() as db:
        job = queue.checks(db, about=here.upload.id).get(here.upload.id)
        words = _parse(uploads.words(db, [here.upload.id]).get(here.upload.id, ()))
        ahead = queue.ahead(db, job) if job and job.state == WAITING else 0
        asker = "" if here.is_staff else known.member.submits_as
        rules = deadlines.load_rules(db, known.assigned, [here.upload], asker)
        place = explain_place(heap_of(db, here), here.upload)
    return rendering.page(
        here,
        "upload.html",
        assignment.crumbs(here, here.upload.name),
        state=forms.upload_state(here.upload, job),
        late=deadlines.describe_late(rules[here.upload.id], here.upload.at),
        place=place,
        is_running=_is_running(job),
        fault=job.fault if job and job.state == FAULT and here.is_staff else "",
        bound=_explain_bound(here) if known.member.role == STUDENT else "",
        ahead=ahead,
        stuck=machines.complaint(here.service.settings),
        words=[in_words(word) for _, word in words if event_of(word) == "word"],
        now="".join(in_words(word) for _, word in words[-1:] if event_of(word) == "now"),
        report=NOTHING if _is_running(job) else _report(here),
    )


def heap_of(db: Connection, here: Here) -> Heap:
    """Return what was submitted with an upload; to a student what counts for that one."""
    known = here.sure()
    assert here.upload
    if not here.is_staff:
        return submissions.of(db, known.assigned, known.member.submits_as)
    return submissions.heap_with(submissions.of_all(db, known.assigned).values(), here.upload.id)


def _is_running(job: Job | None) -> bool:
    return job is not None and job.is_unfinished


def _report(here: Here) -> str:
    """Return the result of the public tests, as the worker wrote it; nothing: not yet."""
    assert here.upload
    made = here.service.settings.assignment_folder(here.upload.assignment)
    path = check_page(made, here.upload.id)
    return rendering.own(path.read_text(encoding="utf-8")) if path.exists() else NOTHING


def _parse(words: Iterable[tuple[int, str]]) -> list[tuple[int, Word]]:
    """Return what a worker has said of a submission, with its numbers."""
    return [(number, json.loads(said)) for number, said in words]


def event_of(word: Word) -> str:
    """Return which event tells a word.

    ``now``: which test runs; the next word takes its place. ``anew``: the check has begun anew,
    and the words of before do not hold. ``word``: all else.
    """
    return {"running": "now", "begun": "anew"}.get(word["word"], "word")


def in_words(word: Word) -> str:
    """Return what a worker said as a line for people."""
    if word["word"] == "begun":
        return "The check starts again."
    if word["word"] == "running":
        return f"{word['case']}: test {word['test']} of {word['of']} runs now: {word['command']}"
    if word["word"] == "built":
        return "It was built." if word["ok"] else "It does not build."
    if word["word"] == "broke":
        return f"{word['case']}: the harness failed; it is tried again."
    if word["again"]:
        return f"{word['case']}: not sure yet, it is rerun."
    return f"{word['case']}: {'has failures' if word['failed'] else 'passed'}."


@ROUTES.at("GET", f"{_PATH}/events", MEMBERS)
def events(here: Now) -> Response:
    """Tell what is judged as it is judged: server-sent events, of public tests alone."""
    assert here.upload
    watching, live, upload = here.service.watching, here.service.live, here.upload.id
    if not watching.begin(here.by):
        raise Refused(429, f"you watch {watching.most} pages already: close some of them")
    live.begin(upload)

    def end() -> None:
        live.end(upload)
        watching.end(here.by)

    return _WatchedSubmission(_news(here), end)


class _WatchedSubmission(StreamingResponse):
    """Events, and what is done when they end, even if none was ever sent."""

    def __init__(self, events: AsyncIterator[str], ended: Callable[[], None]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


async def _news(here: Here) -> AsyncIterator[str]:
    """Yield events; the response itself hears when nobody listens any longer."""
    seen, was_read = read_number(here.request.headers.get("last-event-id", "")) or 0, False
    begun = told = allowed = time.monotonic()
    while time.monotonic() - begun < _LONGEST:
        look = await _look(here)
        if time.monotonic() - allowed > _RECHECK:
            allowed = time.monotonic()
            if not await run_in_threadpool(access.is_still_allowed, here):
                yield _END
                return
        if look.was_read and not was_read:
            was_read = True
            place = await run_in_threadpool(_explain_place, here)
            yield f"event: place\ndata: {place}\n\n"
        for number, word in _parse(one for one in look.words if one[0] > seen):
            seen, told = number, time.monotonic()
            yield _as_event(number, word)
        if not look.is_running:
            yield _END
            return
        if time.monotonic() - told > _SIGN_OF_LIFE:
            told = time.monotonic()
            yield ":\n\n"
        await asyncio.sleep(_PAUSE)


async def _look(here: Here) -> Look:
    assert here.upload
    live, upload = here.service.live, here.upload.id
    known = live.find_fresh(upload)
    return known if known is not None else await run_in_threadpool(live.look, upload)


def _as_event(number: int, word: Word) -> str:
    return f"id: {number}\nevent: {event_of(word)}\ndata: {in_words(word)}\n\n"


def _explain_place(here: Here) -> str:
    """Return what a grading would do with an upload that was read; empty if it was removed."""
    assert here.upload
    with here.service.database.reading() as db:
        now = uploads.UPLOADS.find(db, id=here.upload.id)
        return explain_place(heap_of(db, here), now) if now else ""


@ROUTES.at("GET", f"{_PATH}/file", MEMBERS)
def download(here: Now) -> Response:
    """Give the bytes that were submitted, never to be shown by a browser."""
    assert here.upload
    if submissions.is_pruned(here.service.store, here.upload):
        raise Refused(410, "the file is no longer kept")
    path = here.service.store.path(here.upload.sha256)
    return send_attachment(f"{here.upload.id}.archive", path)


@ROUTES.at("POST", f"{_PATH}/again", STAFF_ONLY)
def again(here: Now) -> Response:
    """Check a submission again in which the harness failed."""
    assert here.upload
    with here.service.database.acting(here.by) as act:
        for job in queue.of(act.db, here.upload.id):
            if queue.begin_anew(act.db, job.id):
                act.note("checked again", here.upload.id)
    return RedirectResponse(here.request.url.path.removesuffix("/again"), 303)


@ROUTES.at("POST", f"{_PATH}/withdraw", STUDENTS)
def withdraw(here: Now) -> Response:
    """Let a submission not count."""
    assert here.upload
    known = here.sure()
    own = known.assigned, known.member.submits_as, here.upload
    if not forms.is_sure(here):
        with here.service.database.reading() as db:
            submissions.require_withdrawable(db, *own)
        return _ask_to_withdraw(here, here.upload.name)
    with here.service.database.acting(here.by) as act:
        submissions.withdraw(act, *own)
    return RedirectResponse(f"/courses/{known.course.id}/assignments/{known.assigned.id}", 303)


def _ask_to_withdraw(here: Here, name: str) -> Response:
    question = SecondQuestion(
        f"Withdraw {name}?",
        "It then no longer counts, and this cannot be undone. You can submit again for as long as"
        " the assignment takes submissions.",
        "Yes, withdraw it",
        here.request.url.path.removesuffix("/withdraw"),
    )
    return forms.ask_again(here, assignment.crumbs(here, f"Withdraw {name}"), question)


def _explain_bound(here: Here) -> str:
    known = here.sure()
    assert here.upload
    with here.service.database.reading() as db:
        key, now = known.member.submits_as, datetime.datetime.now()
        return submissions.explain_bound(db, known.assigned, key, here.upload, now)
