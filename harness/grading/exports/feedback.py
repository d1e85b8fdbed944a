"""The page for a student: the mark and its parts, each failed test, how to repeat it at home.

It is made only from a :class:`~harness.grading.exports.showing.Feedback`, which has nothing that
the student must not see. It is one file: its style is inside, it loads nothing, and the script of
all pages adds only reactions to clicks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from harness.assignments.public_tests import AtHome
from harness.grading import records
from harness.grading.exports.showing import (
    STATIC,
    Feedback,
    Files,
    Material,
    PrivateTest,
    Shown,
    as_file,
)
from harness.records import Diagnosis, Outcome, Repeat, Verdict
from harness.report.file_view import WORDS, FileView
from harness.report.html.card import Cards, legend_on_paper
from harness.report.html.page_names import read_style
from harness.report.html.parts import (
    PageFrame,
    as_class,
    badge,
    box,
    command_line,
    facts,
    in_words,
    items,
    keys,
    page,
)
from harness.report.html.trouble import Crashes, troubles
from harness.report.markup import NOTHING, Markup, escape, join_markup
from harness.report.reporters import Contexts, contexts
from harness.report.tally import total
from harness.text import count_rest, escape_controls, number_of, one_line

_STYLE = read_style(STATIC / "student.css")
_COMMAND = 120  # characters
_REPLY = 60  # characters of a right one
_OPEN = 3  # failed tests that are unfolded
_CARDS = 60  # tests in full of one kind
_NAMED = 40  # others, by name
_UNSAFE = (
    "Submissions were run without protection from each other. Do not "
    "trust these results as you would others."
)
_NO_REPEAT = Repeat()


def files(material: Material) -> Files:
    """Yield a page for each student."""
    for student, content in material.pages:
        yield f"feedback/{student.key}.html", content


def pages(result: records.ClassResult, shown: Shown) -> Iterator[tuple[records.Student, bytes]]:
    """Yield all students with their pages, as they are written."""
    cards = Cards()
    for one in result.graded:
        about = shown[one.submission.key]
        body = join_markup(body_of(about, cards))
        for student in one.submission.students:
            given = result.get_given_mark(student)
            own = _with_mark(about, given, cards) if given else body
            yield student, as_file(student_page(about.title, student.name, own))


def _with_mark(shown: Feedback, given_mark: records.GivenMark, cards: Cards) -> Markup:
    """Return the page of a student whose mark a person changed."""
    return join_markup(
        body_of(shown._replace(marks=records.counting_mark(shown.marks, given_mark)), cards)
    )


def student_page(title: str, student: str, body: Markup) -> Iterator[str]:
    """Yield the page of a student of this name; ``body`` comes from :func:`body_of`.

    ``title``: of the assignment.
    """
    head = Markup('<p class="sub">%s</p><h1>%s</h1>\n') % (title, student)
    frame = PageFrame(boards='<details class="card test"' in body, script=True, style=_STYLE)
    return page(f"{title}: {student}", (head, body), frame)


def unsafe(is_so: bool) -> Markup:
    """Return the warning that there was no sandbox, if there was none."""
    return (
        box("Run without a sandbox", Markup("<p>%s</p>") % _UNSAFE, "unsafe") if is_so else NOTHING
    )


def body_of(shown: Feedback, cards: Cards | None = None) -> Iterator[Markup]:
    """Yield all of a page that the members of a group have in common: all but their names.

    With the same ``cards`` the pages of others are made sooner.
    """
    made = cards or Cards()
    yield from (
        unsafe(shown.is_unsafe),
        _BEGIN + _marks(shown.marks) + _END,
        (
            box("Nothing was graded", Markup("<p>%s</p>") % shown.refused)
            if shown.refused
            else NOTHING
        ),
        (box("What is wrong with the files", items(shown.faults)) if shown.faults else NOTHING),
        *map(_diagnosis, shown.diagnoses),
        _build(shown),
    )
    yield from _tests("Public tests", shown.public, "P", shown.home.repeat, made)
    yield from _private(shown, made)
    if shown.public:
        yield _at_home(shown.home)
    yield _render_submission(shown)
    python = f" Your program was run by {shown.python}." if shown.python else ""
    yield Markup('<p class="sub end">Graded with gtp-harness %s.%s</p>') % (shown.version, python)


# --- the mark ----------------------------------------------------------------------------------

_BEGIN, _END = Markup("<!--mark-->"), Markup("<!--/mark-->")
_HERO = Markup(
    '<div class="card hero mark"><div><p class="big"><b class="n"><span class="vh">Mark: </span>%s'
    '</b> <span>of %s</span></p>%s%s</div><ul class="pts">%s</ul></div>\n'
)
_PART = Markup(
    '<li><span class="pn">%s</span><span class="num"><b>%s</b>%s</span>%s<span class="sub">%s'
    "</span></li>"
)
_OF = Markup(' <span class="sub">of %s</span>')
_AMOUNT = Markup(
    '<span class="bar" aria-hidden="true"><i class="a" style="width:%s%%"></i></span>'
)


def _marks(marks: records.Marks) -> Markup:
    if marks.withheld:
        return box("Note", Markup("<p>%s</p>") % marks.note, "warn") if marks.note else NOTHING
    parts = [_part(part) for part in marks.parts if part.of or part.points]
    if marks.deduction:
        late = f"−{records.decimal(marks.deduction)}"
        parts.append(_PART % ("Late", late, NOTHING, NOTHING, marks.deduction_reason))
    note = Markup('<p class="sub">%s</p>') % marks.note if marks.note else NOTHING
    return _HERO % (
        records.decimal(marks.total),
        records.decimal(marks.of),
        _amount(marks.total, marks.of),
        note,
        join_markup(parts),
    )


def put_mark(content: str, marks: records.Marks) -> str:
    """Return a page with other marks; one that a former version wrote stays as it is."""
    before, begin, rest = content.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    shown = escape_controls(_marks(marks))
    return f"{before}{begin}{shown}{end}{after}" if end else content


def _part(part: records.PartMark) -> Markup:
    open_end = "" if part.complete else " What could not be judged does not count."
    return _PART % (
        part.name,
        records.decimal(part.points),
        _OF % records.decimal(part.of),
        _amount(part.points, part.of),
        part.reason + open_end,
    )


def _amount(points: Fraction, of: Fraction) -> Markup:
    share = 100 * points / of if of else Fraction(0)
    return _AMOUNT % records.decimal(min(max(share, Fraction(0)), Fraction(100)), 0)


# --- the submission ----------------------------------------------------------------------------


_EXPLAINED = Markup('<section class="call"><h2>%s</h2>%s</section>\n')
_ANSWERS = Markup("<p>Your program answers <b>%s</b>.</p>")
_ONE_OF = Markup("<p>Your program answers in one of these ways, the likeliest first:</p>%s")


def _diagnosis(one: Diagnosis) -> Markup:
    """Return what would explain the failures of the public tests."""
    count = len(one.sets[0])
    mistakes = "One mistake" if count == 1 else f"{count} mistakes together"
    if one.failures < one.total:
        explained = f"{one.failures} of {one.total} failures"
    else:
        explained = f"all {one.total} failures" if one.total > 1 else "the failure"
    is_one = len(one.sets) == 1
    answers = _ANSWERS % one.reasons if is_one else _ONE_OF % items(one.alternatives)
    return _EXPLAINED % (f"{mistakes} would explain {explained}", answers)


def _build(shown: Feedback) -> Markup:
    build = shown.build
    if build is None:
        return NOTHING
    output = (
        Markup('<pre tabindex="0">%s</pre>') % build.output if build.output.strip() else NOTHING
    )
    if not build.ok:
        return box("It does not build", Markup("<p>%s</p>%s") % (build.message, output))
    return _fold_card("It was built", "output", output) if output else NOTHING


def _render_submission(shown: Feedback) -> Markup:
    if not shown.name and not shown.sha256:
        return NOTHING
    time = f"{shown.time:%Y-%m-%d %H:%M}" if shown.time else ""
    group = f"by a group of {shown.members}" if shown.members > 1 else ""
    known = facts(
        (
            ("File", one_line(shown.name)),
            ("Submitted", ", ".join(filter(None, (time, group, "late" if shown.late else "")))),
            ("SHA-256", shown.sha256),
        )
    )
    remarks = items(shown.remarks) if shown.remarks else NOTHING
    said = known + remarks + _log(shown.log)
    return _fold_card("What you submitted", one_line(shown.name, _COMMAND), said)


def _log(log: records.CheckLog | None) -> Markup:
    """What speaks for the test before submitting, as a list of signs and words."""
    if log is None:
        return NOTHING
    evidence = (
        ("a terminal's transcript", log.transcript),
        ("shows the archive unpacked", log.unpacked),
        ("shows the run and its result", log.ran),
    )
    listed = join_markup(
        Markup("<li>%s %s</li>") % ("✓" if is_so else "✗", words) for words, is_so in evidence
    )
    shown = Markup('<ul class="dots">%s</ul>') % listed if log.present else NOTHING
    told = items(filter(None, (*log.remarks, log.receipt)))
    return Markup("<h3>The log of your own test</h3>%s%s") % (shown, told)


_FOLDED = Markup(
    '<details class="card fold"><summary>%s <span class="sub">%s</span></summary>'
    '<div class="in">%s</div></details>\n'
)


def _fold_card(title: str | Markup, more: str, body: Markup) -> Markup:
    """Return a card that is opened by a click."""
    return _FOLDED % (title, more, body)


# --- tests -------------------------------------------------------------------------------------

_SECTION = Markup('<section aria-label="%s"><div class="sec-h"><h2>%s</h2>%s%s</div>\n')


class _Shown(NamedTuple):
    """A test that did not plainly pass."""

    view: FileView
    outcome: Outcome
    anchor: str  # of its case file
    contexts: Contexts  # of that


def _tests(
    title: str, views: Sequence[FileView], anchor: str, repeat: Repeat, cards: Cards
) -> Iterator[Markup]:
    """What happened to case files: what went wrong first and in full, then what passed."""
    if not views:
        return
    shown = []  # what failed first, in the order of the files
    for number, seen in enumerate(views, 1):
        around = contexts(seen, repeat)
        shown += [_Shown(seen, one, f"{anchor}{number}L", around) for one in seen.remarkable]
    shown.sort(key=lambda one: one.outcome.verdict is not Verdict.FAILED)
    counts = in_words(total([seen.tally for seen in views]))
    yield _SECTION % (title, title, counts, keys() if shown else NOTHING)
    crashes = Crashes(seen.file for seen in views)
    for seen in views:
        found = join_markup(troubles(seen.file, crashes=crashes))
        if found:
            yield Markup('<h3 class="file">%s</h3>%s') % (seen.file.case.path, found)
    yield legend_on_paper(views)
    for place, one in enumerate(shown[:_CARDS]):
        yield cards.card(
            one.view,
            one.outcome,
            anchor=one.anchor,
            context=one.contexts(one.outcome.step),
            is_open=place < _OPEN,
            file=one.view.file.case.path,
        )
    yield _others(shown[_CARDS:])
    yield _list_passed(views)
    yield Markup("</section>\n")


def _others(shown: Sequence[_Shown]) -> Markup:
    """Return the names of tests that do not fit."""
    if not shown:
        return NOTHING
    listed: list[Markup | str] = []
    for one in shown[:_NAMED]:
        case, outcome = one.view.file.case, one.outcome
        step = case.steps[outcome.step]
        sign, place = badge(outcome.verdict, outcome.flaky), f"{case.path}, line {step.line}"
        text = one_line(step.text, _COMMAND)
        listed.append(Markup("%s <code>%s</code> %s") % (sign, text, place))
    rest = count_rest(len(shown) - _NAMED, "and {} more")
    told = items([*listed, rest] if rest else listed)
    return _fold_card(number_of(len(shown), "more test"), "", told)


def _list_passed(views: Sequence[FileView]) -> Markup:
    """Return what plainly passed, file by file."""
    found = [(seen, list(filter(_is_plain, seen.file.outcomes))) for seen in views]
    count = sum(len(outcomes) for _, outcomes in found)
    if not count:
        return NOTHING
    listed = join_markup(
        _render_passed_tests(seen, outcomes) for seen, outcomes in found if outcomes
    )
    title = Markup('<span class="dot p"></span>%s passed') % number_of(count, "test")
    return _fold_card(title, "what was asked, and your answers", listed)


def _is_plain(outcome: Outcome) -> bool:
    return outcome.verdict is Verdict.PASSED and not outcome.flaky


def _render_passed_tests(seen: FileView, outcomes: Sequence[Outcome]) -> Markup:
    steps = seen.file.case.steps
    listed = join_markup(
        _line(steps[one.step].text, one.reply.text if one.reply else "") for one in outcomes
    )
    return Markup('<h3 class="file">%s</h3><ul>%s</ul>') % (seen.file.case.path, listed)


@lru_cache(1024)  # most of a class answers the same
def _line(command: str, answer: str) -> Markup:
    said = Markup(" &rarr; <code>%s</code>") % one_line(answer, _REPLY) if answer else NOTHING
    return Markup("<li><code>%s</code>%s</li>") % (one_line(command, _COMMAND), said)


def _private(shown: Feedback, cards: Cards) -> Iterator[Markup]:
    if shown.private_files:
        yield from _tests("Private tests", shown.private_files, "S", _NO_REPEAT, cards)
        return
    if not shown.private:
        return
    counts = Markup('<p class="sub">%s</p>') % _count(shown.private)
    yield _SECTION % ("Private tests", "Private tests", counts, NOTHING)
    if any(test.command for test in shown.private):
        yield from _commands(shown.private)
    else:
        listed = join_markup(Markup("<li>%s</li>") % _verdict(test) for test in shown.private)
        yield Markup('<ul class="dots card">%s</ul>') % listed
    yield Markup("</section>\n")


def _count(tests: Sequence[PrivateTest]) -> str:
    passed = sum(test.verdict is Verdict.PASSED for test in tests)
    hidden = "" if any(test.command for test in tests) else "; what they ask is not shown"
    return f"{passed} of {len(tests)} passed{hidden}"


def _commands(tests: tuple[PrivateTest, ...]) -> Iterator[Markup]:
    yield Markup(
        '<div class="card"><table class="t"><thead><tr><th>No.</th><th>Result</th><th>Command</th>'
        "</tr></thead><tbody>\n"
    )
    for test in tests:
        command = escape(one_line(test.command, _COMMAND))
        yield (
            Markup("<tr><td>%s</td><td>%s</td><td><code>%s</code></td></tr>\n")
            % (test.number, badge(test.verdict), command)
        )
    yield Markup("</tbody></table></div>")


@lru_cache(1024)
def _verdict(test: PrivateTest) -> Markup:
    sign, word = WORDS[test.verdict]
    return Markup('%s <span class="v %s">%s %s</span>') % (test.number, as_class(word), sign, word)


# --- at home -----------------------------------------------------------------------------------

_HOME = Markup(
    '<section aria-label="Repeat it at home"><h2>Repeat it at home</h2><p>In the folder '
    "<code>%s</code>, with the same gtp-harness%s, all tests, and the files themselves; the"
    " line for one test is with it above:</p>%s%s</section>\n"
)
_COURSE_FOLDER = Markup(
    '<p class="sub">After <code>--assignment</code> comes the path of the assignment\'s folder'
    " that your course hands out.</p>"
)


def _at_home(home: AtHome) -> Markup:
    beside = Markup(", and with the course's <code>%s</code> beside it") % home.beside
    course = NOTHING if home.is_shipped else _COURSE_FOLDER
    beside = beside if home.beside else NOTHING
    return _HOME % (home.folder, beside, command_line(home.check), course)
