"""A result that is not plainly passed: what was expected, what came, and the board."""

from __future__ import annotations

import os
import re
from itertools import groupby

from harness.reading import expectation
from harness.records import Outcome, Step, Verdict
from harness.report.context import Context, contexts
from harness.report.difference import Segment, difference
from harness.report.html.names import Log
from harness.report.html.parts import as_class, badge
from harness.report.html.trouble import place
from harness.report.markup import escape
from harness.report.view import FileView
from harness.visible import one_line
from oracle.draw import Diagram, draw_svg

_COMMAND = 320  # characters
_PICTURE = re.compile(r"\S(?: \S)+")  # a row of a board


def card(  # noqa: PLR0913 - what pages differ in
    view: FileView,
    outcome: Outcome,
    log: Log | None = None,
    anchor: str = "T",
    *,
    context: Context | None = None,
    folder: str | None = None,
) -> str:
    """Return the card of one result.

    ``log``: the GTP log; None: there is none. ``anchor``: what its name begins
    with, unique on the page together with the line. ``context``: what is told besides the answer;
    None: what the view knows. ``folder``: of the page; None: nothing is linked to.
    """
    step = view.file.case.steps[outcome.step]
    told = context or contexts(view)(outcome.step)
    kind = "flaky" if outcome.flaky else as_class(outcome.verdict.value)
    return "".join(
        (
            f'<article class="card is-{kind}" id="{anchor}{step.line}"><h3>',
            badge(outcome.verdict, outcome.flaky),
            f"<code>{escape(one_line(step.text, _COMMAND))}</code>",
            f"<small>{place(step, log)}{_seconds(outcome)}</small></h3>",
            _comment(told.comment),
            '<div class="row">',
            _sides(step, outcome, told.because, _pattern(step, log)),
            _figure(view.boards.get(outcome.step)),
            "</div>",
            _loaded(told.loaded, folder),
            f'<p class="dim">Again: <code>{escape(told.again)}</code></p>' if told.again else "",
            "</article>\n",
        )
    )


def _comment(text: str) -> str:
    """Return what is said of a test: words as paragraphs, the picture of a board as it is."""
    groups = groupby(text.splitlines(), lambda line: bool(_PICTURE.fullmatch(line)))
    return "".join(
        f"<pre>{escape(joined)}</pre>" if is_picture else f"<p>{escape(joined)}</p>"
        for is_picture, joined in ((kind, "\n".join(lines)) for kind, lines in groups)
        if joined
    )


def _loaded(path: str, folder: str | None) -> str:
    """Return the name of the file that was loaded, as a link if it is there."""
    if not path:
        return ""
    name = f"<code>{escape(path)}</code>"
    if folder is not None and os.path.isfile(path):
        from urllib.parse import quote

        address = quote(os.fsencode(os.path.relpath(path, folder)))
        name = f'<a href="{address}">{name}</a>'
    return f'<p class="dim">Loaded: {name}</p>'


def _seconds(outcome: Outcome) -> str:
    return f" · {outcome.reply.seconds:.2f} s" if outcome.reply else ""


def _pattern(step: Step, log: Log | None) -> str:
    """Return the expression, where it tells more; pages with a log are an author's."""
    if not log or step.pattern is None or expectation.is_literal(step.pattern):
        return ""
    return f'<p class="dim">Pattern: <code>{escape(step.pattern.text)}</code></p>'


def _sides(step: Step, outcome: Outcome, reason: str, pattern: str) -> str:
    """The expectation beside the reply, with what differs marked where the test failed."""
    reply, why = outcome.reply, pattern + _reason(reason)
    if reply is None:
        return f'<div class="both">{_side("Expected", _expected(step))}{why}</div>'
    expected, got, hint = _expected(step), escape(reply.text), ""
    if outcome.verdict in (Verdict.FAILED, Verdict.EXPECTED_FAIL):
        marked = difference(step.pattern, reply, step.id)
        expected, got = _marked(marked.expected) or expected, _marked(marked.got)
        hint = f'<p class="dim">{escape(marked.hint)}</p>' if marked.hint else ""
    sides = _side("Expected", expected) + _side("Got", got)
    return f'<div class="both">{sides}{hint}{why}</div>'


def _reason(text: str) -> str:
    """Why the right answer is right."""
    return f'<p class="why"><b>Because</b> {escape(text)}</p>' if text else ""


def _side(heading: str, markup: str) -> str:
    shown = f"<pre>{markup}</pre>" if markup else '<pre class="dim">(empty)</pre>'
    return f"<div><h4>{heading}</h4>{shown}</div>"


def _expected(step: Step) -> str:
    told = escape(expectation.in_words(step.pattern))
    return told if step.pattern else f"<i>{told}</i>"


def _marked(segments: tuple[Segment, ...]) -> str:
    return "".join(
        f"<mark>{escape(text)}</mark>" if differs else escape(text) for text, differs in segments
    )


def _figure(diagram: Diagram | None) -> str:
    if diagram is None:
        return ""
    caption = f"<figcaption>{escape(diagram.caption)}</figcaption>" if diagram.caption else ""
    return f"<figure>{draw_svg(diagram)}{caption}</figure>"
