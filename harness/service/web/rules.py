"""Rules of who may do what: each route has one of them."""

from __future__ import annotations

from typing import NamedTuple

from harness.service.records import COMMENT, RIGHTS, ROLES, STAFF, STUDENT, TEACHER
from harness.service.web.here import Here


class Rule(NamedTuple):
    """Who may use a route."""

    name: str
    roles: frozenset[str] = frozenset()  # in the course of the path; empty if it has no course
    signed_in: bool = True
    admins: bool = False  # administrators only
    right: str = ""  # the right that an assistant needs
    owns: bool = False  # the owner of the suite only
    removes: bool = False  # the comment of the path: its author and teachers only

    def allows(self, here: Here) -> bool:
        """Whether a person with this role in the course or suite of the path may do it."""
        member = here.member
        if self.roles and (member is None or member.role not in self.roles):
            return False
        if self.right and (member is None or not member.has(self.right)):
            return False
        if self.removes and (member is None or not member.may_remove(here.sure_comment())):
            return False
        return here.owns_suite or not self.owns


ANYBODY = Rule("anybody", signed_in=False)
SIGNED_IN = Rule("people who are signed in")
ADMINS = Rule("administrators", admins=True)
MEMBERS = Rule("members of the course", frozenset(ROLES))
STUDENTS = Rule("students of the course", frozenset({STUDENT}))
STAFF_ONLY = Rule("teachers and assistants of the course", STAFF)
TEACHERS = Rule("teachers of the course", frozenset({TEACHER}))
OWNERS = Rule("the owner of the suite", owns=True)
COMMENT_REMOVERS = Rule(
    "the author of the comment, if still allowed to comment, and teachers of the course",
    STAFF,
    right=COMMENT,
    removes=True,
)


def whoever_may(right: str) -> Rule:
    """Return the rule for teachers, and for assistants who were given one of RIGHTS."""
    return Rule(f"teachers, and assistants who may {RIGHTS[right]}", STAFF, right=right)
