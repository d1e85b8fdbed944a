"""Shared parts of the class sections: facts computed once, addresses, styles, and the table."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from types import SimpleNamespace

from harness.core.records import Verdict
from harness.core.text import number_of, one_line
from harness.grading.exports.exporters import Summaries
from harness.grading.exports.showing import STATIC
from harness.grading.exports.summary import list_parts, owner_name
from harness.grading.marks.findings import likes
from harness.grading.marks.marking import TestResult, own, tests
from harness.grading.records import ClassResult, Graded, decimal
from harness.report.html.page_names import MATRIX, link, read_style
from harness.report.html.templates import PIECES, Markup, Template

_NAMES = 60  # characters

PAGE = "class.html"


def format_students(graded: Graded) -> str:
    """Return the names of a submission's students, cut short; its key if there are none."""
    return one_line(owner_name(graded), _NAMES)


def evidence_address(graded: Graded, anchor: str = "") -> str:
    """Return the address of the evidence about a submission, or of a place in it."""
    return f"evidence/{link(graded.submission.key)}{anchor and '#'}{anchor}"


def link_names(graded: Graded, place: str = "") -> Markup:
    """Return the names of a submission's students, linked to the evidence."""
    return PIECES.anchor(evidence_address(graded, place), format_students(graded))


def file_anchor(graded: Graded, kind: str, case: str) -> str:
    """Return the name of the place that is about a case file, in the evidence; "": none is."""
    files = enumerate(graded.attempts, 1)
    return next((f"f{place}" for place, one in files if (one.kind, one.case) == (kind, case)), "")


def test_anchor(graded: Graded, key: tuple[str, str, int], verdict: Verdict) -> str:
    """Return the name of the place that is about a test with such a verdict.

    A test without an answer has no place of its own; its command has one.
    """
    kind, case, line = key
    what = "L" if verdict in (Verdict.NOT_RUN, Verdict.PASSED) else "T"
    return f"{file_anchor(graded, kind, case)}{what}{line}"


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


def _number(items: Iterable[object]) -> Mapping[object, int]:
    return {thing: number for number, thing in enumerate(dict.fromkeys(items), 1)}


# --- Facts that all sections about a class use, computed once ------------------------------------


class ClassOverview:
    """A class.

    Attributes: ``result``; ``summaries``, the result of the case files, by submission; ``graded``
    and ``tests``, by submission as well; ``ordered``, from the highest mark to the lowest, then
    those that have none yet; ``places``, on the page.
    """

    def __init__(self, result: ClassResult, summaries: Summaries) -> None:
        self.result, self.summaries = result, summaries
        self.graded: Mapping[str, Graded] = {one.submission.key: one for one in result.graded}
        self.tests: Mapping[str, Sequence[TestResult]] = {
            key: tuple(tests(own(one.attempts))) for key, one in self.graded.items()
        }
        self.ordered = order_by_mark(result)
        self.places = Places(result)


def order_by_mark(result: ClassResult) -> list[Graded]:
    """Return submissions from the highest mark to the lowest, then those that have none yet."""
    return sorted(result.graded, key=lambda one: (one.marks.withheld, -one.marks.total))


# --- Styles for the teacher's pages, beside the style sheet of all pages -------------------------


_BOTH = read_style(STATIC / "teacher.css")
CLASS = MATRIX + _BOTH + read_style(STATIC / "class.css")
EVIDENCE = _BOTH + read_style(STATIC / "evidence.css")


# --- The table of submissions: sorted by mark, with flags, and with a filter by name and flag ----


_REMARK = 160  # characters
_template = Template("grading/exports/class_page/submissions.html")


def section(overview: ClassOverview) -> Markup | str:
    """Return the section; nothing of a class without submissions."""
    if not overview.graded:
        return ""
    result = overview.result
    part_names, same = list_parts(result), likes(result)
    kinds: dict[str, list[str]] = {}  # of each submission: what the filter tells of it
    rows = []
    for one in overview.ordered:
        key, marks, held = one.submission.key, one.marks, one.marks.withheld
        others = [overview.graded[other] for other in same.get(key, ())]
        flags = _flags(one, others, result)
        kinds[key] = ["flag"] * bool(flags) + ["lost"] * (held or marks.total < result.of)
        share = float(100 * marks.total / result.of) if result.of else 0
        texts = [marks.note, *one.submission.faults]
        for found in one.diagnoses:
            rest = found.total - found.failures
            texts.append(found.reasons + (f" ({rest} failures are not explained)" if rest else ""))
        reached = {} if held else {part.name: _two_places(part.points) for part in marks.parts}
        rows.append(
            SimpleNamespace(
                place=overview.places.submission(key),
                kinds=kinds[key],
                names=link_names(one),
                key=-1 if held else f"{float(marks.total):.4f}",
                mark="–" if held else _two_places(marks.total),
                share="" if held else f"{share:.0f}",
                points=[reached.get(name, "") for name in part_names],
                failed=sum(test.passed is False for test in overview.tests[key]),
                flags=flags,
                said="; ".join(one_line(text, _REMARK) for text in texts if text),
                same=[(evidence_address(other), format_students(other)) for other in others],
                pages=[
                    (link(student.key), one_line(student.name, _REMARK), student.key)
                    for student in one.submission.students
                ],
            )
        )
    choices = (("all", "All"), ("flag", "Flagged"), ("lost", "Without all points"))
    return _template.section(
        choices=[
            (kind, words, sum(kind == "all" or kind in each for each in kinds.values()))
            for kind, words in choices
        ],
        part_names=part_names,
        rows=rows,
    )


def _two_places(points: Fraction) -> str:
    """Return points as a column has them, one point below the other."""
    whole, _, rest = decimal(points).partition(".")
    return f"{whole}.{rest:0<2}"


def _flags(graded: Graded, same: Sequence[Graded], result: ClassResult) -> list[tuple[str, str]]:
    """Return what is to be seen at once: a class and a few words each."""
    given = filter(None, map(result.get_given_mark, graded.submission.students))
    points = sorted({one.points for one in given})  # each once
    broken = sum(bool(each.result and each.result.failure) for each in own(graded.attempts))
    build = graded.build
    late = f"late, −{decimal(graded.marks.deduction)}" if graded.marks.deduction else "late"
    known = (
        (graded.marks.withheld, "w", "withheld"),
        (graded.submission.refused, "f", "refused"),
        (build and not build.ok, "f", "does not build"),
        (broken, "f", f"engine failure in {number_of(broken, 'file')}"),
        (graded.suspicion, "w", "variants fail"),
        (same, "w", "same program"),
        (any(each.flaky for each in graded.attempts), "w", "flaky"),
        (any(each.near_limit for each in graded.attempts), "w", "near a limit"),
        (graded.marks.deduction_reason, "w", late),
    )
    return [
        *(("w", f"given {decimal(one)} by a person") for one in points),
        *((kind, words) for is_so, kind, words in known if is_so),
    ]
