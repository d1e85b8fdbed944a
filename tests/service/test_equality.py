"""A class through the service and through ``grade``: the same marks, sheets and pages."""

import csv
import datetime
import itertools
import json
import re
import secrets
import shutil
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from harness.archives.archive_streams import IntakeLimits
from harness.assignments import assignment as assignments
from harness.cli import grade as grade_command
from harness.cli import main
from harness.grading import LEDGER, ORIGINALS
from harness.grading.ledger.ledger import Ledger
from harness.grading.records import Marks
from harness.reading import shipped
from harness.sandbox import levels
from harness.service.courses import cases, making
from harness.service.jobs.result_files import folder_of
from harness.service.storage import courses, uploads
from harness.work import canonical_json
from tests.harness import small_class, whole_class
from tests.harness.small_class import CLASS
from tests.harness.spoilt_submissions import SPOILT, SUBMISSIONS
from tests.service.serving import Browser, hand_in, make_course, work

pytestmark = [pytest.mark.processes, pytest.mark.long(60)]


class File(NamedTuple):
    """A file that a student hands in."""

    name: str
    data: bytes


class Class(NamedTuple):
    """What is graded twice. Beside it one archive is refused, and somebody hands in nothing."""

    source: str  # an assignment that ships
    handed: dict[str, tuple[File, ...]]  # by student, in order: the last one counts
    private: tuple[str, ...] = ()  # case files of the assignment's folder, as private ones
    overlay: Path | None = None  # the course's own folder
    # Whose own deadline is not over, while the assignment's is; None: all as the assignment says.
    extended: frozenset[str] | None = None
    groups: tuple[tuple[str, str], ...] = ()  # students with the key of their group


PAST, FUTURE = "2020-01-01T12:00", "2999-01-01T12:00"


def in_time(*handed):
    """Return files as they are called if nothing else is said."""
    return tuple(File("a1.tgz", data) for data in handed)


def small():
    """Two right students, one with a second try; wrong, dead and hanging ones.

    A group hands in by one of two. It and one more have later deadlines; all others are late.
    """
    bodies = {one.name.split()[0].lower(): one.body for one in (CLASS[0], CLASS[2], *CLASS[6:])}
    bodies["ivy"] = CLASS[0].body
    handed = {name: in_time(small_class.submission(body)) for name, body in bodies.items()}
    handed["ada"] = (*in_time(small_class.submission("return 7")), *handed["ada"])
    groups = (("ivy", "pair"), ("jon", "pair"))
    return Class("counting", handed, extended=frozenset({"ada", "jon"}), groups=groups)


class Change(NamedTuple):
    """A mistake in a right submission of an assignment that ships."""

    folder: str  # of the right one, below tests/submissions
    file: str
    old: str
    new: str
    private: str
    beside: str = ""  # a file that it needs, from another assignment
    overlay: str = ""


def c_or_java(name, private):
    """Return a mistake of :mod:`tests.harness.spoilt_submissions`."""
    one = SPOILT[name]
    return Change(f"{one.assignment}/{one.right}", one.file, one.old, one.new, private)


RULES = "gomoku-rules/assignment1"
SHIPPED = {
    "go-scoring": Change(
        "go-scoring/assignment1", "gtp_connection_go1.py", " - self.komi", "",
        "thorough/single-stone.gtp", overlay="go-scoring/util"),
    "gomoku-rules": Change(
        RULES, "gtp_connection.py", ", (1, -1)", "", "thorough/diagonal-up.gtp"),
    "gomoku-policy": Change(
        "gomoku-policy/assignment3", "Gomoku3.py", "len(stones) == 3", "len(stones) == 2",
        "thorough/open-four.gtp", beside=f"{RULES}/gtp_connection.py"),
    "gosensei": c_or_java("plural", "thorough/board-files.gtp"),  # with boards beside it
    "java-go": c_or_java("nothing is taken", "thorough/legal.gtp"),
}  # fmt: skip


