"""Submissions: in lists, and each with its receipt, its public tests as judged, and results."""

import asyncio
import datetime
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, NamedTuple

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from markupsafe import Markup
from sqlalchemy import Connection
from starlette.types import Receive, Scope, Send

from harness.assignments.assignment import Late
from harness.core.text import begin_sentence, read_number
from harness.grading.records import Marks
from harness.service import machines, records
from harness.service.courses import deadlines, gradings, making, own_files, progress, submissions
from harness.service.courses.submissions import SubmissionHistory, refusal
from harness.service.jobs import result_files
from harness.service.pages import forms
from harness.service.storage import audit, queue, uploads
from harness.service.web import access, rendering
from harness.service.web.access import MEMBERS, STAFF_ONLY, STUDENTS, Context, Routes
from harness.service.web.request_context import RequestRefused
from harness.work import canonical_json

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
        ahead = queue.ahead(db, job) if job and job.state == records.WAITING else 0
        rules = deadlines.load_rules(db, assigned, [upload], "" if context.is_staff else key)
        history = _find_history(db, context)
        lines = load_lines(db, context, upload, history, has_mark=history.last == upload)
        if context.member.role == records.STUDENT:
            bound = submissions.explain_bound(db, assigned, key, upload, datetime.datetime.now())
    is_running = job is not None and job.is_unfinished
    # The result of the public tests, as the worker wrote it.
    report = result_files.check_page(settings.assignment_folder(upload.assignment), upload.id)
    has_report = not is_running and report.exists()
    return rendering.page(
        context,
        "upload.html",
        held=own_files.explain_held(
            settings, assigned, [job] if job else [], is_staff=context.is_staff
        ),
        state=upload_state(upload, job),
        late=deadlines.describe_late(rules[upload.id], upload.at),
        place=submissions.explain_place(history, upload),
        lines=lines,
        is_running=is_running,
        fault=job.fault if job and job.state == records.FAULT and context.is_staff else "",
        bound=bound,
        ahead=ahead,
        stuck=machines.complaint(settings),
        words=[in_words(word) for _, word in words if event_of(word) == "word"],
        now="".join(in_words(word) for _, word in words[-1:] if event_of(word) == "now"),
        report=Markup(report.read_text(encoding="utf-8")) if has_report else "",
    )


def _find_history(db: Connection, context: Context) -> SubmissionHistory:
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


async def _news(context: Context) -> AsyncIterator[str]:
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


def _explain_place(context: Context) -> str:
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
        check_again(act, context.upload.id)
    return RedirectResponse(context.request.url.path.removesuffix("/again"), 303)


def check_again(act: audit.AuditedTransaction, upload: str) -> None:
    """Let a submission be checked once more in which the service failed."""
    for job in queue.of(act.db, upload):
        if queue.begin_anew(act.db, job.id):
            act.note("checked again", upload)


@ROUTES.at("POST", f"{_PATH}/withdraw", STUDENTS)
def withdraw(context: Context) -> Response:
    """Let a submission not count."""
    own = context.assigned, context.member.submits_as, context.upload
    if not forms.is_sure(context):
        with context.reading() as db:
            submissions.require_withdrawable(db, *own)
        name, back = context.upload.name, context.request.url.path.removesuffix("/withdraw")
        return forms.ask_again(context, "withdraw", back, name)
    with context.acting() as act:
        submissions.withdraw(act, *own)
    return RedirectResponse(context.assignment_page, 303)


# --- Submissions in lists, and the first lines of a student's pages: what happened, what to do ---


class UploadLine(NamedTuple):
    """An upload in a list."""

    upload: records.Upload
    state: str  # in words
    place: str  # what a grading would do with it; "" if it is withdrawn
    refused: str  # why
    late: str = ""  # how late, and what that costs; empty if in time


