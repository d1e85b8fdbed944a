"""How pages are made: templates with the look and the parts of the reports, and forms beside."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from fastapi.responses import FileResponse, HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.grading.records import decimal
from harness.history import plots
from harness.report.html import parts
from harness.report.html.board_drawing import DEFINITIONS
from harness.report.html.page_names import SCRIPT, STYLE
from harness.report.markup import Markup
from harness.service.courses.gradings import format_counting_mark
from harness.service.local_times import (
    describe_date,
    describe_moment,
    name_zone,
    read_seconds,
    to_field,
)
from harness.service.web.access import FORM_TOKEN
from harness.service.web.request_context import RequestContext
from harness.text import begin_sentence, number_of
from oracle import __version__

OWN_STYLE = """
form.card,.panel{padding:var(--s4) var(--s5)}.panel{background:var(--card);
border:1px solid var(--line);border-radius:var(--r3);box-shadow:var(--shadow)}
.panel>*+*{margin-top:var(--s2)}.field{display:grid;gap:var(--s1);margin:0 0 var(--s3)}
.field label{font-weight:600;font-size:var(--t-sm)}
.field input,.field select,.field textarea{font:inherit;color:inherit;background:var(--bg);
border:1px solid var(--line-2);border-radius:var(--r1);padding:8px 10px;width:100%;max-width:34em}
form .btn,button.main{min-height:40px}.inline{display:inline}
.tbl{width:100%;border-collapse:collapse}.tbl th,.tbl td{padding:8px 12px;text-align:left;
border-top:1px solid var(--line);vertical-align:top}.tbl th{font-size:var(--t-sm);border-top:0}
.rights{border:0;padding:0;margin:0 0 var(--s3)}.rights label{display:flex;gap:var(--s2);
align-items:center;min-height:28px}.rights legend{font-weight:600;font-size:var(--t-sm)}
.rights legend{padding:0}.rights input{flex:none;margin:0}
.staff{display:grid;gap:var(--s4)}.staff>*{margin:0}.staff h3{margin-bottom:var(--s2)}
.drawn{display:grid;gap:var(--s5);margin-bottom:var(--s4);
grid-template-columns:repeat(auto-fit,minmax(min(300px,100%),1fr))}
.words{white-space:pre-wrap;overflow-wrap:anywhere}.said+.said{border-top:1px solid var(--line)}
.scroll{overflow-x:auto}.served{display:grid;gap:var(--s5);
grid-template-columns:minmax(0,1fr)}.served li a,.served td a,.served p>a{display:inline-block;
min-height:24px}.served li{margin:var(--s1) 0;overflow-wrap:anywhere}
input[type=checkbox]{width:24px;height:24px}
.tick{display:flex;gap:var(--s2);align-items:center;min-height:28px;margin:0 0 var(--s3)}
.untaken{padding:var(--s3) var(--s4);border:1px solid var(--fail-s);
border-radius:var(--r2);background:var(--fail-t);scroll-margin:80px}
form .untaken,form.card>p{margin-bottom:var(--s3)}
nav a{display:inline-block;min-height:24px;min-width:24px}
.trail a{overflow:hidden;text-overflow:ellipsis}
#problem:empty,#interrupted:empty{display:none}
@media screen and (max-width:860px){.tbl td:empty{display:none}.tbl td{border:0;padding:2px 0}}
.over{outline:3px dashed var(--accent);outline-offset:3px}#dropped:empty{display:none}
.position{display:grid;gap:var(--s4);grid-template-columns:minmax(0,260px) minmax(0,1fr)}
.position>div>*+*{margin-top:var(--s2)}.position .board{max-width:260px}
article.panel summary{padding-left:0}.setup{margin:var(--s2) 0;max-height:16em;overflow:auto}
article.panel .inline{display:inline-block;margin-top:var(--s2)}
form.card ul{margin-bottom:var(--s3)}
.tbl td input:not([type=checkbox]){font:inherit;color:inherit;background:var(--bg);max-width:12em;
border:1px solid var(--line-2);border-radius:var(--r1);padding:4px 8px;min-height:32px}
form.card h2{margin-bottom:var(--s2)}form.card h2+p{margin-bottom:var(--s3)}
@media(max-width:520px){.head{position:static}.head>div{flex-wrap:wrap;justify-content:flex-end}
.head .trail{order:1;flex:1 0 100%;flex-wrap:wrap;padding-bottom:var(--s2)}.trail>*{max-width:100%}
.position{grid-template-columns:minmax(0,1fr)}.who{max-width:6em;
overflow:hidden;text-overflow:ellipsis;white-space:nowrap}}
"""


# --- How pages are made: templates with the look and the parts of the reports --------------------


Crumbs = Iterable[tuple[str, str]]  # names and addresses; the last one is the page itself
_ROOM = Path(__file__).parent
_TYPES = {".js": "text/javascript", ".svg": "image/svg+xml"}
# What a browser may load for a page of ours: nothing from elsewhere, no script in the page and no
# style element. Attributes style bars and boards, each its own element alone.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
    " img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
# htmx runs no text as a script and adds no style: the policy would not let it. What is refused is
# said at the top of the page, and the page stays.
_HTMX = {
    "includeIndicatorStyles": False,
    "allowEval": False,
    "allowScriptTags": False,
    "historyCacheSize": 0,
    "responseHandling": [
        {"code": "[23]..", "swap": True},
        {
            "code": "[45]..",
            "swap": True,
            "error": True,
            "target": "#problem",
            "select": "#why",
            "swapOverride": "innerHTML show:window:top",
        },
    ],
}


@cache
def files() -> dict[str, tuple[str, bytes]]:
    """Return the files that pages load, by name, with their types."""
    own = {
        path.name: (_TYPES[path.suffix], path.read_bytes())
        for path in (_ROOM / "static").iterdir()
        if path.suffix in _TYPES
    }
    style = (STYLE + plots.STYLE + OWN_STYLE).encode()
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
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "moment": describe_moment,
        "bytes": size,
        "local": describe_date,
        "field": to_field,
        "seconds": read_seconds,
        "begun": begin_sentence,
        "given": format_counting_mark,
        "points": decimal,
        "exactly": exactly,
        "number_of": number_of,
    }
    made.globals |= {
        "parts": parts,
        "token": _token,
        "definitions": DEFINITIONS,
        "version": __version__,
        "htmx": json.dumps(_HTMX),
        "zone": name_zone,
        "typed": typed,
        "reason": explain_form,
        "file": lambda name: f"/static/{name}?{digest(name)}",
    }
    return made


_TOKEN = Markup('<input type="hidden" name="%s" value="%s">')


def _token(context: RequestContext) -> Markup:
    """Return the field that every form on a page has."""
    return _TOKEN % (FORM_TOKEN, context.form_token)


# What the fields of a form are called on pages, by their names.
_LABELS = {
    "opens": "Opens",
    "deadline": "Deadline",
    "closes": "Refused after",
    "deduction": "Late penalty",
    "grace": "Grace",
    "title": "Title",
    "name": "Name",
    "email": "Mail address",
    "days": "Days",
    "points": "Points",
    "reason": "Reason",
}


def explain_form(context: RequestContext, action: str = "") -> str:
    """Return why a form was not taken, as a sentence; "" if it was, or is another one.

    ``action``: where the form is sent; "" for any.
    """
    if not context.why or (action and unquote(action) != unquote(context.request.url.path)):
        return ""
    name, colon, rest = context.why.partition(":")
    why = f"{_LABELS.get(name, name)}{colon}{rest}"
    return begin_sentence(why if why.endswith(".") else f"{why}.")


def typed(context: RequestContext, action: str, name: str, given: str = "") -> str:
    """Return what a field shows: what was typed if the form was not taken, else ``given``."""
    return context.field(name) if explain_form(context, action) else given


def exactly(points: Fraction) -> str:
    """Return a number for a field of a form: what is sent back is the same number."""
    written = decimal(points)
    return written if Fraction(written) == points else str(points)


def page(
    context: RequestContext,
    template: str,
    crumbs: Crumbs = (),
    status: int = 200,
    **values: object,
) -> Response:
    """Return a page made of a template, which is given ``context`` and the values."""
    trail = [("Courses", "/"), *crumbs] if context.person else [*crumbs]
    text = _environment().get_template(template).render(context=context, crumbs=trail, **values)
    return HTMLResponse(text, status)


def own(text: str) -> Markup:
    """Return HTML that the harness made itself, to be put into a page as it is."""
    return Markup(text)


def size(count: int) -> str:
    """Return bytes in words."""
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1000:,.0f} kB"


# --- Files that a browser saves and never shows, sent piece by piece: they may be large ----------


_BYTES = "application/octet-stream"


def send_attachment(name: str, path: Path) -> FileResponse:
    """Return a file as an attachment. ``name``: of our own choice."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return FileResponse(path, media_type=_BYTES, headers=headers)
