"""How often a grading asks its ledger: one statement for many attempts."""

from contextlib import closing

import pytest
from sqlalchemy import event

from harness.assignments import assignment
from harness.grading import LEDGER, ORIGINALS, grade
from harness.grading.attempts import attempt_runner
from harness.grading.attempts.units import Unheard
from harness.grading.grade import GradeOptions
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.places import Store
from tests.cluster.test_set_aside import PASSED, Away
from tests.harness import small_class
from tests.harness.small_class import Student


def statements(folder, submissions):
    """The statements of a grading of so many submissions, beside its plan and its marks."""
    students = [Student(f"S{n}", f"return 2 * n  # {n}", 7) for n in range(submissions)]
    room, found = small_class.make(folder, students), []
    own = assignment.find(str(room / "counting"))
    wanted = GradeOptions(own, room / "submissions", room, public_only=True, images=False)
    store = Store(room / ORIGINALS)
    with closing(Ledger(room / LEDGER)) as ledger:
        plan = grade.prepare(wanted, ledger, store)
        event.listen(ledger.db, "before_cursor_execute", lambda *given: found.append(given[2]))
        grade.run(wanted, ledger, plan, store, Unheard(), away=Away(("m", PASSED)))
    return found


@pytest.mark.parametrize(("together", "commits"), [(0.0, 1), (1000.0, 0)])
def test_a_submission_more_costs_no_more_than_its_results_are_written_with(
    tmp_path, monkeypatch, together, commits
):
    """All that its report has is one transaction, which it shares with what comes soon."""
    monkeypatch.setattr(attempt_runner, "TOGETHER", together)
    few, many = (statements(tmp_path / f"{count}", count) for count in (2, 7))
    assert (len(many) - len(few)) / 5 <= 12
    assert (many.count("COMMIT") - few.count("COMMIT")) / 5 == commits
