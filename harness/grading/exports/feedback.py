"""The page for a student: the mark and its parts, each failed test, how to repeat it at home.

It is made only from a :class:`~harness.grading.exports.showing.Feedback`, which has nothing that
the student must not see. It is one file: its style is inside, it loads nothing, and the script of
all pages adds only reactions to clicks.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace

from harness.core.records import Repeat, Verdict
from harness.core.text import escape_controls, one_line
from harness.grading import records
from harness.grading.exports.exporters import Files, Material, Shown, as_file
from harness.grading.exports.showing import STATIC, Feedback
from harness.report.file_view import FileView
from harness.report.html.card import Cards, legend_on_paper
from harness.report.html.page_names import read_style
from harness.report.html.parts import NOTHING, Crashes, PageFrame, badge, in_words, page, troubles
from harness.report.html.templates import Markup, Template, join
from harness.report.reporters import contexts
from harness.report.tally import total

_STYLE = read_style(STATIC / "student.css")
_COMMAND = 120  # characters
_REPLY = 60  # characters of a right one
_OPEN = 3  # failed tests that are unfolded
_CARDS = 60  # tests in full of one kind
_NO_REPEAT = Repeat()
_student = Template("grading/exports/student.html")
_feedback = Template("grading/exports/feedback.html", badge=badge)


def files(material: Material) -> Files:
    """Yield a page for each student."""
    for student, content in material.pages:
        yield f"feedback/{student.key}.html", content


def pages(result: records.ClassResult, shown: Shown) -> Iterator[tuple[records.Student, bytes]]:
    """Yield all students with their pages, as they are written."""
    cards = Cards()
    for one in result.graded:
        about = shown[one.submission.key]
        body = body_of(about, cards)
        for student in one.submission.students:
            own = body
            if given := result.get_given_mark(student):  # by a person
                marks = records.counting_mark(about.marks, given)
                own = body_of(about._replace(marks=marks), cards)
            yield student, as_file(student_page(about.title, student.name, own))


def student_page(title: str, student: str, body: Markup) -> Iterator[str]:
    """Yield the page of a student of this name; ``body`` comes from :func:`body_of`."""
    whole = _student.whole(title, student, body)
    frame = PageFrame(boards='<details class="card test"' in body, script=True, style=_STYLE)
    return page(f"{title}: {student}", [whole], frame)


def unsafe(is_so: bool) -> Markup:
    """Return the warning that there was no sandbox, if there was none."""
    return _student.unsafe() if is_so else NOTHING


def body_of(feedback: Feedback, cards: Cards | None = None) -> Markup:
    """Return all of a page that the members of a group have in common: all but their names.

    With the same ``cards`` the pages of others are made sooner.
    """
    made = cards or Cards()
    time = f"{feedback.time:%Y-%m-%d %H:%M}" if feedback.time else ""
    group = f"by a group of {feedback.members}" if feedback.members > 1 else ""
    return _feedback.body(
        shown=feedback,
        unsafe=unsafe(feedback.is_unsafe),
        mark=_mark(feedback.marks),
        public=_tests(feedback.public, "P", feedback.home.repeat, made),
        private=_tests(feedback.private_files, "S", _NO_REPEAT, made),
        private_passed=sum(test.verdict is Verdict.PASSED for test in feedback.private),
        are_commands_shown=any(test.command for test in feedback.private),
        submission=(
            ("File", one_line(feedback.name)),
            ("Submitted", ", ".join(filter(None, (time, group, "late" if feedback.late else "")))),
            ("SHA-256", feedback.sha256),
        ),
    )


# --- the mark ----------------------------------------------------------------------------------

_BEGIN, _END = "<!--mark-->", "<!--/mark-->"
_OPEN_END = " What could not be judged does not count."


def _mark(marks: records.Marks) -> Markup:
    if marks.withheld:
        return _student.withheld(marks.note) if marks.note else NOTHING
    parts = [
        SimpleNamespace(
            name=part.name,
            points=records.decimal(part.points),
            of=records.decimal(part.of),
            share=_percent(part.points, part.of),
            reason=part.reason + ("" if part.complete else _OPEN_END),
        )
        for part in marks.parts
        if part.of or part.points
    ]
    if marks.deduction:
        late = f"−{records.decimal(marks.deduction)}"
        parts.append(
            SimpleNamespace(name="Late", points=late, of="", reason=marks.deduction_reason)
        )
    share = _percent(marks.total, marks.of)
    total, of = records.decimal(marks.total), records.decimal(marks.of)
    return _student.mark(marks.note, total, of, share, parts)


def put_mark(content: str, marks: records.Marks) -> str:
    """Return a page with other marks; one that a former version wrote stays as it is."""
    before, begin, rest = content.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    shown = escape_controls(_mark(marks))
    return f"{before}{begin}{shown}{end}{after}" if end else content


def _percent(points: Fraction, of: Fraction) -> str:
    share = 100 * points / of if of else Fraction(0)
    return records.decimal(min(max(share, Fraction(0)), Fraction(100)), 0)


# --- tests -------------------------------------------------------------------------------------


def _tests(
    views: Sequence[FileView], anchor: str, repeat: Repeat, cards: Cards
) -> SimpleNamespace | None:
    """Results of case files: failures first and in full, then what passed."""
    if not views:
        return None
    shown = []  # what failed first, in the order of the files: a view, its outcome, and its places
    for number, seen in enumerate(views, 1):
        around = contexts(seen, repeat)
        shown += [(seen, one, f"{anchor}{number}L", around) for one in seen.remarkable]
    shown.sort(key=lambda each: each[1].verdict is not Verdict.FAILED)
    files = [seen.file for seen in views]
    crashes = Crashes(files)
    found, passed = [], []  # of each file: its name with its troubles, and with passed tests
    for file in files:
        found.append((file.case.path, join("", troubles(file, crashes=crashes))))
        plain = (one for one in file.outcomes if one.verdict is Verdict.PASSED and not one.flaky)
        pairs = ((file.case.steps[one.step].text, one.reply) for one in plain)
        lines = [_line(text, reply.text if reply else "") for text, reply in pairs]
        if lines:
            passed.append((file.case.path, lines))
    return SimpleNamespace(
        counts=in_words(total([seen.tally for seen in views])),
        troubles=[one for one in found if one[1]],
        legend=legend_on_paper(views),
        cards=[
            cards.card(
                view,
                one,
                anchor=name,
                context=context_of(one.step),
                is_open=place < _OPEN,
                file=view.file.case.path,
            )
            for place, (view, one, name, context_of) in enumerate(shown[:_CARDS])
        ],
        others=[  # that do not fit: verdict, command and place
            (
                badge(one.verdict, one.flaky),
                one_line(step.text, _COMMAND),
                f"{view.file.case.path}, line {step.line}",
            )
            for view, one, _, _ in shown[_CARDS:]
            for step in [view.file.case.steps[one.step]]
        ],
        passed_count=sum(len(lines) for _, lines in passed),
        passed=passed,
    )


@lru_cache(1024)  # most of a class answers the same
def _line(command: str, answer: str) -> Markup:
    return _student.passed(one_line(command, _COMMAND), one_line(answer, _REPLY))
