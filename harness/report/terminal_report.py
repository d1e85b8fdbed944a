"""The report for a reader at a terminal: what went wrong with a file, with boards."""

import textwrap
from collections.abc import Iterator

from harness.core.records import FileResult, Outcome, Repeat, Step, Verdict
from harness.core.text import escape_controls, number_of, one_line
from harness.reading.expectation import is_literal
from harness.report.difference import Segment, Side, Sides, sides
from harness.report.file_view import WORDS, FileView, breaks, crash_of, setup_errors
from harness.report.paint import VERDICTS, Paint, wrap
from harness.report.reporters import Context, contexts
from oracle.draw import Diagram, draw_text

_NO = Repeat()
_INDENT = "    "
_TEXT = 14  # column of the expectation and the reply
_SHOWN = 50  # results in full in one file; a broken engine would fill the screen many times
_WIDTH = 200  # characters of a command
_WRAP = 76  # characters in a line of a reason
_NARROWEST = 20  # columns that are left for a text
_TAIL = 5  # lines of standard error
_UNEXPECTED = (Verdict.FAILED, Verdict.NOT_JUDGED, Verdict.UNEXPECTED_PASS)


class Terminal:
    """Writes the parts of the report as text; ``unicode`` as the terminal can show it.

    ``patterns``: for an author of case files, who wants the expression beside what it stands for.
    ``repeat``: for the command lines that repeat tests. ``width``: columns of the terminal; 0 for
    a file or a pipe, where what engines say stays in one line.
    """

    def __init__(
        self,
        paint: Paint,
        *,
        unicode: bool = True,
        patterns: bool = False,
        repeat: Repeat = _NO,
        width: int = 0,
    ) -> None:
        self.paint = paint
        self.unicode = unicode
        self._patterns = patterns
        self._repeat = repeat
        self._room = max(width - _TEXT, _NARROWEST) if width else 0  # beside a label
        self._crashes: set[object] = set()  # those that were told, and need no second telling

    # --- one file ---

    def file(self, view: FileView) -> Iterator[str]:
        """Yield paragraphs about one file: results that were not expected, engine failures."""
        unexpected = [one for one in view.remarkable if one.flaky or one.verdict in _UNEXPECTED]
        above: Diagram | None = None
        context = contexts(view, self._repeat if unexpected else _NO)
        for outcome in unexpected[:_SHOWN]:
            yield self.result(view, outcome, context(outcome.step), above)
            above = view.boards.get(outcome.step)
        if len(unexpected) > _SHOWN:
            rest = len(unexpected) - _SHOWN
            yield f"{view.file.case.path}: {rest} more unexpected results are not shown here.\n"
        yield from self.failures(view.file)
        yield from self.notes(view.file)

    def result(
        self,
        view: FileView,
        outcome: Outcome,
        context: Context | None = None,
        last_board: Diagram | None = None,
    ) -> str:
        """Return a paragraph about one test.

        ``context``: None if it is not known yet. ``last_board``: the one that was drawn before.
        """
        context = context or contexts(view)(outcome.step)
        step = view.file.case.steps[outcome.step]
        comment = escape_controls(context.comment).splitlines()
        sign, word = WORDS[outcome.verdict]
        verdict = self.paint(VERDICTS.get(word, "dim"), f"{sign} {word}")
        flaky = self.paint("odd", " ~ flaky") if outcome.flaky else ""
        command = self.paint("bold", one_line(step.text, _WIDTH))
        place = self.paint("dim", _place(view.file, step.line))
        lines = [
            f"{verdict}{flaky}  {command}  {place}",
            *(self.paint("dim", f"{_INDENT}# {line}") for line in comment),
            *self._sides(step, sides(view, outcome)),
            *self._wrap("because", context.because),
            *self._board(view.boards.get(outcome.step), last_board),
            *self._label("loaded", context.loaded),
            *self._label("again", context.again),
        ]
        return "\n".join(lines) + "\n"

    def _label(self, label: str, text: str) -> Iterator[str]:
        if text:
            yield self.paint("dim", f"{_INDENT + label:{_TEXT}}{escape_controls(text)}")

    def _sides(self, step: Step, sides: Sides) -> Iterator[str]:
        yield from self._wrap("asked", sides.asked)
        carets = not sides.is_long
        yield from self._side("expected", sides.expected, with_carets=carets)
        if sides.got:
            yield from self._side("got", sides.got, with_carets=carets)
        yield from self._wrap("missing", sides.missing)
        yield from self._wrap("extra", sides.extra)
        pattern = step.pattern
        if pattern and (sides.expected.pattern or (self._patterns and not is_literal(pattern))):
            yield from self._side("pattern", Side((Segment(pattern.text, False),)))
        if sides.hint:
            for line in wrap(sides.hint, self._room):
                yield self.paint("dim", " " * _TEXT + line)

    def _wrap(self, label: str, sentences: str) -> Iterator[str]:
        width = min(self._room or _WRAP, _WRAP)
        for place, line in enumerate(textwrap.wrap(escape_controls(sentences), width)):
            yield f"{_INDENT + ('' if place else label):{_TEXT}}{line}"

    def _side(self, label: str, side: Side, *, with_carets: bool = True) -> Iterator[str]:
        """Yield a labelled text, its further lines under the first, and what it says."""
        said = (Segment(f" ({side.said})", False),) if side.said else ()
        shown = [(escape_controls(text), differs) for text, differs in side.segments + said]
        text = "".join(self._mark(text) if differs else text for text, differs in shown)
        lines = wrap(text, self._room)
        yield f"{_INDENT + label:{_TEXT}}{lines[0]}"
        yield from (" " * _TEXT + line for line in lines[1:])
        is_in_part = not all(differs for _, differs in side.segments)
        if with_carets and is_in_part and len(lines) == 1 and not self.paint.on:
            carets = "".join(("^" if differs else " ") * len(text) for text, differs in shown)
            if carets.strip():
                yield " " * _TEXT + carets.rstrip()

    def _mark(self, text: str) -> str:
        """Reverse the colors of words, not of the blanks and line ends after them."""
        words = text.rstrip()
        lines = [self.paint("mark", line) if line.strip() else line for line in words.split("\n")]
        return "\n".join(lines) + text[len(words) :]

    def _board(self, diagram: Diagram | None, last_board: Diagram | None) -> Iterator[str]:
        if diagram is None:
            return
        if last_board and _looks(last_board) == _looks(diagram):
            yield self.paint("dim", f"{_INDENT}(the same board)")
            return
        plain = Diagram(diagram.position, diagram.last, diagram.marks, letters=diagram.letters)
        drawn = draw_text(plain, unicode=self.unicode)
        yield from (_INDENT + line for line in self.paint.board(drawn).splitlines())
        if caption := f"{_INDENT}{escape_controls(diagram.caption)}".rstrip():
            yield self.paint("dim", caption)

    def notes(self, file: FileResult) -> Iterator[str]:
        """Yield what is odd about the file as a whole, and yet costs no test."""
        refused = setup_errors(file)
        if refused:
            step, reply = file.case.steps[refused[0]], file.replies[refused[0]]
            count = f"{number_of(len(refused), 'setup command')} refused"
            example = f"{one_line(step.text, 60)} → {one_line(reply.raw, 60) if reply else ''}"
            place = _place(file, step.line)
            yield self._prose(f"{self.paint('warn', '! ' + count)}, first {place}: {example}")
        for warning in file.warnings:
            shown = escape_controls(warning)
            yield self._prose(f"{self.paint('warn', '! protocol')}  {file.case.path}: {shown}")

    def _prose(self, text: str) -> str:
        """Return a paragraph, wrapped at words on a terminal."""
        width = self._room and self._room + _TEXT - len(_INDENT)
        return f"\n{_INDENT}".join(wrap(text, width)) + "\n"

    def failures(self, file: FileResult) -> Iterator[str]:
        """Yield a paragraph about each time that the engine failed."""
        for left, one in zip(range(len(file.failures) - 1, -1, -1), breaks(file), strict=True):
            failure, crash = one.failure, crash_of(one.failure)
            told, is_known = escape_controls(failure.message), crash in self._crashes
            tail = []
            if not left and not is_known:
                tail = escape_controls(file.stderr).rstrip().splitlines()[-_TAIL:]
            if len(tail) == 1 and tail[0] in told:
                tail = []  # its last words, and nothing else
            self._crashes.add(crash)
            place = file.case.path
            if one.step:
                place = f"{_place(file, one.step.line)}: {one_line(one.step.text, _WIDTH)}"
            lines = [
                f"{self.paint('bad', '✗ ENGINE ' + failure.kind.value)}  {place}",
                self._prose(_INDENT + ("In the same way as above." if is_known else told))[:-1],
            ]
            if one.not_run:
                lines.append(f"{_INDENT}{number_of(one.not_run, 'test')} not run")
            if one.goes_on:
                again = _place(file, one.goes_on.line)
                lines.append(f"{_INDENT}The engine was started again at {again}.")
            lines += [self.paint("dim", f"{_INDENT}stderr: {line}") for line in tail]
            yield "\n".join(lines) + "\n"


def _looks(diagram: Diagram) -> tuple[object, ...]:
    return diagram.position, diagram.last, diagram.marks


def _place(file: FileResult, line: int) -> str:
    return f"{file.case.path}:{line}"
