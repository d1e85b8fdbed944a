"""A result that is not plainly passed: what was expected, what came, and the board."""

from __future__ import annotations

import re
from itertools import groupby

from harness.reading import expectation
from harness.records import Outcome, Step, Verdict
from harness.report.difference import Segment, difference
from harness.report.html.parts import as_class, badge
from harness.report.html.trouble import place
from harness.report.markup import escape
from harness.report.view import FileView, comment_before
from harness.visible import one_line
from oracle.draw import Diagram, draw_svg

_COMMAND = 320  # characters
_PICTURE = re.compile(r"\S(?: \S)+")  # a row of a board


def card(view: FileView, outcome: Outcome, log: str = "", anchor: str = "T") -> str:
    """Return the card of one result.

    ``log``: the address of the GTP log; none: there is no log. ``anchor``: what its name begins
    with, unique on the page together with the line.
    """
    case = view.file.case
    step = case.steps[outcome.step]
    kind = "flaky" if outcome.flaky else as_class(outcome.verdict.value)
    return "".join(
        (
            f'<article class="card is-{kind}" id="{anchor}{step.line}"><h3>',
            badge(outcome.verdict, outcome.flaky),
            f"<code>{escape(one_line(step.text, _COMMAND))}</code>",
            f"<small>{place(step, log)}{_seconds(outcome)}</small></h3>",
            _comment(comment_before(case, outcome.step)),
            '<div class="row">',
            _sides(step, outcome, view.reasons.get(outcome.step, ""), _pattern(step, log)),
            _figure(view.boards.get(outcome.step)),
            "</div></article>\n",
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


def _seconds(outcome: Outcome) -> str:
    return f" · {outcome.reply.seconds:.2f} s" if outcome.reply else ""


def _pattern(step: Step, log: str) -> str:
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
