"""The page for a student: the mark and why, and what is wrong with each failed test.

It is made of a :class:`~harness.grading.exports.showing.Feedback` alone, which has nothing that
the student must not see. It stands alone: its style is inside, it loads nothing, and the script of
all pages, where there are boards, adds only what a click can do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.grading.exports.material import Files, Material, Shown, as_file
from harness.grading.exports.showing import Feedback, PrivateTest
from harness.grading.exports.style import STYLE
from harness.grading.records import ClassResult, Log, Marks, PartMark, Student, decimal
from harness.records import Verdict
from harness.report.html.card import card
from harness.report.html.parts import Frame, as_class, badge, box, facts, in_words, items, page
from harness.report.html.trouble import Crashes, troubles
from harness.report.markup import NOTHING, Markup, escape, joined
from harness.report.view import WORDS, FileView
from harness.text import number_of
from harness.visible import one_line

_COMMAND = 120  # characters
_CARDS = 40  # failed tests in full in one file
_UNSAFE = (
    "Submissions were run without protection from one another and from what they run on. Do not "
    "trust these results as you would others."
)


def files(material: Material) -> Files:
    """Yield a page for each student."""
    for student, content in material.pages:
        yield f"feedback/{student.key}.html", content


def pages(result: ClassResult, shown: Shown) -> Iterator[tuple[Student, bytes]]:
    """Yield all students with their pages, as they are written."""
    for one in result.graded:
        about = shown[one.submission.key]
        body = joined(body_of(about))
        for student in one.submission.students:
            yield student, as_file(student_page(about.title, student.name, body))


def student_page(title: str, student: str, body: Markup) -> Iterator[Markup]:
    """Yield the page of a student of this name; ``body`` is what :func:`body_of` yields.

    ``title``: of the assignment.
    """
    head = Markup('<p class="sub">%s</p><h1>%s</h1>\n') % (title, student)
    has_boards = '<details class="card test"' in body
    frame = Frame(boards=has_boards, script=has_boards, style=STYLE)
    return page(f"{title}: {student}", (head, body), frame)


def unsafe(is_so: bool) -> Markup:
    """Return the warning that there was no sandbox, if there was none."""
    return (
        box("Run without a sandbox", Markup("<p>%s</p>") % _UNSAFE, "unsafe") if is_so else NOTHING
    )


def body_of(shown: Feedback) -> Iterator[Markup]:
    """Yield all of a page that the members of a group have in common: all but their names."""
    yield from (
        unsafe(shown.is_unsafe),
        _marks(shown.marks),
        _refused(shown),
        _faults(shown),
        _diagnoses(shown),
        _build(shown),
    )
    if shown.public:
        yield Markup("<h2>Public tests</h2>\n")
    yield from _files(shown.public, "P")
    yield from _private(shown)
    yield _handed_in(shown)
    python = f" Your program was run by {shown.python}." if shown.python else ""
    yield Markup('<p class="sub">Graded with gtp-harness %s.%s</p>') % (shown.version, python)


# --- the mark ----------------------------------------------------------------------------------


def _marks(marks: Marks) -> Markup:
    note = box("Note", Markup("<p>%s</p>") % marks.note, "warn") if marks.note else NOTHING
    if marks.withheld:
        return note
    rows = joined(_part(part) for part in marks.parts if part.of or part.points)
    late = ""
    if marks.deduction:
        late = _row("Late", f"−{decimal(marks.deduction)}", "", marks.deduction_reason)
    return Markup(
        '<p class="total"><b>%s <small>of %s</small></b></p>%s<table class="marks">'
        '<thead><tr><th>Part</th><th class="num">Points</th><th class="num">of</th><th>'
        "Why</th></tr></thead><tbody>%s%s</tbody><tfoot>%s</tfoot></table>"
    ) % (
        decimal(marks.total),
        decimal(marks.of),
        note,
        rows,
        late,
        _row("Total", decimal(marks.total), decimal(marks.of), ""),
    )


def _part(part: PartMark) -> Markup:
    open_end = "" if part.complete else " What could not be judged does not count."
    return _row(part.name, decimal(part.points), decimal(part.of), part.reason + open_end)


def _row(name: str, points: str, of: str, why: str) -> Markup:
    return Markup(
        '<tr><td>%s</td><td class="num">%s</td><td class="num" data-l="of">%s</td><td>'
        "%s</td></tr>\n"
    ) % (name, points, of, why)


# --- the submission ----------------------------------------------------------------------------


def _refused(shown: Feedback) -> Markup:
    return (
        box("Nothing was graded", Markup("<p>%s</p>") % shown.refused)
        if shown.refused
        else NOTHING
    )


def _faults(shown: Feedback) -> Markup:
    return box("What is wrong with the files", items(shown.faults)) if shown.faults else NOTHING


def _diagnoses(shown: Feedback) -> Markup:
    if not shown.diagnoses:
        return NOTHING
    told = map(str, shown.diagnoses)
    return box(
        "What would explain the failures", items(one[0].upper() + one[1:] for one in told), "odd"
    )


def _build(shown: Feedback) -> Markup:
    build = shown.build
    if build is None:
        return NOTHING
    output = Markup("<pre>%s</pre>") % build.output if build.output.strip() else NOTHING
    if not build.ok:
        return box("It does not build", Markup("<p>%s</p>%s") % (build.message, output))
    return (
        Markup("<details><summary>It was built: output</summary>%s</details>") % output
        if output
        else NOTHING
    )


def _handed_in(shown: Feedback) -> Markup:
    if not shown.name and not shown.sha256:
        return NOTHING
    time = f"{shown.time:%Y-%m-%d %H:%M}" if shown.time else ""
    group = f"by a group of {shown.members}" if shown.members > 1 else ""
    known = facts(
        (
            ("File", one_line(shown.name)),
            ("Handed in", ", ".join(filter(None, (time, group, "late" if shown.late else "")))),
            ("SHA-256", shown.sha256),
        )
    )
    remarks = items(shown.remarks) if shown.remarks else NOTHING
    return Markup("<h2>What you handed in</h2>\n%s%s%s") % (known, remarks, _log(shown.log))


def _log(log: Log | None) -> Markup:
    """What speaks for the test before handing in, as a list of signs and words."""
    if log is None:
        return NOTHING
    evidence = (
        ("a terminal's transcript", log.transcript),
        ("shows the archive unpacked", log.unpacked),
        ("shows the run and its result", log.ran),
    )
    listed = joined(
        Markup("<li>%s %s</li>") % ("✓" if is_so else "✗", words) for words, is_so in evidence
    )
    shown = Markup('<ul class="dots">%s</ul>') % listed if log.present else NOTHING
    told = items(filter(None, (*log.remarks, log.receipt)))
    return Markup("<h3>The log of your own test</h3>%s%s") % (shown, told)


# --- tests -------------------------------------------------------------------------------------


def _files(views: Sequence[FileView], anchor: str) -> Iterator[Markup]:
    """What became of case files: those with something to look at first, and in full."""
    crashes = Crashes(seen.file for seen in views)
    for place, seen in enumerate(views, 1):
        if not _is_plain(seen):
            yield from _file(seen, f"{anchor}{place}L", crashes)
    for seen in filter(_is_plain, views):
        yield _passed(seen, f"{seen.file.case.path}: ")


def _is_plain(seen: FileView) -> bool:
    """Whether everything is plainly passed, and there is nothing to be said of the file."""
    plain = seen.tally.passed == seen.tally.tests > 0 and not seen.remarkable
    return plain and not any(troubles(seen.file))


def _file(seen: FileView, anchor: str, crashes: Crashes) -> Iterator[Markup]:
    """What became of one case file: everything that is not plainly passed in full."""
    yield Markup('<h3 class="file">%s</h3>%s') % (seen.file.case.path, in_words(seen.tally))
    yield from troubles(seen.file, crashes=crashes)
    for outcome in seen.remarkable[:_CARDS]:
        yield card(seen, outcome, anchor=anchor)
    if len(seen.remarkable) > _CARDS:
        yield Markup("<p>%s more are not shown.</p>") % (len(seen.remarkable) - _CARDS,)
    yield _passed(seen)


def _passed(seen: FileView, name: str = "") -> Markup:
    steps = seen.file.case.steps
    listed = [
        Markup("<li><code>%s</code></li>") % one_line(steps[outcome.step].text, _COMMAND)
        for outcome in seen.file.outcomes
        if outcome.verdict is Verdict.PASSED and not outcome.flaky
    ]
    if not listed:
        return NOTHING
    count = f"✓ {name}{number_of(len(listed), 'test')} passed"
    return Markup("<details><summary>%s</summary><ul>%s</ul></details>\n") % (
        count,
        joined(listed),
    )


def _private(shown: Feedback) -> Iterator[Markup]:
    if not shown.private:
        return
    yield Markup("<h2>Private tests</h2>\n")
    if shown.private_files:
        yield from _files(shown.private_files, "S")
        return
    if any(test.command for test in shown.private):
        yield from _commands(shown.private)
    else:
        listed = joined(Markup("<li>%s</li>") % _verdict(test) for test in shown.private)
        yield Markup('<ul class="dots">%s</ul>') % listed


def _commands(tests: tuple[PrivateTest, ...]) -> Iterator[Markup]:
    yield Markup(
        '<table class="t"><thead><tr><th>No.</th><th>Result</th><th>Command</th></tr></thead>'
    )
    yield Markup("<tbody>\n")
    for test in tests:
        command = escape(one_line(test.command, _COMMAND))
        yield (
            Markup("<tr><td>%s</td><td>%s</td><td><code>%s</code></td></tr>\n")
            % (test.number, badge(test.verdict), command)
        )
    yield Markup("</tbody></table>")


def _verdict(test: PrivateTest) -> Markup:
    sign, word = WORDS[test.verdict]
    return Markup('%s <span class="v %s">%s %s</span>') % (test.number, as_class(word), sign, word)
