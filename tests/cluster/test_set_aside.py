"""What a machine said before it was set aside counts for no mark, and is run again elsewhere.

So is what is in doubt.
"""

from contextlib import closing
from fractions import Fraction

import pytest
from sqlalchemy import func, select

from harness.assignments import assignment
from harness.core.errors import NoClusterError
from harness.core.records import Build, Outcome, Reply, Verdict
from harness.grading import LEDGER, ORIGINALS, SET_ASIDE, grade
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.attempt_plan import GradeOptions
from harness.grading.attempts.orders import GradingListener, SetAside, ran_on
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.ledger_tables import RESULT
from harness.grading.ledger.places import Store
from harness.grading.ledger.salvage import salvage
from harness.reading import casefile
from harness.running.file_runner import not_run
from harness.work import canonical_json, records
from harness.work.records import NOTHING, AttemptFinished, BuildFinished, Measurements
from tests.harness import small_class
from tests.harness.small_class import CLASS

PASSED, FAILED = Verdict.PASSED, Verdict.FAILED
GOOD, BAD = Fraction(5), Fraction(1)  # marks without private case files


def result_of(content, verdict):
    """The result of a case file all of whose tests have this verdict, as it is stored."""
    case = casefile.parse(content, "a.gtp")
    tests = [index for index, step in enumerate(case.steps) if step.is_test]
    replies = tuple(Reply(True, "1", "= 1", 0.0) for _ in case.steps)
    outcomes = tuple(Outcome(index, verdict, replies[index]) for index in tests)
    found = not_run(case)._replace(outcomes=outcomes, replies=replies, failures=())
    return canonical_json.dumps(records.strip_measurements(found, "/x"))


class Away:
    """Machines that take turns, one for each call; each tells one verdict of everything."""

    def __init__(self, *turns, after=lambda: None):
        """``after``: is called when all was said, before the call ends."""
        self.turns = list(turns)
        self.after = after
        self.asked = []  # of each call: how many case files

    def level(self, _choice):
        return "3"

    def run(self, units, store, _means, on_event, _on_time):
        machine, verdict = self.turns.pop(0)
        self.asked.append(sum(len(unit.cases) for unit in units))
        for index, unit in enumerate(units):
            on_event(index, BuildFinished(unit.build, Build(True, machine, ""), 0.1))
            for case in unit.cases:
                text = result_of((store / case.sha256).read_bytes(), verdict)
                figures = Measurements(machine=machine)
                on_event(index, AttemptFinished(case.basis, text, figures, False, False))
            yield index, None
        self.after()


@pytest.fixture
def class_of_two(tmp_path):
    """A class of two, and the one who hands in nothing."""
    room = small_class.make(tmp_path, (CLASS[0], CLASS[2]))
    output = room / "graded"
    output.mkdir()
    return GradeOptions(
        assignment.find(str(room / "counting")),
        room / "submissions",
        output,
        public_only=True,
        images=False,
        set_aside=output / SET_ASIDE,
    )


def grade_class(wanted, away, *, accept=False):
    """Grade; return the outcome, and the machines that gave its results and its builds."""
    store = Store(wanted.output / ORIGINALS)
    with closing(Ledger(wanted.output / LEDGER)) as ledger:
        found = attempt_plan.prepare(wanted, ledger, store, attempt_plan.read_inputs(wanted))
        if away:
            grade.run(wanted, ledger, found, store, GradingListener(), other_machines=away)
        machines = set().union(
            *(map(ran_on, ledger.figures(one.basis for one in found.attempts).values()))
        )
        builds = filter(None, (ledger.build(one.build) for one in found.attempts))
        outcome = grade.update_marks(wanted._replace(accept=accept), ledger, found)
        ledger.check()
        return outcome, machines, {canonical_json.loads(Build, one).output for one in builds}


def totals(outcome):
    return sorted(one.marks.total for one in outcome.result.graded if not one.submission.refused)


def rows(wanted):
    """How many rows of results there are."""
    with closing(Ledger(wanted.output / LEDGER)) as ledger:
        return ledger.db.execute(select(func.count()).select_from(RESULT)).scalar_one()


def test_what_it_said_in_the_same_grading_is_run_again_on_another(class_of_two):
    book = SetAside(class_of_two.set_aside)
    away = Away(("liar", FAILED), ("honest", PASSED), after=lambda: book.add("liar", "it lies"))
    outcome, machines, builds = grade_class(class_of_two, away)
    assert machines == builds == {"honest"}
    assert away.asked == [4, 4]
    assert totals(outcome) == [GOOD, GOOD]
    assert (
        rows(class_of_two) == 12
    )  # the results of both, and that those of the first do not count


def test_what_another_machine_said_stays(class_of_two):
    grade_class(class_of_two, Away(("honest", PASSED)))
    SetAside(class_of_two.set_aside).add("liar", "it lies")
    away = Away()
    assert totals(grade_class(class_of_two, away)[0]) == [GOOD, GOOD]
    assert away.asked == []
    assert rows(class_of_two) == 4


