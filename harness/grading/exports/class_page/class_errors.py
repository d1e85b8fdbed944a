"""Errors of the class: a card for each, with a board and a sentence to say in the lecture."""

from functools import cached_property
from types import SimpleNamespace

from harness.core.records import Outcome
from harness.core.text import count_rest, number_of, one_line
from harness.grading.exports.class_page import parts
from harness.grading.marks.findings import CommonError, WrongAnswers, common_errors
from harness.reading.expectation import examples, in_words
from harness.report.board_evidence import evidence
from harness.report.difference import sides
from harness.report.html.board_drawing import board
from harness.report.html.card import title
from harness.report.html.templates import Markup, Template
from harness.report.reporters import contexts

_CARDS, _FEW = 12, 4  # errors shown with a board: of several submissions, else so many
_NAMED = 12  # submissions with one of them
_ANSWER = 60  # characters
_HEADING = 160  # characters
_template = Template("grading/exports/class_page/errors.html")
_LOOKED = 8  # answers among which the example is chosen


class _Example:
    """A wrong answer, with its board and reason."""

    def __init__(self, answer: WrongAnswers, overview: parts.ClassOverview) -> None:
        self.answer, self.test = answer, answer.example
        listed = overview.summaries.get(answer.keys[0], ())
        views = (each.view for each in listed if each.attempt is self.test.attempt)
        self.view = view = next(views, None)
        result = self.test.attempt.result
        assert result is not None
        steps, line = result.case.steps, self.test.step.line
        here = (one for one in result.outcomes if steps[one.step].line == line)
        self.outcome: Outcome | None = next(here, None)
        self.index = self.outcome.step if self.outcome else -1
        self.because = view.reasons.get(self.index, "") if view else ""
        self.diagram = view.boards.get(self.index) if view else None

    @property
    def rank(self) -> tuple[bool, int, bool, bool, int]:
        """Sort key: the least is the best."""
        size = self.diagram.position.grid.rows if self.diagram else 0
        has_answer, has_board = self.test.reply is not None, self.diagram is not None
        return not has_answer, -len(self.answer.keys), not has_board, not self.because, size

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

    @cached_property
    def words(self) -> tuple[str, str]:
        """Right answer and reply in plain words; "" if there are none."""
        if self.view is None or self.outcome is None:
            return "", ""
        both = sides(self.view, self.outcome)
        expected, got = both.expected, both.got
        return expected.said if expected else "", got.said if got else ""

    def board(self) -> Markup | str:
        """Return the board, with what is right and what came on it."""
        if self.diagram is None or self.outcome is None:
            return ""
        return board(self.diagram, evidence(self.test.step, self.outcome, self.diagram))


def section(overview: parts.ClassOverview) -> Markup | str:
    """Return the section; nothing where nobody was wrong."""
    found = common_errors(overview.result.graded, overview.tests)
    if not found:
        return ""
    several = sum(len(one.keys) > 1 for one in found)
    cut = min(max(several, _FEW), _CARDS)
    return _template.section(
        graded=len(overview.graded),
        cards=[_describe(one, overview, in_full=True) for one in found[:cut]],
        lines=[_describe(one, overview, in_full=False) for one in found[cut:]],
    )


def _describe(
    error: CommonError, overview: parts.ClassOverview, *, in_full: bool
) -> SimpleNamespace:
    """Return what there is to be said of an error; ``in_full``: with its best example."""
    answers = error.answers[: _LOOKED if in_full else 1]
    found = [_Example(answer, overview) for answer in answers]
    example = min(found, key=lambda each: each.rank, default=None)
    if error.diagnosis:
        heading = error.diagnosis.reasons[:1].upper() + error.diagnosis.reasons[1:]
    else:
        assert example is not None
        heading = example.heading
    names = []
    for key in error.keys[:_NAMED]:
        graded, anchor = overview.graded[key], ""
        if in_full and example and key in example.answer.keys:
            anchor = parts.test_anchor(graded, example.test.key, example.test.verdict)
        names.append((parts.evidence_address(graded, anchor), parts.format_students(graded)))
    told = SimpleNamespace(
        title=one_line(heading, _HEADING),
        example=example,
        board="",
        count=len(error.keys),
        names=names,
        rest=count_rest(len(error.keys) - _NAMED, " and {} more"),
    )
    if example and in_full:
        right, came = example.words
        told.board = example.board()
        told.right, told.came = right or example.expected, came or example.got
        told.is_code = not (right and came)
        told.place, told.sentence = _place(error, example), _sentence(error, example)
    return told


def _place(error: CommonError, example: _Example) -> str:
    """Return where the example stands, both answers as they are written, and how many others."""
    test = example.test
    told = [f"{test.attempt.case}:{test.step.line}"]
    if any(example.words):
        told.append(f"{example.expected} → {example.got}")
    others = len(error.answers) - 1
    if others and not error.diagnosis:
        told.append(f"equal answers to {number_of(others, 'other test')}")
    return " · ".join(told)


def _sentence(error: CommonError, example: _Example) -> str:
    """Return what is to be said in the lecture."""
    pairs = zip(example.words, (example.right, example.got), strict=True)
    right, got = (f"“{words}”" if words else text for words, text in pairs)
    if error.diagnosis and len(error.diagnosis.sets) == len(error.diagnosis.sets[0]) == 1:
        clause = error.diagnosis.reasons.removeprefix("as if ").partition(":")[0]
        answer = f"the answer here would be {got}"
        if example.test.reply is None:
            answer = "there would be no answer here"
        return f"If {clause}, {answer}. It is {right}."
    return f"{len(example.answer.keys)} of you answered {got} here. Right is {right}."