def list_uploads(
    db: Connection, rows: list[records.Upload], histories: Iterable[SubmissionHistory], rule: Late
) -> list[UploadLine]:
    """Return uploads as a list has them; of each student or group one counts at most.

    ``rule``: the dates of whose uploads they are.
    """
    places = submissions.places(histories)
    jobs = queue.checks(db, about=[one.id for one in rows])
    return [
        UploadLine(
            one,
            upload_state(one, jobs.get(one.id)),
            places.get(one.id, ""),
            refusal(one),
            deadlines.describe_late(rule, one.at),
        )
        for one in rows
    ]


def load_lines(
    db: Connection,
    context: Context,
    upload: records.Upload | None,
    history: SubmissionHistory,
    *,
    has_mark: bool,
) -> progress.StudentStatus:
    """Return the first lines about a submission, or about that there is none.

    ``history``: that it is of; ``has_mark``: whether a mark that is released comes first.
    """
    now, member, assigned = datetime.datetime.now(), context.member, context.assigned
    facts = _load_check(db, context, upload, history) if upload else progress.SubmissionFacts()
    released = uploads.find_released_mark(db, assigned.id, member.key)
    if released:  # as much of the mark as may be seen
        shown = canonical_json.loads(Marks, released.marked.shown)
        usable = [one for one in history.counting if not refusal(one)]
        facts = facts._replace(
            is_released=has_mark,
            mark=gradings.format_counting_mark(shown, released.override),
            is_given=released.override is not None,
            is_newer=bool(usable) and usable[-1].at > released.grading.released,
            awaits_mark=False,
        )
    rule = deadlines.load_rule(db, assigned, member.submits_as)
    window = progress.SubmissionWindow("open", rule.deadline or rule.refused_after)
    if submissions.is_before(assigned, now):
        window = progress.SubmissionWindow("before", making.moment(assigned.opens))
    elif submissions.explain_closed(db, assigned, member.submits_as, now):
        window = progress.SubmissionWindow("closed")
    elif deadlines.describe_late(rule, now.timestamp()):
        cost = deadlines.describe_cost(rule)
        window = progress.SubmissionWindow("late", rule.refused_after, cost)
    return progress.describe_status(facts, window)


_STATES: dict[str, progress.UploadState] = {
    records.WAITING: "waiting",
    records.LEASED: "checking",
    records.HELD: "held",
    records.DONE: "checked",
    records.FAULT: "fault",
}


def _load_check(
    db: Connection, context: Context, upload: records.Upload, history: SubmissionHistory
) -> progress.SubmissionFacts:
    """Return how far a submission is, and what its check found."""
    settings, assigned = context.settings, context.assigned
    job = queue.checks(db, about=upload.id).get(upload.id)
    state: progress.UploadState = _STATES[job.state] if job else "waiting"
    if upload.withdrawn:
        state = "withdrawn"
    elif refusal(upload):
        state = "refused"
    if job and state in ("waiting", "checking") and own_files.list_missing(settings, assigned):
        state = "held"
    facts = progress.SubmissionFacts(state)
    if state == "waiting" and job:
        return facts._replace(ahead=queue.ahead(db, job))
    if state == "refused":
        instead = history.last
        counts = begin_sentence(submissions.name_upload(instead)) if instead else ""
        return facts._replace(refused=refusal(upload), counts_instead=counts)
    page = result_files.check_page(settings.assignment_folder(upload.assignment), upload.id)
    outcome = result_files.read_check_result(page) if state == "checked" else None
    if outcome is None:
        return facts
    return facts._replace(
        passed=sum(one.passed for one in outcome.cases),
        tests=sum(one.tests for one in outcome.cases),
        builds=outcome.builds is not False,
        archive_faults=len(outcome.faults),
        unjudged=sum(one.result == result_files.FAULT for one in outcome.cases),
    )


_WORDS = {
    records.DONE: "checked",
    records.FAULT: "could not be checked",
    records.HELD: "kept, not checked yet",
}


def upload_state(upload: records.Upload, job: records.Job | None) -> str:
    """Return how far an upload is, in words; ``job``: the one that checks it."""
    if upload.withdrawn:
        return "withdrawn"
    if refusal(upload):
        return "refused"
    if job is None:
        return "received"
    waiting = "being checked" if upload.record else "waiting to be checked"
    return _WORDS.get(job.state, waiting)
