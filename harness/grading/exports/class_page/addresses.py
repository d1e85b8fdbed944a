"""Addresses on the page about a class, and on the pages of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.escaping import one_line
from harness.grading.records import ClassResult, Graded
from harness.records import Verdict
from harness.report.html.page_names import link
from harness.report.markup import Markup

_NAMES = 60  # characters

PAGE = "class.html"


def format_students(one: Graded) -> str:
    """Return the names of a submission's students, cut short; its key if there are none."""
    names = (student.name or student.key for student in one.submission.students)
    return one_line(", ".join(names) or one.submission.key, _NAMES)


def evidence(one: Graded, anchor: str = "") -> str:
    """Return the address of the evidence about a submission, or of a place in it."""
    return f"evidence/{link(one.submission.key)}{anchor and '#'}{anchor}"


def link_names(one: Graded, anchor: str = "") -> Markup:
    """Return the names of a submission's students, linked to the evidence."""
    return Markup('<a href="%s">%s</a>') % (evidence(one, anchor), format_students(one))


def file_anchor(one: Graded, kind: str, case: str) -> str:
    """Return the name of the place that is about a case file, in the evidence; "": none is."""
    for number, attempt in enumerate(one.attempts, 1):
        if (attempt.kind, attempt.case) == (kind, case):
            return f"f{number}"
    return ""


def test_anchor(one: Graded, key: tuple[str, str, int], verdict: Verdict) -> str:
    """Return the name of the place that is about a test with such a verdict.

    A test without an answer has no place of its own; its command has one.
    """
    kind, case, line = key
    what = "L" if verdict in (Verdict.NOT_RUN, Verdict.PASSED) else "T"
    return f"{file_anchor(one, kind, case)}{what}{line}"


class Places:
    """The names of places on the page about a class: tests, lines of case files, submissions."""

    def __init__(self, result: ClassResult) -> None:
        tests = [(item.kind, item.case, item.line) for item in result.items]
        self._tests = _number(tests)
        self._files = _number((kind, case) for kind, case, _ in tests)
        self._submissions = _number(one.submission.key for one in result.graded)

    def test(self, key: tuple[str, str, int]) -> str:
        """Return the name of a test's row among those on trial; "" if it is not there."""
        number = self._tests.get(key)
        return f"t{number}" if number else ""

    def line(self, kind: str, case: str, line: int) -> str:
        """Return the name of a line of a case file."""
        return f"c{self._files[kind, case]}L{line}"

    def submission(self, key: str) -> str:
        """Return the name of a submission's row."""
        return f"s{self._submissions[key]}"


def _number(things: Iterable[object]) -> Mapping[object, int]:
    return {thing: number for number, thing in enumerate(dict.fromkeys(things), 1)}
