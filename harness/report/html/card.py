"""A result that is not plainly passed: the board, what was asked, what is right, what came."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import groupby

from harness.reading import expectation
from harness.reading.casefile import comments
from harness.records import Outcome, Step, Verdict
from harness.report.board_evidence import Count, evidence
from harness.report.difference import Side, Sides, komi_of, sides
from harness.report.file_view import FileView
from harness.report.html.board_drawing import figure, is_large, owners_on_paper
from harness.report.html.page_names import LogPages
from harness.report.html.parts import (
    KINDS,
    LOOK,
    both_sides,
    command_line,
    dot,
    pill,
    step_times,
    times_in_words,
)
from harness.report.markup import NOTHING, Markup, escape, join_markup
from harness.report.reporters import Context, contexts
from harness.text import one_line
from oracle.draw import Diagram

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_COMMAND = 320  # characters
_HEADING = 140  # characters
_PICTURE = re.compile(r"\S(?: \S)+")  # a row of a board
_TEST = re.compile(r"(?:\d+ [a-z]+_\w+|#?\?).*")  # a test that was commented out
_SENTENCE = re.compile(r"\W*\w.*?[.!?](?=\s|$)", re.S)

_BEGIN = Markup(
    '<details class="card test" data-c="%s"%s%s><summary>%s<span><h3>%s</h3><span class="meta">%s'
)
_REST = Markup(
    '</span></span>%s</summary><div class="body%s" id="%s%s">%s'
    '<div class="say">%s</div></div></details>\n'
)


class Cards:
    """The parts that cards of many engines for the same tests share: each is made once."""

    def __init__(self) -> None:
        self._made: dict[object, tuple[tuple[Markup, Markup], object]] = {}

    def card(self, *about: Any, **more: Any) -> Markup:
        """Return the card of one result; see :func:`card`."""
        return card(*about, cards=self, **more)

    def find(
        self,
        view: FileView,
        outcome: Outcome,
        key: tuple[object, ...],
        make: Callable[[], tuple[Markup, Markup]],
    ) -> tuple[Markup, Markup]:
        """Return what was made for the same test and reply, time aside; ``key``: what else counts.

        What goes by its identity is kept, so that nothing else has its id.
        """
        steps, diagram = view.file.case.steps, view.boards.get(outcome.step)
        untimed = outcome.reply and outcome.reply._replace(seconds=0.0)
        whole = (id(steps), view.file.case.path, outcome._replace(reply=untimed), id(diagram),
                 view.reasons.get(outcome.step), *key)  # fmt: skip
        if whole not in self._made:
            self._made[whole] = make(), (steps, diagram)
        return self._made[whole][0]


def card(  # noqa: PLR0913 - what pages differ in
    view: FileView,
    outcome: Outcome,
    log: LogPages | None = None,
    anchor: str = "T",
    *,
    context: Context | None = None,
    folder: str | None = None,
    is_open: bool = True,
    file: str = "",
    actions: Markup = NOTHING,
    cards: Cards | None = None,
) -> Markup:
    """Return the card of one result.

    ``log``: the GTP log; None if there is none. ``anchor``: what its name begins
    with, unique on the page together with the line. ``context``: what is told besides the answer;
    None: what the view knows. ``folder``: of the page; None if nothing is linked to. ``is_open``:
    whether it is unfolded. ``file``: the name of the case file; "": the page is about one.
    ``actions``: what else there is to do with it. ``cards``: of many engines, which show no times.
    """
    step = view.file.case.steps[outcome.step]

    def make() -> tuple[Markup, Markup]:
        told = context or contexts(view)(outcome.step)
        times = NOTHING if cards or not log else _times(view, outcome)
        return _around_place(view, outcome, told, log, anchor, folder, is_open, actions, times)

    key = context, log and log.at(step.line), anchor, folder, is_open, actions
    begin, rest = cards.find(view, outcome, key, make) if cards else make()
    return begin + _place(step, outcome, file) + rest


def _around_place(  # noqa: PLR0913, PLR0917 - as above
    view: FileView,
    outcome: Outcome,
    context: Context,
    log: LogPages | None,
    anchor: str,
    folder: str | None,
    is_open: bool,
    actions: Markup,
    times: Markup,
) -> tuple[Markup, Markup]:
    """Return a card without its place and time, which differ: what is before, and after them.

    ``times``: a plot of those of what led to it.
    """
    step = view.file.case.steps[outcome.step]
    diagram, sided = view.boards.get(outcome.step), sides(view, outcome)
    heading, rest = _heading(view, outcome.step, context.comment)
    command = Markup("<code>%s</code>") % one_line(step.text, _COMMAND)
    meta = (pill(outcome.verdict, outcome.flaky), command if heading else NOTHING)
    kinds = " large" if diagram and is_large(diagram) else "" if diagram else " bare"
    said = (
        _comment(rest, diagram is not None),
        _paragraph("Asked", sided.asked),
        _sides(sided),
        _score_count(view.counts.get(outcome.step)),
        _paragraph("Because", context.because),
        _pattern(step, log),
        _render_loaded_file(context.loaded, folder),
        times,
        _again(context.again),
        _actions(view, outcome, log, actions),
    )
    begin = _BEGIN % (
        KINDS.get(outcome.verdict, LOOK),
        Markup(" data-fail") if outcome.verdict is Verdict.FAILED else NOTHING,
        Markup(" open") if is_open else NOTHING,
        dot(outcome.verdict, outcome.flaky),
        heading or command,
        Markup(" ").join(part for part in meta if part),
    )
    return begin, _REST % (
        _in_short(sided),
        kinds,
        anchor,
        step.line,
        _figure(view, outcome) if diagram else NOTHING,
        join_markup(said),
    )


def legend_on_paper(views: Iterable[FileView]) -> Markup:
    """Return what cards of these files have in common below their boards, for paper alone."""
    boards, legend = list[Diagram](), dict[str, str]()
    for view in views:
        boards += view.boards.values()
        legend |= view.legend
    return owners_on_paper(boards, legend)


def title(view: FileView, step: int, comment: str) -> str:
    """Return the name of a test: its comment, else its command."""
    heading, _ = _heading(view, step, comment)
    return heading or one_line(view.file.case.steps[step].text, _HEADING)


def _heading(view: FileView, step: int, comment: str) -> tuple[str, str]:
    """Return the first sentence said of a test, of it alone if there is one, and all the rest."""
    for text in (comments(view.file.case, step), comment):
        first = _first_sentence(text)
        if first and first in comment:
            before, _, after = comment.rpartition(first)
            return " ".join(first.split()), before + after.lstrip()
    return "", comment


def _first_sentence(text: str) -> str:
    """Return the first sentence of a text, else its first line; "" if that is long.

    Neither a picture nor a test, commented out, says what the next test is about.
    """
    first_line = text.partition("\n")[0]
    if _PICTURE.fullmatch(first_line) or _TEST.fullmatch(first_line):
        return ""
    words = "\n".join(line for line in text.split("\n") if not _PICTURE.fullmatch(line))
    ended = _SENTENCE.match(words)
    for first in (ended[0] if ended else "", text.partition("\n")[0]):
        if 0 < len(first) <= _HEADING:
            return first.strip()
    return ""


def _comment(text: str, has_board: bool) -> Markup:
    """Return a test's comment: words as paragraphs, the picture of a board as it is.

    Where the board is drawn, a second picture of it would only take room.
    """
    groups = groupby(text.splitlines(), lambda line: bool(_PICTURE.fullmatch(line)))
    return join_markup(
        Markup("<pre>%s</pre>" if is_picture else "<p>%s</p>") % words
        for is_picture, words in ((kind, "\n".join(lines)) for kind, lines in groups)
        if words.strip() and not (is_picture and has_board)
    )


def _place(step: Step, outcome: Outcome, file: str) -> Markup:
    seconds = f" · {times_in_words(outcome.reply.seconds)}" if outcome.reply else ""
    name = f"{file}, " if file else ""
    return Markup(" <span>%sline %s%s</span>") % (name, step.line, seconds)


_SHORT = 24  # characters of either side, where a card is folded


def _in_short(sides: Sides) -> Markup:
    """Return both sides for a card that is folded, where the reply is wrong and they are short.

    In words where both have them.
    """
    if not sides.is_wrong or sides.got is None:
        return NOTHING
    pair = (sides.expected, sides.got)
    has_words = all(side.said for side in pair)
    both = [
        side.said if has_words else one_line("".join(text for text, _ in side.segments))
        for side in pair
    ]
    is_short = max(map(len, both)) <= _SHORT
    return both_sides(*both, is_code=not has_words) if is_short else NOTHING


# --- what is right, and what came --------------------------------------------------------------


def _paragraph(name: str, text: str | Markup) -> Markup:
    return _render_labelled(name, Markup("<p>%s</p>") % text) if text else NOTHING


def _sides(sides: Sides) -> Markup:
    """The expectation beside the reply, with what differs marked where the test failed."""
    got, signs = sides.got, ("e", "✓ Expected", "g", "✕ Got")
    if not sides.is_wrong:
        signs = ("o", "Expected", "o", "Got")
    if got is None:
        return Markup('<dl class="ev one">%s</dl>') % _side(*signs[:2], sides.expected)
    hint = Markup('<p class="sub">%s</p>') % sides.hint if sides.hint else NOTHING
    both = _side(*signs[:2], sides.expected) + _side(*signs[2:], got)
    pairs = (("Missing", sides.missing), ("Extra", sides.extra))
    line = Markup('<p class="sub">%s: <code>%s</code></p>')
    words = join_markup(line % pair for pair in pairs if pair[1])
    return Markup('<dl class="ev">%s</dl>%s%s') % (both, words, hint)


def _side(kind: str, heading: str, side: Side) -> Markup:
    text = "".join(text for text, _ in side.segments)
    may_scroll = len(text) > _HIGH or text.count("\n") > _LINES  # then keys must lead into it
    marked = join_markup(
        Markup("<mark>%s</mark>") % text if differs else escape(text)
        for text, differs in side.segments
    )
    return Markup('<div class="%s"><dt>%s</dt><dd>%s<pre%s>%s</pre>%s</dd></div>') % (
        kind,
        heading,
        Markup("<b>%s</b>") % side.said if side.said else NOTHING,
        Markup(' tabindex="0"') if may_scroll else NOTHING,
        marked,
        _PATTERN % side.pattern if side.pattern else NOTHING,
    )


_HIGH, _LINES = 300, 12  # characters, lines

_PATTERN = Markup('<details class="pat"><summary>The pattern</summary><code>%s</code></details>')


_COUNT = Markup(
    '<table class="cnt"><thead><tr><th scope="col"><span class="vh">Color</span></th>%s</tr>'
    "</thead><tbody>%s</tbody>%s</table>"
)
_HEAD = Markup('<th class="num" scope="col">%s</th>')
_ROW = Markup('<tr><th scope="row">%s</th>%s</tr>')
_FIGURE = Markup('<td class="num">%s</td>')
_RESULT = Markup(
    '<tfoot><tr><th scope="row" colspan="%s">%s</th><td class="num">%s</td></tr></tfoot>'
)


# In a class the same boards come again and again, with all their wrong answers.
@lru_cache(512)
def _score_count(count: Count | None) -> Markup:
    """How the right score is counted."""
    if count is None:
        return NOTHING
    rows = join_markup(
        _ROW % (who, join_markup(_FIGURE % figure for figure in figures))
        for who, figures in count.rows
    )
    end = _RESULT % (len(count.heads), *count.result) if count.result[0] else NOTHING
    heads = join_markup(_HEAD % head for head in count.heads)
    return _render_labelled("How it is counted", _COUNT % (heads, rows, end))


def _pattern(step: Step, log: LogPages | None) -> Markup:
    """Return the expression, a click away, where it tells more; a log is for authors."""
    pattern = step.pattern
    if not log or pattern is None or expectation.is_literal(pattern):
        return NOTHING
    if expectation.put_in_words(pattern).pattern:  # it stands beside the expectation
        return NOTHING
    return _PATTERN % pattern.text


def _render_labelled(name: str, text: Markup) -> Markup:
    return Markup('<div><p class="lab">%s</p>%s</div>') % (name, text)


# --- the board, and what to do with it ---------------------------------------------------------


def _figure(view: FileView, outcome: Outcome) -> Markup:
    step, diagram = view.file.case.steps[outcome.step], view.boards[outcome.step]
    seen = evidence(step, outcome, diagram)
    return figure(diagram, seen, view.legend, komi_of(view, outcome.step), step.command)


def _render_loaded_file(path: str, folder: str | None) -> Markup:
    """Return the name of the file that was loaded, as a link if it is there."""
    if not path:
        return NOTHING
    name = Markup("<code>%s</code>") % path
    if folder is not None and os.path.isfile(path):
        from urllib.parse import quote

        address = quote(os.fsencode(os.path.relpath(path, folder)))
        name = Markup('<a href="%s">%s</a>') % (address, name)
    return _paragraph("Loaded", name)


def _times(view: FileView, outcome: Outcome) -> Markup:
    setup = view.setups.get(outcome.step)
    if setup is None or outcome.verdict is not Verdict.FAILED:
        return NOTHING
    return step_times(view.file, setup.first, outcome.step)


def _again(command: str) -> Markup:
    if not command:
        return NOTHING
    line = _render_labelled("Repeat this test", command_line(command))
    return Markup('<div class="noprint">%s</div>') % line  # nobody copies from paper


_COPIES = Markup(
    '<button type="button" class="btn js-only" data-gtp>Copy as GTP</button>'
    '<button type="button" class="btn js-only" data-sgf="%s">Save as SGF</button>'
)


def _actions(view: FileView, outcome: Outcome, log: LogPages | None, others: Markup) -> Markup:
    step, actions = view.file.case.steps[outcome.step], NOTHING
    if outcome.step in view.boards:
        name = os.path.basename(view.file.case.path).partition(".")[0] or "test"
        number = step.id if step.id >= 0 else f"line-{step.line}"
        actions += _COPIES % f"{name}-{number}.sgf"
    if log:
        actions += Markup('<a class="btn" href="%s">In the GTP log</a>') % log.at(step.line)
    actions += others
    return Markup('<p class="btns noprint">%s</p>') % actions if actions else NOTHING
