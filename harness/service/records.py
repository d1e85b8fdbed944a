"""The records that the packages of the service exchange. All immutable, none does anything.

Times are seconds since 1970, except for dates that a teacher sets, which are local as those of an
assignment are: ``2026-01-29T23:55``.
"""

import secrets
from typing import NamedTuple

from harness.core.network import origin_of

# What somebody is in a course, from what may do all to what may do least.
TEACHER, ASSISTANT, STUDENT = "teacher", "assistant", "student"
ROLES = (TEACHER, ASSISTANT, STUDENT)
STAFF = frozenset({TEACHER, ASSISTANT})
FORMER = "former"  # a removed student: not in the course, and can be added again

# What a teacher may let an assistant do, by the names that are kept.
EXTEND, COMMENT, OVERRIDE, CASES, GRADE_CLASS = "extend", "comment", "override", "cases", "grade"
RIGHTS = {
    EXTEND: "extend deadlines",
    COMMENT: "comment",
    OVERRIDE: "override marks",
    CASES: "add private case files",
    GRADE_CLASS: "start gradings",
}

# What a job does.
CHECK, PLAN, GRADE, CONCLUDE, EXPORT = "check", "plan", "grade", "conclude", "export"
RUN = "run"  # an engine of an author
DRAFT, MEASURE = "draft", "measure"  # positions for private cases; what private cases catch
PREVIEW = "preview"  # the marks that other points would change
TOURNAMENT = "tournament"  # games of the submissions of a grading

# How far a job is.
WAITING, LEASED, DONE, FAULT = "waiting", "leased", "done", "fault"
HELD = "held"  # a check, until what its assignment lacks is there

# Why a mail is sent, and what else becomes of it.
ASKED, ROSTER = "asked", "roster"  # somebody typed an address; a teacher sends links
SENT, NOBODY, GIVEN_UP = "sent", "nobody", "given up"  # NOBODY: none is known by the address


def new_id() -> str:
    """Return an id that nobody can guess: 16 hexadecimal digits."""
    return secrets.token_hex(8)


class Person(NamedTuple):
    """Somebody who signs in."""

    id: str
    name: str
    email: str
    is_admin: bool
    made: float
    is_shut_out: bool = False  # by the operator: no link, session or token holds


class Link(NamedTuple):
    """Stored part of a link by which somebody signs in."""

    digest: str  # of the secret in it
    person: str
    once: bool  # it is gone after the first use
    until: float


class Session(NamedTuple):
    """Stored part of a session of somebody who has signed in."""

    digest: str
    person: str
    made: float
    until: float
    frame: str  # origins whose pages may show it in a frame, with blanks between them


class Token(NamedTuple):
    """Token of an API client; the secret itself is nowhere."""

    id: str
    person: str
    name: str
    scope: str  # read, submit or all
    made: float
    until: float


class RepeatedRequest(NamedTuple):
    """A request under an idempotency key, which may be sent again."""

    person: str
    key: str
    digest: str  # of where it went and of what was sent
    made: str  # the ID of the new object; empty if not yet known
    at: float


class Course(NamedTuple):
    """A course."""

    id: str
    title: str
    made: float


class Member(NamedTuple):
    """Somebody in a course, or a removed student (FORMER)."""

    course: str
    person: str
    role: str
    key: str = ""  # of a student, as in a roster; unique in the course
    name: str = ""  # as the roster has it
    ids: str = "[]"  # JSON: pairs, such as ["canvas", "4711"]
    team: str = ""  # the key of the group that hands in as one; empty: alone
    may: str = ""  # of an assistant: names of RIGHTS, with blanks between them
    roster_id: str = ""  # of a student, as the first roster writes it
    team_name: str = ""  # of the group, as the last roster writes it

    def has(self, right: str) -> bool:
        """Whether somebody may do one of RIGHTS: teachers all, assistants what they were given."""
        return self.role == TEACHER or (self.role == ASSISTANT and right in self.may.split())

    def may_remove(self, comment: "Comment") -> bool:
        """Whether somebody may remove a comment: its author, and any teacher of the course."""
        return self.has(COMMENT) and (self.role == TEACHER or self.person == comment.person)

    @property
    def submits_as(self) -> str:
        """Return the key under which this student's submissions are graded."""
        return self.team or self.key


