"""A class like the real ones, graded: every mark is the one computed beforehand.

With namespaces a ninth of it; all of it, and without namespaces, in the slow tier.
``python -m tests.benchmarks real`` grades it in all circumstances, a busy machine among them.
"""

import os

import pytest

from tests.harness import circumstances
from tests.harness.circumstances import USERS
from tests.harness.graded_class import grade_class
from tests.harness.test_sandbox_boxes import why_not

pytestmark = [pytest.mark.processes, pytest.mark.long(30)]

# Every ninth submission of each kind; all of them in the slow tier.
AS_ROOT = [
    ("ordinary user", 9),
    pytest.param(("ordinary user", 1), marks=pytest.mark.slow),
    pytest.param(("chroot", 1), marks=pytest.mark.slow),
]
AS_ANYBODY = [(USERS[0], 9), pytest.param((USERS[0], 1), marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=AS_ROOT if os.geteuid() == 0 else AS_ANYBODY)
def graded_real_class(request):
    name, step = request.param
    if reason := circumstances.why_not(name):
        pytest.skip(reason)
    with grade_class(name, step=step) as one:
        yield one, name


def test_every_mark_is_the_true_one(graded_real_class):
    one, _ = graded_real_class
    assert len(one.truth) >= 8
    assert one.wrong() == []


def test_the_level_is_the_strongest_that_is_left(graded_real_class):
    one, name = graded_real_class
    without_namespaces = name == "chroot" or (why_not(3) and why_not(2))
    levels = ("level 1",) if without_namespaces else ("level 3", "level 2")
    assert one.document["sandbox"].startswith(levels)


def test_submissions_that_are_alike_are_named(graded_real_class):
    one, _ = graded_real_class
    assert "the same except for blanks and comments" in one.said