def of_shipped(source):
    """Two with the same right program, and one with a mistake in it, whose first try was right.

    No program draws its moves: each run must answer the same.
    """
    change, own = SHIPPED[source], assignments.find(source)
    place = SUBMISSIONS / change.folder
    paths = {path.relative_to(place).as_posix(): path for path in place.rglob("*.*")}
    if change.beside:
        paths[Path(change.beside).name] = SUBMISSIONS / change.beside
    texts = {name: path.read_text() for name, path in paths.items() if path.is_file()}
    right = {name: text.replace("random.choice(", "min(") for name, text in texts.items()}
    assert change.old in right[change.file]
    wrong = right | {change.file: right[change.file].replace(change.old, change.new)}
    first, second = (small_class.archive(files, own.archive.folder) for files in (right, wrong))
    handed = {"ada": in_time(first), "ben": in_time(first), "cyd": in_time(first, second)}
    overlay = SUBMISSIONS / change.overlay if change.overlay else None
    return Class(source, handed, (change.private,), overlay)


def test_marks_sheets_and_pages_are_those_of_grade(service, counting, tmp_path):
    limits = counting / "assignment.toml"
    limits.write_text(limits.read_text().replace("cpu = 1\n", "cpu = 0.4\n"))
    found = compare(service, small(), tmp_path).totals
    assert (found["ada"], found["pair"], found["cyd"]) == (7, 7, Fraction(24, 5))  # of 6, late


@pytest.mark.slow
@pytest.mark.long(1500)
def test_so_are_those_of_two_hundred_of_every_kind(service, c_tools, java, tmp_path, monkeypatch):
    """And they are the true ones."""
    made_ = whole_class.make(tmp_path / "class")
    monkeypatch.setattr(shipped, "folder", lambda: tmp_path / "class")
    cases_ = {f"s{number}": case for number, case in made_.cases}
    handed = {key: tuple(itertools.starmap(File, case.files)) for key, case in cases_.items()}
    extended = frozenset(key for key, case in cases_.items() if not case.late)
    own = Class(made_.assignment.name, handed, extended=extended)
    compared = compare(service, own, tmp_path)
    # A student whose only file is refused on arrival has submitted nothing.
    refused = {key for key, files_ in handed.items() if not any(map(is_taken, files_))}
    truth = {key: case.mark for key, case in cases_.items() if key not in refused}
    assert len(truth) > whole_class.COUNT - 5
    assert {key: compared.totals[key] for key in truth} == truth


TOOLS = {"gosensei": "c_tools", "java-go": "java"}  # fixtures
SOME = (("sqlite", "go-scoring"),)  # it has a course folder, and boards on its pages
ALL = [
    pytest.param(*pair, marks=[] if pair in SOME else [pytest.mark.slow])
    for pair in itertools.product(["sqlite", "postgresql"], SHIPPED)
]


@pytest.mark.parametrize(("settings", "source"), ALL, indirect=["settings"])
def test_so_are_those_of_an_assignment_that_ships(service, source, request, tmp_path):
    if source in TOOLS:
        request.getfixturevalue(TOOLS[source])
    pages = compare(service, of_shipped(source), tmp_path).pages
    assert b"<svg" in pages["evidence/cyd.html"]


class Compared(NamedTuple):
    """What was the same."""

    pages: dict[str, bytes]  # and sheets, by name
    totals: dict[str, Fraction]  # marks by key


