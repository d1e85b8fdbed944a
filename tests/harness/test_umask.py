"""A root, or a teacher, whose umask is 077: engines of other users read what they need."""

from fractions import Fraction

import pytest

from harness import adapters
from harness.adapters import ADAPTERS, Adapter
from harness.assignments import assignment
from harness.core import file_system
from harness.grading import grade
from harness.grading.attempts.attempt_plan import GradeOptions
from tests.harness import small_class
from tests.harness.small_class import CLASS
from tests.harness.umasks import strict_umask

LEVELS = ("3", "1")


@pytest.fixture
def strict():
    with strict_umask():
        yield


@pytest.mark.usefixtures("strict")
def test_what_is_there_is_opened(tmp_path):
    (tmp_path / "a").mkdir()
    for name, mode in (("program", 0o700), ("text", 0o600)):
        (tmp_path / "a" / name).write_text("x")
        (tmp_path / "a" / name).chmod(mode)
    file_system.open_all(tmp_path / "a")
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a").iterdir()}
    assert modes == {"program": 0o755, "text": 0o644}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.usefixtures("strict")
def test_an_adapter_is_open(tmp_path, name):
    adapters.place(Adapter(name, {}), tmp_path / "adapter")
    found = [tmp_path / "adapter", *(tmp_path / "adapter").rglob("*")]
    assert len(found) > 3
    shut = [path for path in found if path.stat().st_mode & 0o044 != 0o044]
    assert shut == []


@pytest.mark.processes
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.usefixtures("strict")
def test_a_class_is_graded_at_each_level(level, open_place):
    room = small_class.make(open_place, (CLASS[0],))
    output = room / "graded"
    output.mkdir()
    options = GradeOptions(
        assignment.find(str(room / "counting")), room / "submissions", output,
        sandbox=level, images=False,
    )  # fmt: skip
    marks = [one.marks for one in grade.grade(options).graded if one.attempts]
    assert [(one.total, one.note) for one in marks] == [(Fraction(7), "")]
