"""What is in doubt is run again on another machine: after a restart the ledger tells on which."""

from contextlib import closing

import pytest

from harness.assignments import assignment
from harness.errors import NoClusterError
from harness.grading import LEDGER, ORIGINALS, grade
from harness.grading.attempts.units import GradingListener
from harness.grading.grade import GradeOptions
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.places import Store
from harness.work.canonical_json import NOTHING, Measurements
from harness.work.worker_events import AttemptFinished
from tests.harness import small_class
from tests.harness.small_class import CLASS


class Away:
    """A machine that doubts each first run, and is lost before a second one if it is told to."""

    def __init__(self, *, is_lost):
        self.is_lost = is_lost
        self.asked = []  # (whether it is to be alone, where it was run before)

    def level(self, _choice):
        return "3"

    def run(self, units, _store, means, on_word, _on_time):
        self.secret = means.secret
        for index, unit in enumerate(units):
            ran_on = {means.ran_on[case.basis] for case in unit.cases}
            self.asked.append((unit.alone, ran_on))
            if unit.alone and self.is_lost:
                raise NoClusterError("it is gone")
            for case in unit.cases:
                own = Measurements(machine="one", alone=unit.alone)
                doubtful = not unit.alone
                on_word(index, AttemptFinished(case.basis, NOTHING, own, True, doubtful))
            yield index, None


def test_another_process_knows_where_the_first_run_was(tmp_path):
    room = small_class.make(tmp_path, CLASS[:1])
    output = room / "graded"
    wanted = GradeOptions(
        assignment.find(str(room / "counting")),
        room / "submissions",
        output,
        public_only=True,
        images=False,
    )
    output.mkdir()
    store = Store(output / ORIGINALS)
    first, second = Away(is_lost=True), Away(is_lost=False)
    with closing(Ledger(output / LEDGER)) as ledger:
        found = grade.prepare(wanted, ledger, store)
        with pytest.raises(NoClusterError):
            grade.run(wanted, ledger, found, store, GradingListener(), other_machines=first)
    with closing(Ledger(output / LEDGER)) as ledger:
        found = grade.load_last_plan(ledger)
        grade.run(wanted, ledger, found, store, GradingListener(), other_machines=second)
        assert second.secret == ledger.seed != ""
        assert grade.count_pending(ledger, found) == 0
    assert first.asked[0] == (False, {""})
    assert first.asked[-1] == (True, {"one"})
    assert second.asked and all(asked == (True, {"one"}) for asked in second.asked)
