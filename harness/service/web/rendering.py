"""Answers with a page or a file: templates with the look of the reports, forms, downloads."""

import datetime
import hashlib
import mimetypes
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from fastapi.responses import FileResponse, HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.core.text import begin_sentence, number_of
from harness.grading.records import decimal
from harness.history import plots
from harness.report.board_evidence import Evidence
from harness.report.html import board_drawing
from harness.report.html.page_names import SCRIPT, STYLE, read_style
from harness.report.html.templates import PIECES
from harness.service import local_times
from harness.service.courses import gradings, staff, submissions
from harness.service.records import RIGHTS
from harness.service.web.access import FORM_TOKEN
from harness.service.web.request_context import RequestContext, RequestRefused, require_found
from oracle import __version__

_ROOM = Path(__file__).parent
_TYPES = {".js": "text/javascript", ".svg": "image/svg+xml"}
# What a browser may load for a page of ours: nothing from elsewhere, no script in the page and no
# style element. Attributes style bars and boards, each its own element alone.
FRAMES = "frame-ancestors 'none'"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
    " img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none';"
    f" {FRAMES}"
)


@cache
def files() -> dict[str, tuple[str, bytes]]:
    """Return the files that pages load, by name, with their types."""
    own = {
        path.name: (_TYPES[path.suffix], path.read_bytes())
        for path in (_ROOM / "static").iterdir()
        if path.suffix in _TYPES
    }
    style = (STYLE + plots.STYLE + read_style(_ROOM / "static" / "service.css")).encode()
    return own | {
        "style.css": ("text/css", style),
        "page.js": ("text/javascript", SCRIPT.encode()),
    }


@cache
def digest(name: str) -> str:
    """Return what is in the address of a file, so that a new version has a new one."""
    return hashlib.sha256(files()[name][1]).hexdigest()[:12]


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_ROOM / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    token = Markup('<input type="hidden" name="{}" value="{}">')
    made.filters |= {
        "moment": local_times.describe_moment,
        "day": local_times.describe_day,
        "distance": lambda time: local_times.describe_distance(time, datetime.datetime.now()),
        "stamp": local_times.describe_stamp,
        "bytes": size,
        "local": local_times.describe_date,
        "field": local_times.to_field,
        "seconds": local_times.read_seconds,
        "begun": begin_sentence,
        "board": lambda found: board_drawing.board(found.diagram(), Evidence()),
        "given": gradings.format_counting_mark,
        "points": decimal,
        "exactly": exactly,
        "number_of": number_of,
    }
    made.globals |= {
        "parts": PIECES,
        "token": lambda context: token.format(FORM_TOKEN, context.form_token),
        "definitions": board_drawing.DEFINITIONS,
        "version": __version__,
        "zone": local_times.name_zone,
        "roles": staff.ROLES,
        "rights": RIGHTS,
        "typed": typed,
        "untaken": is_untaken,
        "trail": trail,
        "file": lambda name: f"/static/{name}?{digest(name)}",
    }
    return made


def is_untaken(context: RequestContext, action: str = "") -> bool:
    """Whether a form was not taken; ``action``: where it is sent, "" for any."""
    is_it = not action or unquote(action) == unquote(context.request.url.path)
    return bool(context.why) and is_it


def typed(context: RequestContext, action: str, name: str, given: str = "") -> str:
    """Return what a field shows: what was typed if the form was not taken, else ``given``."""
    return context.field(name) if is_untaken(context, action) else given


def exactly(points: Fraction) -> str:
    """Return a number for a field of a form: what is sent back is the same number."""
    written = decimal(points)
    return written if Fraction(written) == points else str(points)


def page(context: RequestContext, template: str, status: int = 200, **values: object) -> Response:
    """Return a page made of a template, which is given ``context`` and the values."""
    made = _environment().get_template(template)
    return HTMLResponse(made.render(context=context, **values), status)


def trail(context: RequestContext) -> list[tuple[str, str]]:
    """Return names and pages of what the path names: a course, an assignment of it, a suite."""
    found = [(context.course.title, context.course_page)] if "course" in context.named else []
    if "assigned" in context.named:
        found.append((context.assigned.title, context.assignment_page))
    if "suite" in context.named:
        found += [("Test suites", "/suites"), (context.suite.title, context.suite_page)]
    return found


def size(count: int) -> str:
    """Return bytes in words."""
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1000:,.0f} kB"


# --- Files: saved by a browser and never shown, unless it is a page that the harness wrote -------

BYTES = "application/octet-stream"
_POLICY = re.compile(rb'http-equiv="Content-Security-Policy" content="([^"]*)"')


def attachment(name: str, data: bytes, kind: str = BYTES) -> Response:
    """Return a file that a browser saves and never shows. ``name``: of our own choice."""
    saved = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=saved)


def send_submission(context: RequestContext) -> FileResponse:
    """Return the bytes that were submitted, as long as they are kept; no browser shows them."""
    if submissions.is_pruned(context.service.store, context.upload):
        raise RequestRefused(410, "the file is no longer kept")
    path = context.service.store.path(context.upload.sha256)
    return FileResponse(path, media_type=BYTES, filename=f"{context.upload.id}.archive")


def serve_file(folder: Path, name: str, update: Callable[[str], str] = str) -> Response:
    """Return a file that the harness wrote: a page to be read, all else to be saved.

    ``update``: makes the page that is shown of the one that was written.
    """
    path = require_found(gradings.path_of_file(folder, name), "there is no such file")
    data = path.read_bytes()
    if path.suffix != ".html":
        kind = mimetypes.guess_type(path.name)[0] or BYTES
        return attachment(re.sub(r"[^\w.-]", "_", path.name, flags=re.ASCII), data, kind)
    policy = _POLICY.search(data)
    own = policy[1].decode() if policy else "default-src 'none'"
    headers = {"content-security-policy": f"{own}; frame-ancestors 'none'"}
    return Response(update(data.decode()), media_type="text/html; charset=utf-8", headers=headers)