def compare(service, own, folder):
    """Let a class be graded by the service, then twice by ``grade``: alike, to the byte."""
    grading = graded_by_service(service, own)
    settings = service.settings
    place, result = (
        settings.ledger(grading.assignment),
        settings.assignment_folder(grading.assignment),
    )
    pages = files(folder_of(result, grading.id))
    feedback = {f"feedback/{key}.html" for key in own.handed}
    assert {"class.html", "marks.csv", "class.json", *feedback} <= set(pages)
    with closing(levels.choose()) as strongest:
        assert json.loads(pages["class.json"])["sandbox"] == levels.describe_level(strongest.level)
    rule = rule_of(service, grading.assignment)
    words = [str(class_csv(service, grading.assignment, own, folder))]
    words += ["--assignment", own.source]
    words += ["--private", str(result / "private")] if own.private else []
    words += ["--overlay", str(result / "overlay")] if own.overlay else []

    # All anew, with what is drawn at a ledger's beginning: the same marks, pages and sheets.
    anew = folder / "anew"
    began_with(seed_of(place), anew / LEDGER)
    ran(words, anew, rule)
    ours, theirs = marks(place), marks(anew / LEDGER)
    assert ours == theirs
    assert set(ours) == {*keys_of(own), "refused", "nobody"}
    differing = (*MOMENTS, *MEASURED)
    same(files(anew), pages, *differing)

    # With the service's own ledger grade has nothing to run, and writes the same files.
    copy = folder / "copy"
    shutil.copytree(settings.originals, copy / ORIGINALS)
    if settings.database:
        words += ["--ledger", place.address, "--key", str(place.key(""))]
    else:
        shutil.copy(place.path, copy / LEDGER)
        shutil.copy(place.key(""), copy / f"{LEDGER}.key")
    ran(words, copy, rule)
    same(files(copy), pages, *MOMENTS)
    totals = {key: canonical_json.loads(Marks, text).total for key, text in ours.items()}
    return Compared(pages, totals)


def keys_of(own):
    """Return as whose everything is handed in."""
    return {dict(own.groups).get(key, key) for key in own.handed}


def rule_of(service, assignment):
    """Return what being late costs in a course."""
    with service.database.reading() as db:
        one = courses.ASSIGNMENTS.find(db, id=assignment)
        return making.late(one, courses.extensions(db, assignment))


def ran(words, output, rule):
    """Grade by the command line, which has no word for deadlines of single students."""
    made = grade_command.GradeOptions

    def with_rule(assignment, **options):
        return made(assignment=assignment._replace(late=rule), **options)

    with mock.patch.object(grade_command, "GradeOptions", with_rule):
        assert main(["grade", *words, "--output", str(output), "--no-color"]) in (0, 4)


def seed_of(place):
    with closing(Ledger(place)) as ledger:
        return ledger.seed


def began_with(seed, path):
    """Make a ledger that draws the same images of public tests as another one."""
    path.parent.mkdir()
    with mock.patch.object(secrets, "token_hex", lambda _size: seed):
        Ledger(path).close()
    assert seed_of(path) == seed


def graded_by_service(service, own):
    """Let a class hand in, its public tests run, and grade it with private ones."""
    course = make_course(service, roster_of(own), source=own.source, **dates(own))
    result = service.settings.assignment_folder(course.assignment.rpartition("/")[2])
    for name in own.private:
        path = shipped.folder() / own.source / name
        boards = {f"boards/{one.name}": one.read_bytes() for one in path.parent.glob("boards/*")}
        cases.put(result / "private", path.name, path.read_bytes(), boards)
    if own.overlay:
        shutil.copytree(own.overlay, result / "overlay")
    for key in own.extended or ():
        place = f"{course.assignment}/students/{dict(own.groups).get(key, key)}"
        course.teacher.post(f"{place}/extension", place, deadline=FUTURE)
    for name, handed in own.handed.items():
        browser = Browser(service).enter(course.links[name])
        for number, one in enumerate(handed):
            if is_taken(one):
                hand_in(browser, course, one.data, f"{name}-{number}-{one.name}")
    refused = Browser(service).enter(course.links["refused"])
    hand_in(refused, course, b"no archive at all", "refused.tgz")
    work(service)
    path = course.teacher.post(f"{course.assignment}/gradings", all_the_same="yes").url.path
    work(service)
    with service.database.reading() as db:
        found = uploads.GRADINGS.find(db, id=path.rpartition("/")[2])
    assert found.concluded
    return found


