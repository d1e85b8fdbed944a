"""A class like the real ones, graded: every mark is the one computed beforehand.

With and without namespaces here; ``python -m tests.benchmarks real`` grades it in all
circumstances, a busy machine among them.
"""

import os

import pytest

from tests.harness import circumstances
from tests.harness.circumstances import USERS
from tests.harness.graded_class import graded
from tests.harness.test_sandbox_boxes import why_not

pytestmark = [pytest.mark.processes, pytest.mark.long(50)]

NAMES = ["ordinary user", "chroot"] if os.geteuid() == 0 else USERS[:1]


@pytest.fixture(scope="module", params=NAMES)
def found(request):
    if reason := circumstances.why_not(request.param):
        pytest.skip(reason)
    with graded(request.param) as one:
        yield one, request.param


def test_every_mark_is_the_true_one(found):
    one, _ = found
    assert len(one.truth) >= 40
    assert one.wrong() == []


def test_the_level_is_the_strongest_that_is_left(found):
    one, name = found
    without_namespaces = name == "chroot" or (why_not(3) and why_not(2))
    levels = ("level 1",) if without_namespaces else ("level 3", "level 2")
    assert one.document["sandbox"].startswith(levels)


def test_submissions_that_are_alike_are_named(found):
    one, _ = found
    assert "the same except for blanks and comments" in one.said