class CourseAssignment(NamedTuple):
    """An assignment of a course."""

    id: str
    course: str
    title: str
    source: str  # the name of one that ships; else it was uploaded
    opens: str  # local; empty: at once
    deadline: str  # local; empty: none
    closes: str  # nothing is taken after it
    deduction: str  # per cent, as a fraction
    grace: int  # minutes
    made: float
    points: str = ""  # JSON: of parts that are worth something else in this course, by name
    weights: str = ""  # JSON: of tests, too: by part, and by FILE:ID
    edition: int = 0  # of one that was uploaded: how many took the place of another
    left_out: str = ""  # JSON: of tests of weight 0: SHA-256 of their files when that was said
    hidden: bool = False  # from students


class Upload(NamedTuple):
    """A submitted file."""

    id: str
    assignment: str
    key: str  # as whose it was sent: of a student or of a group
    person: str  # who sent it
    name: str  # of the file, as the student calls it
    sha256: str
    size: int
    at: float
    withdrawn: bool = False
    record: str = ""  # JSON of the submission that intake made of it; empty: not yet
    run: int = 0  # of its public tests in the ledger; 0: none yet
    number: int = 0  # later ones of the assignment have larger ones

    @property
    def order(self) -> tuple[int, float, str]:
        """Sort key of uploads: as they came, even if a clock was set back between."""
        return self.number, self.at, self.id


class OwnedUpload(NamedTuple):
    """An upload and its owners: everyone in the group when it was sent."""

    upload: Upload
    students: frozenset[str]  # their keys


class Grading(NamedTuple):
    """One grading of an assignment of a course, with private case files."""

    id: str
    assignment: str
    person: str  # who wanted it
    at: float
    public_only: bool = False
    accept: bool = False  # change marks that are in force
    run: int = 0  # in the ledger; 0: not planned yet
    concluded: float = 0.0
    released: float = 0.0
    changes: str = "[]"  # JSON: a sentence for each mark in force that would change, or did
    trouble: str = ""  # why no marks were made or changed; empty if they were
    edition: int = 0  # of the assignment, when it was planned


class StudentMark(NamedTuple):
    """The mark of a submission as a grading left it."""

    grading: str
    key: str
    marks: str  # JSON, as in the ledger
    shown: str  # JSON: as much of it as its students may see


class MarkRecipient(NamedTuple):
    """The mark that a student got in a grading."""

    grading: str
    student: str  # the key
    key: str  # of the submission


class Comment(NamedTuple):
    """Comment by the staff for a student or a group."""

    id: str
    assignment: str
    key: str  # of the student or group at that time
    person: str
    at: float
    text: str


class Override(NamedTuple):
    """A mark that a person gives a student instead of the computed one, which stays as it is."""

    assignment: str
    key: str  # of the student
    points: str  # an exact fraction
    computed: str  # the mark at that time, in words
    reason: str
    person: str
    at: float


class Job(NamedTuple):
    """Something a worker does."""

    id: str
    kind: str
    assignment: str
    about: str  # the id of an upload, of a grading, of a draft; or a digest of case files
    key: str = ""  # of the submission; empty: all
    state: str = WAITING
    deaths: int = 0  # of workers that had it
    fault: str = ""
    turn: int = 0  # how many unfinished jobs of its kind its person had before it
    due: str = ""  # the deadline
    made: float = 0.0
    token: str = ""
    owner: str = ""
    until: float = 0.0
    person: str = ""  # the ID of the person who asked for it; may be empty

    @property
    def is_unfinished(self) -> bool:
        """Whether a worker has it or will have it: it is neither done nor a fault."""
        return self.state in (WAITING, LEASED)