def test_marks_in_force_are_listed_by_name_and_stay_until_it_was_run_again(class_of_two):
    grade_class(class_of_two, Away(("liar", FAILED)))
    SetAside(class_of_two.set_aside).add("liar", "it lies")
    # Nothing is run: no mark is made of it, and none that is in force is changed.
    outcome, machines, _ = grade_class(class_of_two, None, accept=True)
    assert machines == {"liar"}
    assert totals(outcome) == [BAD, BAD]
    assert {one.key.partition("_")[0] for one in outcome.changes} == {"rightada", "wrongcyd"}
    for change in outcome.changes:
        assert change.new.withheld
        assert "on liar, which was set aside" in str(change)
    # Then it is run again elsewhere, and changes are shown before they are made.
    outcome, machines, builds = grade_class(class_of_two, Away(("honest", PASSED)))
    assert machines == builds == {"honest"}
    assert totals(outcome) == [BAD, BAD]
    assert [(one.old.total, one.new.total) for one in outcome.changes] == [(BAD, GOOD)] * 2
    assert all(sum(cause.points for cause in one.causes) == 4 for one in outcome.changes)
    outcome, *_ = grade_class(class_of_two, None, accept=True)
    assert totals(outcome) == [GOOD, GOOD]


def test_no_first_mark_is_made_of_what_it_said(class_of_two):
    store = Store(class_of_two.output / ORIGINALS)
    with closing(Ledger(class_of_two.output / LEDGER)) as ledger:
        found = attempt_plan.prepare(
            class_of_two, ledger, store, attempt_plan.read_inputs(class_of_two)
        )
        grade.run(
            class_of_two,
            ledger,
            found,
            store,
            GradingListener(),
            other_machines=Away(("liar", PASSED)),
        )
        SetAside(class_of_two.set_aside).add("liar", "it lies")
        outcome = grade.update_marks(class_of_two, ledger, found)
        withheld = [one for one in outcome.result.graded if one.marks.withheld]
        assert len(withheld) == 2
        faults = [attempt.fault for one in withheld for attempt in one.attempts]
        assert all("on liar, which was set aside" in fault for fault in faults)
        refused = {one.submission.key for one in outcome.result.graded if one.submission.refused}
        assert set(ledger.in_force()) == refused


def test_a_salvaged_ledger_has_not_forgotten_what_counts(class_of_two, tmp_path):
    grade_class(class_of_two, Away(("liar", FAILED)))
    SetAside(class_of_two.set_aside).add("liar", "it lies")
    with closing(Ledger(class_of_two.output / LEDGER)) as ledger:
        found = attempt_plan.load_last_plan(ledger)
        assert len(grade.withdraw_distrusted(class_of_two, ledger, found)) == 2
        assert grade.withdraw_distrusted(class_of_two, ledger, found) == []
    into = tmp_path / "saved" / LEDGER
    into.parent.mkdir()
    salvage(class_of_two.output / LEDGER, into)
    with closing(Ledger(into)) as ledger:
        found = attempt_plan.load_last_plan(ledger)
        assert grade.count_pending(ledger, found) == len(found.attempts) == 4
        assert not any(ledger.results(one.basis) for one in found.attempts)


def test_a_file_of_machines_is_read_again_when_it_was_changed(tmp_path):
    book, other = SetAside(tmp_path / SET_ASIDE), SetAside(tmp_path / SET_ASIDE)
    assert book.machines() == set()
    other.add("liar", "it lies")
    assert book.machines() == book.machines() == {"liar"}
    (tmp_path / SET_ASIDE).unlink()
    assert book.machines() == set()


def test_what_somebody_has_leased_is_not_withdrawn(class_of_two):
    grade_class(class_of_two, Away(("liar", FAILED)))
    with closing(Ledger(class_of_two.output / LEDGER)) as ledger:
        bases = sorted(one.basis for one in attempt_plan.load_last_plan(ledger).attempts)
        assert ledger.withdraw(bases, "why") == bases
        token = ledger.lease(bases[:1])
        assert ledger.withdraw(bases, "why") == bases[1:]
        ledger.release(token)


# --- second runs -------------------------------------------------------------------------------


class Doubting:
    """A machine that doubts each first run, and is lost before a second one if it is told to."""

    def __init__(self, *, is_lost):
        self.is_lost = is_lost
        self.asked = []  # (whether it is to be alone, where it was run before)

    def level(self, _choice):
        return "3"

    def run(self, units, _store, means, on_event, _on_time):
        self.secret = means.secret
        for index, unit in enumerate(units):
            ran_on = {case.machine for case in unit.cases}
            self.asked.append((unit.alone, ran_on))
            if unit.alone and self.is_lost:
                raise NoClusterError("it is gone")
            for case in unit.cases:
                own = Measurements(machine="one", alone=unit.alone)
                doubtful = not unit.alone
                on_event(index, AttemptFinished(case.basis, NOTHING, own, True, doubtful))
            yield index, None


def test_another_process_knows_where_the_first_run_was(class_of_two):
    """What is in doubt is run again on another machine: the ledger tells on which it was."""
    wanted, output = class_of_two, class_of_two.output
    store = Store(output / ORIGINALS)
    first, second = Doubting(is_lost=True), Doubting(is_lost=False)
    with closing(Ledger(output / LEDGER)) as ledger:
        found = attempt_plan.prepare(wanted, ledger, store, attempt_plan.read_inputs(wanted))
        with pytest.raises(NoClusterError):
            grade.run(wanted, ledger, found, store, GradingListener(), other_machines=first)
    with closing(Ledger(output / LEDGER)) as ledger:
        found = attempt_plan.load_last_plan(ledger)
        grade.run(wanted, ledger, found, store, GradingListener(), other_machines=second)
        assert second.secret == ledger.seed != ""
        assert grade.count_pending(ledger, found) == 0
    assert first.asked[0] == (False, {""})
    assert first.asked[-1] == (True, {"one"})
    assert second.asked and all(asked == (True, {"one"}) for asked in second.asked)
