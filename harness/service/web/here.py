"""A request that may be answered: by whom it is, and what it is about."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import Request
from starlette.datastructures import FormData

from harness.service.people import accounts
from harness.service.records import (
    STAFF,
    Assigned,
    Comment,
    Course,
    Grading,
    Job,
    Member,
    Person,
    Suite,
    SuiteRun,
    Token,
    Upload,
)
from harness.service.web.service import Service


class Here(NamedTuple):
    """A request that may be answered: by whom it is, and what it is about."""

    service: Service
    request: Request
    person: Person | None = None
    session: str = ""  # the secret of it; empty: none, or an API token was shown
    token: Token | None = None
    course: Course | None = None
    member: Member | None = None
    assigned: Assigned | None = None
    upload: Upload | None = None
    grading: Grading | None = None
    student: str = ""  # the key of the student or group that the path names
    comment: Comment | None = None  # for that student or group
    job: Job | None = None  # that the path names by what it is about
    suite: Suite | None = None
    run: SuiteRun | None = None
    colleague: Member | None = None  # a member of the staff that the path names
    form: FormData = FormData()
    why: str = ""  # the form was not taken; its page is shown again, with what was typed

    @property
    def by(self) -> str:
        """Return the ID of the person asking, or "" if not signed in."""
        return self.person.id if self.person else ""

    @property
    def is_staff(self) -> bool:
        """Whether it is a teacher or an assistant of the course."""
        return self.member is not None and self.member.role in STAFF

    @property
    def owns_suite(self) -> bool:
        """Whether it is the owner of the suite that the path names."""
        return self.suite is not None and self.suite.person == self.by

    @property
    def form_token(self) -> str:
        """Return what the forms on a page must carry."""
        return accounts.form_token(self.session) if self.session else ""

    def field(self, name: str) -> str:
        """Return a field of the form, trimmed; empty if there is none."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def sure_suite(self) -> Suite:
        """Return the suite that a path names; for routes whose rule has looked it up."""
        assert self.suite
        return self.suite

    def sure_comment(self) -> Comment:
        """Return the comment that a path names; for routes whose rule has looked it up."""
        assert self.comment
        return self.comment

    def sure_colleague(self) -> Member:
        """Return the colleague that a path names; for routes whose rule has looked it up."""
        assert self.colleague
        return self.colleague

    def sure_run(self) -> SuiteRun:
        """Return the run that a path names; for routes whose rule has looked it up."""
        assert self.run
        return self.run

    def sure(self) -> Known:
        """Return what a path in an assignment names; for routes whose rule has looked it up."""
        assert self.course and self.member and self.assigned
        return Known(self.course, self.member, self.assigned)


class Known(NamedTuple):
    """What a path in an assignment names."""

    course: Course
    member: Member
    assigned: Assigned
