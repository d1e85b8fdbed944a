"""Errors of the class: a card for each, with a board and a sentence to say in the lecture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from harness.grading.exports.class_page.parts import ClassOverview, link_names, test_anchor
from harness.grading.exports.showing import CaseSummary
from harness.grading.marks.findings import CommonError, WrongAnswers, common_errors
from harness.grading.records import Graded
from harness.reading.expectation import examples, in_words
from harness.records import Outcome
from harness.report.board_evidence import evidence
from harness.report.difference import Sides, sides
from harness.report.file_view import FileView
from harness.report.html.board_drawing import board
from harness.report.html.card import title
from harness.report.html.parts import both_sides
from harness.report.markup import NOTHING, Markup, join_markup
from harness.report.reporters import contexts
from harness.text import count_rest, number_of, one_line

_CARDS, _FEW = 12, 4  # errors shown with a board: of several submissions, else so many
_NAMED = 12  # submissions with one of them
_ANSWER = 60  # characters
_HEADING = 160  # characters
_LOOKED = 8  # answers among which the example is chosen

_SECTION = Markup(
    '<section aria-labelledby="wrong"><div class="sec-h"><h2 id="wrong">What the class got wrong'
    '</h2><p class="sub">the mistake behind the answers, or equal wrong answers, by how many; with'
    ' a sentence for the lecture</p></div><div class="wrs">%s</div>%s</section>\n'
)
_CARD = Markup(
    '<article class="card wr%s">%s<div><div class="sec-h"><h3>%s</h3> '
    '<span class="pill">%s</span></div>%s'
    '<p class="sub">%s</p></div></article>\n'
)
_LINE = Markup('<li>%s <span class="pill">%s of %s</span> <span class="sub">%s</span></li>\n')
_MORE = Markup(
    '<details class="card"><summary>%s</summary><ul class="pad more-w">%s</ul></details>\n'
)
_SHOWN = Markup('<p>%s</p><p class="sub">%s</p>')
_SAY = Markup("<blockquote><p>%s</p>%s</blockquote>")
_BECAUSE = Markup('<p class="sub">%s</p>')


class _Example:
    """A wrong answer, with its board and reason."""

    def __init__(self, answer: WrongAnswers, view: FileView | None) -> None:
        self.answer, self.test = answer, answer.example
        self.view = view
        self.outcome, self.index = self._find()
        self.because = view.reasons.get(self.index, "") if view else ""
        self.diagram = view.boards.get(self.index) if view else None

    def _find(self) -> tuple[Outcome | None, int]:
        result = self.test.attempt.result
        assert result is not None
        for outcome in result.outcomes:
            if result.case.steps[outcome.step].line == self.test.step.line:
                return outcome, outcome.step
        return None, -1

    @property
    def rank(self) -> tuple[bool, int, bool, bool, int]:
        """How well it serves: the least is the best."""
        size = self.diagram.position.grid.rows if self.diagram else 0
        reply = self.test.reply
        return (
            reply is None,
            -len(self.answer.keys),
            self.diagram is None,
            not self.because,
            size,
        )

    @property
    def heading(self) -> str:
        """The name of the test: its comment, else its command."""
        if self.view is None or self.index < 0:
            return one_line(self.test.step.command, _ANSWER)
        return title(self.view, self.index, contexts(self.view)(self.index).comment)

    @property
    def expected(self) -> str:
        """The right answers, as the test has them."""
        return one_line(in_words(self.test.step.pattern), _ANSWER)

    @property
    def right(self) -> str:
        """The first right answer."""
        pattern = self.test.step.pattern
        texts = () if pattern is None or pattern.negated else examples(pattern.expression).texts
        return one_line(texts[0], _ANSWER) if texts and texts[0] else self.expected

    @property
    def got(self) -> str:
        """The answer that came, in words."""
        reply = self.test.reply
        if reply is None:
            return "no answer"
        text = one_line(reply.text, _ANSWER) or "(empty)"
        return text if reply.ok else f"the error {text}"

    @property
    def words(self) -> tuple[str, str]:
        """What the right answer says and what came, in plain words; "" if there are none."""
        if self._sides is None:
            return "", ""
        expected, got = self._sides.expected, self._sides.got
        return expected.said if expected else "", got.said if got else ""

    @cached_property
    def _sides(self) -> Sides | None:
        if self.view is None or self.outcome is None:
            return None
        return sides(self.view, self.outcome)

    def picture(self) -> Markup:
        """Return the board, with what is right and what came on it."""
        if self.diagram is None or self.outcome is None:
            return NOTHING
        seen = evidence(self.test.step, self.outcome, self.diagram)
        return Markup("<figure>%s</figure>") % board(self.diagram, seen)


def section(known: ClassOverview) -> Markup:
    """Return the section; nothing where nobody was wrong."""
    found = common_errors(known.result.graded, known.tests)
    if not found:
        return NOTHING
    several = sum(len(one.keys) > 1 for one in found)
    cut = min(max(several, _FEW), _CARDS)
    cards, rest = join_markup(_card(one, known) for one in found[:cut]), found[cut:]
    lines = join_markup(_line(one, known) for one in rest)
    return _SECTION % (
        cards,
        _MORE % (f"{len(rest)} more of fewer submissions", lines) if rest else NOTHING,
    )


def has_boards(known: ClassOverview) -> bool:
    """Whether there may be boards on the page."""
    return any(one.view.boards for listed in known.seen.values() for one in listed)


def _card(one: CommonError, known: ClassOverview) -> Markup:
    found = [_Example(answer, _view(answer, known.seen)) for answer in one.answers[:_LOOKED]]
    example = min(found, key=lambda each: each.rank, default=None)
    picture = example.picture() if example else NOTHING
    return _CARD % (
        NOTHING if picture else " hard",
        picture,
        _title(one, example),
        f"{len(one.keys)} of {len(known.graded)}",
        _explain(one, example) if example else NOTHING,
        _names(one.keys, known.graded, example),
    )


def _view(answer: WrongAnswers, seen: Mapping[str, Sequence[CaseSummary]]) -> FileView | None:
    listed = seen.get(answer.keys[0], ())
    return next((each.view for each in listed if each.attempt is answer.example.attempt), None)


def _title(one: CommonError, example: _Example | None) -> str:
    if one.diagnosis:
        reasons = one.diagnosis.reasons
        return one_line(reasons[:1].upper() + reasons[1:], _HEADING)
    assert example is not None
    return one_line(example.heading, _HEADING)


def _explain(one: CommonError, example: _Example) -> Markup:
    """Return the example and the sentence about it."""
    right, came = example.words
    pair = right or example.expected, came or example.got
    both = both_sides(*pair, is_code=not (right and came))
    shown = _SHOWN % (both, _place(one, example))
    because = _BECAUSE % example.because if example.because else NOTHING
    return shown + _SAY % (_sentence(one, example), because)


def _place(one: CommonError, example: _Example) -> str:
    """Return where the example stands, both answers as they are written, and how many others."""
    test = example.test
    told = [f"{test.attempt.case}:{test.step.line}"]
    if any(example.words):
        told.append(f"{example.expected} → {example.got}")
    others = len(one.answers) - 1
    if others and not one.diagnosis:
        told.append(f"equal answers to {number_of(others, 'other test')}")
    return " · ".join(told)


def _sentence(one: CommonError, example: _Example) -> str:
    """Return what is to be said in the lecture."""
    right, got = map(_quote, example.words, (example.right, example.got))
    if one.diagnosis and len(one.diagnosis.sets) == len(one.diagnosis.sets[0]) == 1:
        clause = one.diagnosis.reasons.removeprefix("as if ").partition(":")[0]
        has_reply = example.test.reply is not None
        answer = (
            f"the answer here would be {got}" if has_reply else "there would be no answer here"
        )
        return f"If {clause}, {answer}. It is {right}."
    return f"{len(example.answer.keys)} of you answered {got} here. Right is {right}."


def _quote(words: str, written: str) -> str:
    return f"“{words}”" if words else written


def _names(keys: Sequence[str], graded: Mapping[str, Graded], example: _Example | None) -> Markup:
    """Return the names, each with a link to the example if it failed that way."""
    failed = example.answer.keys if example else ()
    listed = [_name(graded[key], example if key in failed else None) for key in keys[:_NAMED]]
    return Markup(", ").join(listed) + count_rest(len(keys) - _NAMED, " and {} more")


def _name(one: Graded, example: _Example | None) -> Markup:
    if example is None:
        return link_names(one)
    return link_names(one, test_anchor(one, example.test.key, example.test.verdict))


def _line(one: CommonError, known: ClassOverview) -> Markup:
    example = None
    if one.answers:
        example = _Example(one.answers[0], _view(one.answers[0], known.seen))
    names = _names(one.keys, known.graded, None)
    return _LINE % (_title(one, example), len(one.keys), len(known.graded), names)
