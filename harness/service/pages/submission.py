"""One submission: its receipt, its public tests as they are judged, and their results."""

import asyncio
import datetime
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from markupsafe import Markup
from sqlalchemy import Connection
from starlette.types import Receive, Scope, Send

from harness.service import machines
from harness.service.courses import deadlines, own_files, submissions
from harness.service.jobs.result_files import check_page
from harness.service.pages import assignment, forms, status
from harness.service.records import FAULT, STUDENT, WAITING
from harness.service.storage import queue, uploads
from harness.service.web import access, rendering
from harness.service.web.access import MEMBERS, STAFF_ONLY, STUDENTS, Context, Routes
from harness.service.web.request_context import RequestContext, RequestRefused
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
def show(context: Context) -> Response:
    settings, assigned, upload = context.settings, context.assigned, context.upload
    key, bound = context.member.submits_as, ""
    with context.reading() as db:
        job = queue.checks(db, about=upload.id).get(upload.id)
        words = _parse(uploads.words(db, [upload.id]).get(upload.id, ()))
        ahead = queue.ahead(db, job) if job and job.state == WAITING else 0
        rules = deadlines.load_rules(db, assigned, [upload], "" if context.is_staff else key)
        history = _find_history(db, context)
        has_mark = history.last == upload
        lines = status.load_lines(db, context, upload, history, has_mark=has_mark)
        if context.member.role == STUDENT:
            now = datetime.datetime.now()
            bound = submissions.explain_bound(db, assigned, key, upload, now)
    is_running = job is not None and job.is_unfinished
    # The result of the public tests, as the worker wrote it.
    report = check_page(settings.assignment_folder(upload.assignment), upload.id)
    has_report = not is_running and report.exists()
    return rendering.page(
        context,
        "upload.html",
        assignment.crumbs(context, upload.name),
        held=own_files.explain_held(
            settings, assigned, [job] if job else [], is_staff=context.is_staff
        ),
        state=status.upload_state(upload, job),
        late=deadlines.describe_late(rules[upload.id], upload.at),
        place=submissions.explain_place(history, upload),
        lines=lines,
        is_running=is_running,
        fault=job.fault if job and job.state == FAULT and context.is_staff else "",
        bound=bound,
        ahead=ahead,
        stuck=machines.complaint(settings),
        words=[in_words(word) for _, word in words if event_of(word) == "word"],
        now="".join(in_words(word) for _, word in words[-1:] if event_of(word) == "now"),
        report=Markup(report.read_text(encoding="utf-8")) if has_report else "",
    )


def _find_history(db: Connection, context: RequestContext) -> submissions.SubmissionHistory:
    """Return what was submitted with an upload; to a student what counts for that one."""
    if not context.is_staff:
        return submissions.history_of(db, context.assigned, context.member.submits_as)
    histories = submissions.all_histories(db, context.assigned)
    return submissions.history_with(histories.values(), context.upload.id)


def _parse(words: Iterable[tuple[int, str]]) -> list[tuple[int, Word]]:
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
        return "It was built." if word["ok"] else "It could not be built."
    if word["word"] == "broke":
        return f"{word['case']}: we failed to judge it and try again by ourselves."
    if word["again"]:
        return f"{word['case']}: not sure yet, it is rerun."
    return f"{word['case']}: {'has failures' if word['failed'] else 'passed'}."


@ROUTES.at("GET", f"{_PATH}/events", MEMBERS)
def events(context: Context) -> Response:
    """Tell what is judged as it is judged: server-sent events, of public tests alone."""
    watching, live, upload = context.service.watching, context.service.live, context.upload.id
    if not watching.begin(context.by):
        raise RequestRefused(429, f"you watch {watching.most} pages already: close some of them")
    live.begin(upload)

    def end() -> None:
        live.end(upload)
        watching.end(context.by)

    return _WatchedSubmission(_news(context), end)


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


async def _news(context: RequestContext) -> AsyncIterator[str]:
    """Yield events; the response itself hears when nobody listens any longer."""
    seen, was_read = read_number(context.request.headers.get("last-event-id", "")) or 0, False
    begun = told = allowed = time.monotonic()
    while time.monotonic() - begun < _LONGEST:
        live, upload = context.service.live, context.upload.id
        look = live.find_fresh(upload)
        if look is None:
            look = await run_in_threadpool(live.look, upload)
        if time.monotonic() - allowed > _RECHECK:
            allowed = time.monotonic()
            if not await run_in_threadpool(access.is_still_allowed, context):
                yield _END
                return
        if look.was_read and not was_read:
            was_read = True
            place = await run_in_threadpool(_explain_place, context)
            yield f"event: place\ndata: {place}\n\n"
        for number, word in _parse(one for one in look.words if one[0] > seen):
            seen, told = number, time.monotonic()
            yield f"id: {number}\nevent: {event_of(word)}\ndata: {in_words(word)}\n\n"
        if not look.is_running:
            yield _END
            return
        if time.monotonic() - told > _SIGN_OF_LIFE:
            told = time.monotonic()
            yield ":\n\n"
        await asyncio.sleep(_PAUSE)


def _explain_place(context: RequestContext) -> str:
    """Return what a grading would do with an upload that was read; empty if it was removed."""
    with context.reading() as db:
        now = uploads.UPLOADS.find(db, id=context.upload.id)
        return submissions.explain_place(_find_history(db, context), now) if now else ""


@ROUTES.at("GET", f"{_PATH}/file", MEMBERS)
def download(context: Context) -> Response:
    return rendering.send_submission(context)


@ROUTES.at("POST", f"{_PATH}/again", STAFF_ONLY)
def again(context: Context) -> Response:
    """Check a submission again in which the harness failed."""
    with context.acting() as act:
        assignment.check_again(act, context.upload.id)
    return RedirectResponse(context.request.url.path.removesuffix("/again"), 303)


@ROUTES.at("POST", f"{_PATH}/withdraw", STUDENTS)
def withdraw(context: Context) -> Response:
    """Let a submission not count."""
    own = context.assigned, context.member.submits_as, context.upload
    if not forms.is_sure(context):
        with context.reading() as db:
            submissions.require_withdrawable(db, *own)
        question = forms.SecondQuestion(
            f"Withdraw {context.upload.name}?",
            "It then no longer counts, and this cannot be undone. You can submit again for as long"
            " as the assignment takes submissions.",
            "Yes, withdraw it",
            context.request.url.path.removesuffix("/withdraw"),
        )
        trail = assignment.crumbs(context, f"Withdraw {context.upload.name}")
        return forms.ask_again(context, trail, question)
    with context.acting() as act:
        submissions.withdraw(act, *own)
    return RedirectResponse(context.assignment_page, 303)
