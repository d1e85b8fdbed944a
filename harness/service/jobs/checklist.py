"""Requirements before students can use a course's assignment: what is there, what is missing.

Pages and the API show the same list. What a teacher has not set up yet is never a student's
failure: checks wait for it (:func:`harness.service.courses.own_files.list_missing`).
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from sqlalchemy import Connection

from harness.assignments import needs
from harness.core.text import number_of
from harness.service.courses import own_files
from harness.service.jobs import previews, private_cases
from harness.service.local_times import describe_date
from harness.service.records import CourseAssignment
from harness.service.settings import Settings
from harness.service.storage import courses

State = Literal["done", "missing", "optional"]


class SetupItem(NamedTuple):
    """A line of the checklist of an assignment."""

    name: str
    state: State
    text: str  # what there is, or what is to be done
    page: str = ""  # where it is done: a path; empty: not on a page
    action: str = ""  # the words of the link to that page
    blocks: bool = False  # no submission is checked, and nothing graded, as long as it is missing


class Setup(NamedTuple):
    """The checklist of an assignment."""

    items: list[SetupItem]

    @property
    def is_ready(self) -> bool:
        """Whether nothing is missing."""
        return all(one.state != "missing" for one in self.items)

    @property
    def is_blocked(self) -> bool:
        """Whether something is missing without which no submission is checked."""
        return any(one.state == "missing" and one.blocks for one in self.items)


def load(
    db: Connection,
    settings: Settings,
    assignment: CourseAssignment,
    measurement: private_cases.MeasuredCases | None = None,
) -> Setup:
    """Return the checklist of an assignment: what blocks first, in the order in which it is done.

    ``measurement``: its private case files, if they were read already.

    Raises:
        UsageError: the assignment was removed.
    """
    own = own_files.assignment_of(settings, assignment)
    page = f"/courses/{assignment.course}/assignments/{assignment.id}"
    measurement = measurement or private_cases.load_measured(settings, assignment)
    items = []
    if name := own.engine.overlay:
        place = f"{page}/course-folder"
        if own_files.lacks_overlay(settings, assignment, own):
            text = "the folder that your course gives to its students."
            told = f"Submissions run with {name}, {text}", place, f"Upload {name}"
            items.append(SetupItem("Course folder", "missing", *told, blocks=True))
        else:
            told = f"Submissions run with your copy of {name}.", place, "Replace"
            items.append(SetupItem("Course folder", "done", *told, blocks=True))
    if (programs := needs.of(own)) and not settings.scheduler:
        if missing := own_files.find_missing_programs(own):
            text = f"The server lacks {needs.absent(missing)}. Ask the operator of the service."
        else:
            text = f"Submissions are built with {', '.join(one.name for one in programs)}."
        items.append(SetupItem("Programs", "missing" if missing else "done", text, blocks=True))
    students = courses.students(db, assignment.course)
    roster = f"/courses/{assignment.course}/students"
    if students:
        count = number_of(len(students), "student")
        items.append(SetupItem("Students", "done", count, roster, "See them"))
    else:
        text = "Nobody can submit yet: import the roster."
        items.append(SetupItem("Students", "missing", text, f"{roster}/import", "Import roster"))
    if assignment.deadline:
        text = f"Due {describe_date(assignment.deadline)}"
        items.append(SetupItem("Dates", "done", text, f"{page}/change", "Change"))
    else:
        text = "There is no deadline."
        items.append(SetupItem("Dates", "optional", text, f"{page}/change", "Set"))
    items += _list_private(settings, assignment, measurement, f"{page}/private")
    if assignment.hidden:
        text = "Students do not see the assignment."
        items.append(SetupItem("Visible", "optional", text, f"{page}/change", "Show it"))
    return Setup(items)


def _list_private(
    settings: Settings, assignment: CourseAssignment, cases: private_cases.MeasuredCases, page: str
) -> Iterator[SetupItem]:
    """Yield whether there are private case files, and whether the reference agrees with them."""
    name = "Private cases"
    if not cases.paths:
        part = private_cases.lack_some(settings, assignment)
        text = f"{part!r} needs some before you grade. Or grade without them."
        if not part:
            text = "You can add case files that students do not see."
        yield SetupItem(name, "optional", text, page, "Add")
        return
    yield SetupItem(name, "done", number_of(len(cases.paths), "file"), page, "See them")
    name = "Reference solution"
    if cases.caught is None:
        text = "The private cases are being checked by the reference."
        yield SetupItem(name, "optional", text, page, "See them")
    elif doubts := previews.find(settings, assignment, cases):
        text = f"The reference answers {number_of(len(doubts), 'private test')} otherwise."
        yield SetupItem(name, "optional", text, page, "See which")
    else:
        yield SetupItem(name, "done", "The reference passes all private cases.")
