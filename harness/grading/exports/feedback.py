"""The page for a student: the mark and why, and what is wrong with each failed test.

It is made of a :class:`~harness.grading.exports.showing.Feedback` alone, which has nothing that
the student must not see. It stands alone: its style is inside, it runs no script, loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.grading.exports.material import Files, Material, Shown, as_file
from harness.grading.exports.showing import Feedback, PrivateTest
from harness.grading.exports.style import STYLE
from harness.grading.records import ClassResult, Log, Marks, PartMark, Student, decimal
from harness.records import Verdict
from harness.report.html.card import card
from harness.report.html.parts import as_class, badge, box, facts, in_words, items, page
from harness.report.html.trouble import Crashes, troubles
from harness.report.markup import escape
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
        body = "".join(body_of(about))
        for student in one.submission.students:
            yield student, as_file(student_page(about.title, student.name, body))


def student_page(title: str, student: str, body: str) -> Iterator[str]:
    """Yield the page of a student of this name; ``body`` is what :func:`body_of` yields.

    ``title``: of the assignment.
    """
    head = f'<p class="dim">{escape(title)}</p><h1>{escape(student)}</h1>\n'
    return page(f"{title}: {student}", (head, body), STYLE)


def unsafe(is_so: bool) -> str:
    """Return the warning that there was no sandbox, if there was none."""
    return box("Run without a sandbox", f"<p>{_UNSAFE}</p>", "unsafe") if is_so else ""


def body_of(shown: Feedback) -> Iterator[str]:
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
        yield f"<h2>Public tests</h2>\n{_legend(shown)}"
    yield from _files(shown.public, "P")
    yield from _private(shown)
    yield _handed_in(shown)
    python = f" Your program was run by {escape(shown.python)}." if shown.python else ""
    yield f'<p class="dim">Graded with gtp-harness {escape(shown.version)}.{python}</p>'


# --- the mark ----------------------------------------------------------------------------------


def _marks(marks: Marks) -> str:
    note = box("Note", f"<p>{escape(marks.note)}</p>", "warn") if marks.note else ""
    if marks.withheld:
        return note
    rows = "".join(_part(part) for part in marks.parts if part.of or part.points)
    late = ""
    if marks.deduction:
        late = _row("Late", f"−{decimal(marks.deduction)}", "", marks.deduction_reason)
    return (
        f'<p class="total"><b>{decimal(marks.total)} <small>of {decimal(marks.of)}</small></b></p>'
        f'{note}<table class="marks"><thead><tr><th>Part</th><th class="num">Points</th>'
        f'<th class="num">of</th><th>Why</th></tr></thead><tbody>{rows}{late}</tbody>'
        f"<tfoot>{_row('Total', decimal(marks.total), decimal(marks.of), '')}</tfoot></table>"
    )


def _part(part: PartMark) -> str:
    open_end = "" if part.complete else " What could not be judged does not count."
    return _row(part.name, decimal(part.points), decimal(part.of), part.reason + open_end)


def _row(name: str, points: str, of: str, why: str) -> str:
    return (
        f'<tr><td>{escape(name)}</td><td class="num">{points}</td>'
        f'<td class="num" data-l="of">{of}</td><td>{escape(why)}</td></tr>\n'
    )


# --- the submission ----------------------------------------------------------------------------


def _refused(shown: Feedback) -> str:
    return box("Nothing was graded", f"<p>{escape(shown.refused)}</p>") if shown.refused else ""


def _faults(shown: Feedback) -> str:
    return box("What is wrong with the files", items(shown.faults)) if shown.faults else ""


def _diagnoses(shown: Feedback) -> str:
    if not shown.diagnoses:
        return ""
    told = map(str, shown.diagnoses)
    return box(
        "What would explain the failures", items(one[0].upper() + one[1:] for one in told), "odd"
    )


def _build(shown: Feedback) -> str:
    build = shown.build
    if build is None:
        return ""
    output = f"<pre>{escape(build.output)}</pre>" if build.output.strip() else ""
    if not build.ok:
        return box("It does not build", f"<p>{escape(build.message)}</p>{output}")
    return f"<details><summary>It was built: output</summary>{output}</details>" if output else ""


def _handed_in(shown: Feedback) -> str:
    if not shown.name and not shown.sha256:
        return ""
    time = f"{shown.time:%Y-%m-%d %H:%M}" if shown.time else ""
    group = f"by a group of {shown.members}" if shown.members > 1 else ""
    known = facts(
        (
            ("File", one_line(shown.name)),
            ("Handed in", ", ".join(filter(None, (time, group, "late" if shown.late else "")))),
            ("SHA-256", shown.sha256),
        )
    )
    remarks = items(shown.remarks) if shown.remarks else ""
    return f"<h2>What you handed in</h2>\n{known}{remarks}{_log(shown.log)}"


def _log(log: Log | None) -> str:
    """What speaks for the test before handing in, as a list of signs and words."""
    if log is None:
        return ""
    evidence = (
        ("a terminal's transcript", log.transcript),
        ("shows the archive unpacked", log.unpacked),
        ("shows the run and its result", log.ran),
    )
    listed = "".join(f"<li>{'✓' if is_so else '✗'} {words}</li>" for words, is_so in evidence)
    shown = f'<ul class="dots">{listed}</ul>' if log.present else ""
    told = items(filter(None, (*log.remarks, log.receipt)))
    return f"<h3>The log of your own test</h3>{shown}{told}"


# --- tests -------------------------------------------------------------------------------------


def _legend(shown: Feedback) -> str:
    """Say what the marks on the boards mean, where there is a board with marks."""
    boards = (board for seen in shown.public for board in seen.boards.values())
    if not shown.legend or not any(board.marks for board in boards):
        return ""
    return f'<p class="dim">Marks on the boards: {escape(shown.legend)}.</p>\n'


def _files(views: Sequence[FileView], anchor: str) -> Iterator[str]:
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


def _file(seen: FileView, anchor: str, crashes: Crashes) -> Iterator[str]:
    """What became of one case file: everything that is not plainly passed in full."""
    yield f'<h3 class="file">{escape(seen.file.case.path)}</h3>{in_words(seen.tally)}'
    yield from troubles(seen.file, crashes=crashes)
    for outcome in seen.remarkable[:_CARDS]:
        yield card(seen, outcome, anchor=anchor)
    if len(seen.remarkable) > _CARDS:
        yield f"<p>{len(seen.remarkable) - _CARDS} more are not shown.</p>"
    yield _passed(seen)


def _passed(seen: FileView, name: str = "") -> str:
    steps = seen.file.case.steps
    listed = [
        f"<li><code>{escape(one_line(steps[outcome.step].text, _COMMAND))}</code></li>"
        for outcome in seen.file.outcomes
        if outcome.verdict is Verdict.PASSED and not outcome.flaky
    ]
    if not listed:
        return ""
    count = f"✓ {name}{number_of(len(listed), 'test')} passed"
    return f"<details><summary>{escape(count)}</summary><ul>{''.join(listed)}</ul></details>\n"


def _private(shown: Feedback) -> Iterator[str]:
    if not shown.private:
        return
    yield "<h2>Private tests</h2>\n"
    if shown.private_files:
        yield from _files(shown.private_files, "S")
        return
    if any(test.command for test in shown.private):
        yield from _commands(shown.private)
    else:
        listed = "".join(f"<li>{_verdict(test)}</li>" for test in shown.private)
        yield f'<ul class="dots">{listed}</ul>'


def _commands(tests: tuple[PrivateTest, ...]) -> Iterator[str]:
    yield '<table class="t"><thead><tr><th>No.</th><th>Result</th><th>Command</th></tr></thead>'
    yield "<tbody>\n"
    for test in tests:
        command = escape(one_line(test.command, _COMMAND))
        yield (
            f"<tr><td>{test.number}</td><td>{badge(test.verdict)}</td>"
            f"<td><code>{command}</code></td></tr>\n"
        )
    yield "</tbody></table>"


def _verdict(test: PrivateTest) -> str:
    sign, word = WORDS[test.verdict]
    return f'{test.number} <span class="v {as_class(word)}">{sign} {word}</span>'