class Letter(NamedTuple):
    """A mail with a link to sign in by. The link is made when it is sent, and kept nowhere."""

    id: str
    kind: str  # ASKED or ROSTER
    address: str
    person: str = ""  # of ROSTER: whom the link is for
    course: str = ""  # of ROSTER
    state: str = WAITING
    tries: int = 0
    due: float = 0.0  # not to be sent before
    made: float = 0.0
    trouble: str = ""  # why it was not sent the last time


class Suite(NamedTuple):
    """Tests of an engine author, run over and over."""

    id: str
    person: str  # whose it is
    title: str
    made: float
    is_open: bool = False  # anyone signed in may read it
    badge: str = ""  # the secret in the address of its badge; empty without one
    runs: int = 0  # how many there ever were
    bench: str = ""  # the assignment as which engines are run here; empty: runs come as documents


class SuiteRun(NamedTuple):
    """A run of a suite; what it found is in a file."""

    id: str
    suite: str
    number: int  # in the suite, from 1
    person: str  # who posted it
    at: float  # when it came
    revision: str = ""  # what tells one build of the engine from another
    started: str = ""  # ISO 8601, UTC; empty if not yet run
    engine: str = ""  # name and version, as it gave them
    size: int = 0  # bytes of its document
    tests: int = 0  # all except the ignored ones
    passed: int = 0  # expected or not
    failed: int = 0  # unexpectedly
    undecided: int = 0  # not run, or not judged
    broken: int = 0  # files in which the engine failed
    name: str = ""  # of an archive that is run here; empty: a document was posted
    sha256: str = ""  # of the archive
    trouble: str = ""  # why it found nothing


class AuditEntry(NamedTuple):
    """A line of the audit log."""

    link: int
    at: str  # ISO 8601, UTC
    person: str  # id; empty: the service itself
    what: str
    about: str  # the id of what it was done to
    details: str


# --- platforms that open the service from their courses (LTI 1.3) --------------------------------


class Platform(NamedTuple):
    """A platform, such as a university's Moodle."""

    id: str
    title: str
    issuer: str
    client_id: str  # as the platform calls this service
    login_url: str
    token_url: str
    jwks_url: str
    algorithm: str = "RS256"  # of its signatures
    deployments: str = ""  # the ids, with blanks between them
    hosts: str = ""  # more origins of it, with blanks between them
    made: float = 0.0

    @property
    def origins(self) -> list[str]:
        """Return where its pages and services are: nothing else is asked, or may frame a page."""
        own = (self.issuer, self.login_url, self.token_url, self.jwks_url)
        return sorted({origin_of(one) for one in (*own, *self.hosts.split())})

    def has(self, address: str) -> bool:
        """Whether an address is at one of its origins."""
        return origin_of(address) in self.origins


class CourseLink(NamedTuple):
    """A course of a platform that is a course here."""

    id: str
    platform: str
    deployment: str
    context: str  # as the platform calls the course
    course: str
    person: str  # who linked it
    title: str = ""
    members_url: str = ""
    groups_url: str = ""
    lines_url: str = ""
    state: str = ""  # WAITING: for the next reading of its members; empty: they are not told
    tries: int = 0
    due: float = 0.0
    synced: float = 0.0
    trouble: str = ""
    remarks: str = ""  # a line each


class PlatformUser(NamedTuple):
    """A platform's user in a course."""

    link: str
    subject: str  # as the platform calls somebody
    person: str


class GradebookLine(NamedTuple):
    """A column of a platform's gradebook, where the marks of an assignment go."""

    link: str
    assignment: str
    url: str  # empty: not yet known


class Score(NamedTuple):
    """The mark of a student that a platform is to have, or has."""

    link: str
    assignment: str
    key: str  # of the student
    state: str = WAITING
    tries: int = 0
    due: float = 0.0
    sent: str = ""  # JSON: what the platform has
    at: float = 0.0  # when it was sent
    trouble: str = ""


class LaunchSecret(NamedTuple):
    """Stored part of a secret for one use and a short time."""

    digest: str
    kind: str
    data: str  # JSON
    until: float
