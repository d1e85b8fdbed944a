"""Standings of students and groups in an assignment: a row each, filters, and neighbors."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlencode

from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.core.text import natural_order
from harness.grading.records import Marks, StudentSubmissions, counting_mark
from harness.service.courses import gradings, making, roster, submissions
from harness.service.courses.deadlines import describe_late, latest_deadline
from harness.service.records import DONE, FAULT, CourseAssignment, Job, Override, Upload
from harness.service.storage import courses, queue, uploads
from harness.work import canonical_json

# What a list can be filtered by, with the words for it.
ALL = "all"
ATTENTION, SUBMITTED, NOTHING, REFUSED = "attention", "submitted", "nothing", "refused"
LATE, UNGRADED, CHANGED, EXTENDED = "late", "ungraded", "changed", "extended"
_CHOICES = {
    ATTENTION: "Need you",
    SUBMITTED: "Submitted",
    NOTHING: "Nothing submitted",
    REFUSED: "Refused",
    LATE: "Late",
    UNGRADED: "Not graded",
    CHANGED: "Mark changed by hand",
    EXTENDED: "Extension",
}


class Chip(NamedTuple):
    """A state or a flag as pages show it: a shape and a color with a word."""

    look: str  # good, bad, look (needs somebody), busy, off or new
    label: str


class StudentStanding(NamedTuple):
    """Row of a student or a group."""

    key: str
    names: tuple[str, ...]
    kinds: frozenset[str]  # the filters that it goes through
    state: str  # of the submission that counts, in words
    chip: Chip  # that state
    upload: Upload | None  # that submission
    number: int  # of all submissions
    extension: str
    late: str  # of that submission: how late, and what that costs; empty if in time
    place: str  # what a grading would do with it; empty if there is none
    mark: str = ""  # that counts; empty: none
    points: Fraction | None = None  # of that mark
    flags: tuple[Chip, ...] = ()


class _KnownMark(NamedTuple):
    """A computed mark, and its words: "" if there is none yet."""

    marks: Marks
    words: str


class _Standard(NamedTuple):
    """Input of all rows."""

    jobs: Mapping[str, Job]  # that check uploads, by the ids of these
    rule: Late
    graded: float = 0.0  # when the grading began whose marks are in force; 0: there is none
    marks: Mapping[str, _KnownMark] = {}  # in force, by the keys of students
    overrides: Mapping[str, Override] = {}  # by the keys of students


def standings_of_all(db: Connection, assignment: CourseAssignment) -> list[StudentStanding]:
    """Return where each student or group of a course stands with its mark, in natural order."""
    students = courses.students(db, assignment.course)
    jobs = queue.checks(db, assignment=assignment.id)
    failed = frozenset(one.about for one in jobs.values() if one.state == FAULT)
    histories = submissions.histories(students, uploads.list_held(db, assignment.id), failed)
    grading = uploads.in_force(db, assignment.id)
    marks: dict[str, _KnownMark] = {}
    if grading:
        own = {one.key: _read_mark(one.marks) for one in uploads.MARKS.all(db, grading=grading.id)}
        got = uploads.RECEIVED_BY.all(db, grading=grading.id)
        marks = {one.student: own[one.key] for one in got}
    rule = making.late(assignment, courses.extensions(db, assignment.id))
    began = grading.at if grading else 0.0
    standard = _Standard(jobs, rule, began, marks, uploads.overrides(db, assignment.id))
    entries = roster.students(students)  # in natural order
    return [_standing(entry, histories[entry.key], standard) for entry in entries]


@lru_cache(4096)
def _read_mark(text: str) -> _KnownMark:
    """Return a mark of the database. Going through a class, one page after the other has all."""
    marks = canonical_json.loads(Marks, text)
    return _KnownMark(marks, gradings.format_counting_mark(marks, None))


def standing_of(db: Connection, assignment: CourseAssignment, key: str) -> StudentStanding:
    """Return where a student or group of a course stands, as students see it: without a mark."""
    group = courses.submitting_as(db, assignment.course, key)
    history = submissions.history_of(db, assignment, key)
    jobs = queue.checks(db, about=[one.id for one in history.counting])
    rule = making.late(assignment, courses.extensions(db, assignment.id))
    return _standing(roster.entry(key, group), history, _Standard(jobs, rule))


def _standing(
    entry: StudentSubmissions, history: submissions.SubmissionHistory, standard: _Standard
) -> StudentStanding:
    keys, last = [one.key for one in entry.students], history.last
    extensions = {key: time.isoformat() for key, time in standard.rule.own}
    job = standard.jobs.get(last.id) if last else None
    state, chip = _describe_state(history, job)
    own = latest_deadline(extensions, keys)
    late = describe_late(standard.rule.of(keys), last.at) if last else ""
    marks = next((standard.marks[one] for one in keys if one in standard.marks), None)
    given = {one: standard.overrides[one] for one in keys if one in standard.overrides}
    is_newer = last is not None and (marks is None or last.at > standard.graded)
    is_faulty = job is not None and job.state == FAULT
    is_withheld = marks is not None and marks.marks.withheld and len(given) < len(keys)
    flags = {
        "no mark": Chip("look", "No mark yet") if is_withheld else None,
        UNGRADED: Chip("look", "Not graded") if is_newer and standard.graded else None,
        LATE: Chip("look", "Late") if late else None,
        CHANGED: Chip("new", "Changed by hand") if given else None,
        EXTENDED: Chip("off", "Extension") if own else None,
    }
    kinds = {kind for kind, flag in flags.items() if flag} & {*_CHOICES}
    kinds |= {SUBMITTED if history.counting else NOTHING}
    kinds |= {REFUSED} if history.counting and not last else set()
    kinds |= {UNGRADED} if is_newer else set()
    kinds |= {ATTENTION} if is_withheld or (is_faulty and is_newer) else set()
    mark, points = _describe_mark(marks, given, keys)
    if points is not None and last is not None and not is_newer:
        chip = Chip("good", "Graded")
    return StudentStanding(
        entry.key,
        tuple(one.name for one in entry.students if one.name),
        frozenset(kinds),
        state,
        chip,
        last,
        len(history.all),
        own,
        late,
        history.places[last.id] if last else "",
        mark,
        points,
        tuple(flag for flag in flags.values() if flag),
    )


def _describe_state(history: submissions.SubmissionHistory, job: Job | None) -> tuple[str, Chip]:
    """Return how far the submission that counts is, in words and as a chip."""
    upload = history.last
    if upload is None:
        if not history.counting:
            return "nothing submitted", Chip("off", "Nothing submitted")
        return "refused: nothing counts", Chip("bad", "Refused")
    later, last = "", history.counting[-1]
    if last != upload:  # what became of the last one
        is_waiting = history.places[last.id] == submissions.MAY_COUNT
        later = f"; a later one {'waits for its check' if is_waiting else 'is refused'}"
    if job and job.state == FAULT:
        return f"could not be checked{later}", Chip("look", "Not checked")
    if job is None:
        return f"received{later}", Chip("busy", "Received")
    if job.state == DONE:
        return f"checked{later}", Chip("good", "Checked")
    waiting = "being checked" if upload.record else "waiting to be checked"
    return f"{waiting}{later}", Chip("busy", waiting.capitalize())


def _describe_mark(
    mark: _KnownMark | None, overrides: Mapping[str, Override], keys: Sequence[str]
) -> tuple[str, Fraction | None]:
    """Return the mark that counts; those that only some of a group got stand behind it."""
    if mark is None:
        return "", None
    marks = mark.marks
    if not overrides:
        return mark.words, None if marks.withheld else marks.total
    shared = gradings.shared_overrides(overrides, keys)
    all_ = next((one.override for one in shared if not one.who), None)
    told = [gradings.format_counting_mark(marks, all_)]
    told += [
        f"{', '.join(one.who)}: {gradings.format_counting_mark(marks, one.override)}"
        for one in shared
        if one.who
    ]
    counting = counting_mark(marks, gradings.as_given(all_) if all_ else None)
    return "; ".join(filter(None, told)), None if counting.withheld else counting.total


# --- A list: what it shows, in which order, and who comes before and after somebody --------------


_ORDERS = {
    "student": lambda one: natural_order(one.key),
    "name": lambda one: natural_order(", ".join(one.names) or one.key),
    "state": lambda one: (one.chip.label, natural_order(one.key)),
    "submitted": lambda one: (one.upload.order if one.upload else (0, 0.0, ""), one.key),
    "mark": lambda one: (
        one.points if one.points is not None else Fraction(-1),
        natural_order(one.key),
    ),
}
_LONGEST = 200  # characters of what is looked for


class StandingsView(NamedTuple):
    """Filter and order of a list: a page is asked with it, and every page after it."""

    show: str = ALL  # a filter
    find: str = ""  # in keys and names
    order: str = "student"  # by what; with "-" before it the last one first

    def query(self, **changes: str) -> str:
        """Return the end of an address that asks for this list, or for one with other values."""
        values, usual = self._replace(**changes)._asdict(), self._field_defaults
        told = {name: value for name, value in values.items() if value != usual[name]}
        return f"?{urlencode(told)}" if told else ""

    def has(self, standing: StudentStanding) -> bool:
        """Whether a student or group is in the list."""
        words = f"{standing.key} {' '.join(standing.names)}".casefold()
        is_shown = self.show == ALL or self.show in standing.kinds
        return is_shown and self.find.casefold() in words

    def sort(self, standings: Sequence[StudentStanding]) -> list[StudentStanding]:
        """Return a class in the order of the list."""
        key = _ORDERS[self.order.removeprefix("-")]
        return sorted(standings, key=key, reverse=self.order.startswith("-"))

    def select(self, standings: Sequence[StudentStanding]) -> list[StudentStanding]:
        """Return what the list shows, in its order."""
        return [one for one in self.sort(standings) if self.has(one)]

    def turned(self, order: str) -> str:
        """Return the order of a list after its head for ``order`` was chosen."""
        return f"-{order}" if self.order == order else order


def read_view(query: Mapping[str, str]) -> StandingsView:
    """Return the list that an address asks for; what it does not know is left as it is."""
    show, order = query.get("show", ALL), query.get("order", "student")
    return StandingsView(
        show if show in _CHOICES else ALL,
        query.get("find", "").strip()[:_LONGEST],
        order if order.removeprefix("-") in _ORDERS else "student",
    )


def list_choices(standings: Sequence[StudentStanding]) -> list[tuple[str, str, int]]:
    """Return by what a list can be filtered: the kind, its words, how many are of it."""
    counts = Counter(kind for one in standings for kind in one.kinds)
    found = [(kind, words, counts[kind]) for kind, words in _CHOICES.items() if counts[kind]]
    return [(ALL, "All", len(standings)), *found]


def name_choice(kind: str) -> str:
    """Return the words of a filter."""
    return _CHOICES.get(kind, "All")


class Position(NamedTuple):
    """Position in a list."""

    number: int  # from 1; 0: not in the list, as after its filter has ceased to fit
    of: int
    before: str  # the key of the one before; "" if there is none
    after: str


def find_position(standings: Sequence[StudentStanding], view: StandingsView, key: str) -> Position:
    """Return where a student or group is in a list, and who is before and after."""
    ordered = view.sort(standings)
    place = next((i for i, one in enumerate(ordered) if one.key == key), len(ordered))
    before = [one.key for one in ordered[:place] if view.has(one)]
    after = [one.key for one in ordered[place + 1 :] if view.has(one)]
    is_in = place < len(ordered) and view.has(ordered[place])
    return Position(
        len(before) + 1 if is_in else 0,
        len(before) + is_in + len(after),
        before[-1] if before else "",
        after[0] if after else "",
    )
