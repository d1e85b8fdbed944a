"""A result that is not plainly passed: the board, what was asked, what is right, what came."""

import os
import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any
from urllib.parse import quote

from harness.core.records import Outcome, Verdict
from harness.core.text import one_line
from harness.reading import expectation
from harness.reading.casefile import comments
from harness.report.board_evidence import evidence
from harness.report.difference import komi_of, sides
from harness.report.file_view import FileView
from harness.report.html import parts
from harness.report.html.board_drawing import figure, is_large, owners_on_paper
from harness.report.html.page_names import LogPages
from harness.report.html.templates import Markup, Template
from harness.report.reporters import Context, contexts
from oracle.draw import Diagram

_COMMAND = 320  # characters
_HEADING = 140  # characters
_PICTURE = re.compile(r"\S(?: \S)+")  # a row of a board
_TEST = re.compile(r"(?:\d+ [a-z]+_\w+|#?\?).*")  # a test that was commented out
_SENTENCE = re.compile(r"\W*\w.*?[.!?](?=\s|$)", re.S)

_PLACE = "<!--place-->"  # where the place and the time of a card come
_template = Template("report/html/card.html")


class Cards:
    """The parts that cards of many engines for the same tests share: each is made once."""

    def __init__(self) -> None:
        self._made: dict[object, tuple[tuple[Markup, Markup], object]] = {}

    def card(self, *about: Any, **more: Any) -> Markup:
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
    actions: Markup = parts.NOTHING,
    cards: Cards | None = None,
) -> Markup:
    """Return the card of one result.

    ``log``: the GTP log; None if there is none. ``anchor``: what its name begins
    with, unique on the page together with the line. ``context``: what is told besides the answer;
    None: what the view knows. ``folder``: of the page; None if nothing is linked to. ``is_open``:
    whether it is unfolded. ``file``: the name of the case file; "": the page is about one.
    ``actions``: what else there is to do with it. ``cards``: of many engines, which show no times.
    """
    step, diagram = view.file.case.steps[outcome.step], view.boards.get(outcome.step)

    def make() -> tuple[Markup, Markup]:
        """Return the card without its place and time, which differ: what is before and after."""
        told, sided = context or contexts(view)(outcome.step), sides(view, outcome)
        heading, rest = _heading(view, outcome.step, told.comment)
        board, times, setup = "", parts.NOTHING, view.setups.get(outcome.step)
        if diagram:
            seen, komi = evidence(step, outcome, diagram), komi_of(view, outcome.step)
            board = figure(diagram, seen, view.legend, komi, step.command)
        if log and not cards and setup and outcome.verdict is Verdict.FAILED:
            times = parts.step_times(view.file, setup.first, outcome.step)
        address = ""  # of the file that was loaded, if it is there
        if told.loaded and folder is not None and os.path.isfile(told.loaded):
            address = quote(os.fsencode(os.path.relpath(told.loaded, folder)))
        name = os.path.basename(view.file.case.path).partition(".")[0] or "test"
        number = step.id if step.id >= 0 else f"line-{step.line}"
        # The expression, where it tells more and does not stand beside the expectation.
        pattern = ""
        if log and step.pattern and not expectation.is_literal(step.pattern):  # for authors
            is_shown = expectation.put_in_words(step.pattern).pattern
            pattern = "" if is_shown else step.pattern.text
        drawn = _template.card(
            kind=parts.KINDS.get(outcome.verdict, parts.LOOK),
            is_open=is_open,
            sign=parts.dot(outcome.verdict, outcome.flaky),
            heading=heading,
            command=one_line(step.text, _COMMAND),
            pill=parts.pill(outcome.verdict, outcome.flaky),
            place=Markup(_PLACE),
            size=" large" if diagram and is_large(diagram) else "" if diagram else " bare",
            anchor=f"{anchor}{step.line}",
            board=board,
            comment=_comment(rest, diagram is not None),
            sides=sided,
            count=view.counts.get(outcome.step),
            pattern=pattern,
            context=told,
            loaded=address,
            times=times,
            record=f"{name}-{number}.sgf" if diagram else "",
            log=log.at(step.line) if log else "",
            actions=actions,
        )
        begin, _, end = drawn.partition(_PLACE)
        return Markup(begin), Markup(end)

    key = context, log and log.at(step.line), anchor, folder, is_open, actions
    begin, end = cards.find(view, outcome, key, make) if cards else make()
    seconds = parts.times_in_words(outcome.reply.seconds) if outcome.reply else ""
    return begin + _template.place(file, step.line, seconds) + end


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


def _comment(text: str, has_board: bool) -> list[tuple[bool, str]]:
    """Return a test's comment: whether it is the picture of a board, and the lines of each part.

    Where the board is drawn, a second picture of it would only take room.
    """
    groups = groupby(text.splitlines(), lambda line: bool(_PICTURE.fullmatch(line)))
    parts = ((is_picture, "\n".join(lines)) for is_picture, lines in groups)
    return [one for one in parts if one[1].strip() and not (one[0] and has_board)]