def is_taken(one):
    """Tell whether the service takes a file: one that is not empty, nor larger than it may be."""
    return 0 < len(one.data) <= IntakeLimits().compressed


def dates(own):
    """Return the dates of an assignment, as its form has them."""
    return {} if own.extended is None else {"deadline": PAST, "deduction": "20"}


def everybody(own):
    """Return all students with the keys of their groups."""
    alone = dict.fromkeys([*own.handed, "refused", "nobody"], "")
    return {**alone, **dict(own.groups)}


def roster_of(own):
    return "\n".join(["student,group", *map(",".join, everybody(own).items())])


def class_csv(service, assignment, own, folder):
    """Write what the service has as a source for grade; return its path."""
    path = folder / "class.csv"
    with service.database.reading() as db:
        handed = uploads.UPLOADS.all(db, "at", assignment=assignment)
        by = {one.person: one.key for one in courses.MEMBERS.all(db)}
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "group", "file", "time"])
        for key, group in everybody(own).items():
            sent = [one for one in handed if by[one.person] == key]
            rows.writerows([key, group, *told] for told in _files_of(service, sent, folder))
    return path


def _files_of(service, sent, folder):
    """Copy what a student sent into a folder; yield names and times, once nothing for nothing."""
    for one in sent:
        shutil.copy(service.store.path(one.sha256), folder / one.name)
        yield one.name, datetime.datetime.fromtimestamp(int(one.at)).isoformat()
    if not sent:
        yield "", ""


def marks(place):
    """Return the marks in force as the ledger has them, by key."""
    with closing(Ledger(place)) as ledger:
        return {key: one.marks for key, one in ledger.in_force().items()}


def files(folder):
    """Return what a grading wrote, by name."""
    left_out = (ORIGINALS, LEDGER)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {
        name: path.read_bytes() for name, path in names.items() if not name.startswith(left_out)
    }


# --- what may differ ----------------------------------------------------------------------------

# When a grading, or one run of it, was begun: there are two gradings.
MOMENTS = (
    rb"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}Z| UTC)",
    rb"\d{1,2} [A-Z][a-z]{2} \d{4}, \d{2}:\d{2} UTC",
)
# What an engine took, where it was run twice: on pages, in class.json, in junit.xml.
MEASURED = (
    rb"\xc2\xb7 \d[\d.,]* (?:ms|s)\b",
    rb"CPU time(?: \xc2\xb7 \d[\d.,]* MB at most)?",  # of one that ends at once it is not known
    rb'data-l="(?:wall time|CPU time|memory)">[^<]*',
    rb'"(?:cpu_)?seconds": [\d.e-]+',
    rb' time="[\d.]+"',
)


def same(ours, theirs, *differing):
    """Fail with the places where files differ, all of them."""
    found = find_differences(ours, theirs, *differing)
    told = [f"{name}\n  {one!r}\n  {other!r}" for name, (one, other) in found.items()]
    assert not told, "\n".join(told)


def find_differences(ours, theirs, *differing):
    """Return by name how files go on where they differ; ``differing``: patterns of what may."""
    pattern = re.compile(b"|".join(differing))
    names = sorted(ours.keys() | theirs.keys())
    pairs = {
        name: [pattern.sub(b"-", of.get(name, b"")) for of in (ours, theirs)] for name in names
    }
    return {name: go_on(*pair) for name, pair in pairs.items() if pair[0] != pair[1]}


def go_on(*pair):
    """Return both texts from shortly before their first difference."""
    equal = itertools.takewhile(lambda both: both[0] == both[1], zip(*pair, strict=False))
    same = sum(1 for _ in equal)
    return tuple(text[max(0, same - 120) : same + 80] for text in pair)
