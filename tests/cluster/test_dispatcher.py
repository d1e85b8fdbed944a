"""What the dispatcher does when something is lost; the connector says what the test wants."""

import hashlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cluster import dispatcher
from harness.cluster.dispatcher import Dispatcher, SendableEnvironment
from harness.cluster.records import (
    ConnectorSettings,
    Facts,
    FinishedUnit,
    LostUnit,
    PresentWorkers,
    WorkerReport,
)
from harness.core.errors import NoClusterError, UsageError
from harness.core.records import Outcome, Verdict
from harness.environments.environment_archive import UnsendableError
from harness.environments.interpreters import EnginePython, PackedEnvironment
from harness.grading.attempts.orders import SetAside
from harness.work import canonical_json
from harness.work import records as unit_records
from harness.work.records import (
    NOTHING,
    AttemptFinished,
    HarnessFailed,
    Measurements,
    UnitCase,
    UnitFinished,
    WorkUnit,
)
from oracle import __version__
from oracle.command_properties import PropertyTable
from tests.cluster.test_report_checks import REPLY, RESULT, UNIT

CASE = b"1 twice 2\n#? [4]\n"
OUTCOME = Outcome(0, Verdict.FAILED, None)
SHA256 = hashlib.sha256(CASE).hexdigest()
SECRET = "of the ledger"
BASES = ["01" * 32, "02" * 32, "03" * 32]  # each is done once
ONE, TWO = (Facts(f"tcp://{name}", name, __version__, ("3",), (), ()) for name in ("one", "two"))


class Connector:
    """Answers each load as told, in turn; afterwards with what a good worker brings."""

    status = None

    def __init__(self, *answers, workers=(ONE, TWO), later=()):
        self.answers = list(answers)
        self.later = list(later)
        self.loads = []
        self.news = [PresentWorkers(tuple(workers))]

    def send(self, load):
        self.loads.append(load)
        answer = self.answers.pop(0) if self.answers else well
        self.news += answer(load)

    def receive(self, _seconds):
        told, self.news = self.news, self.later[:1]
        del self.later[:1]
        return told

    def close(self):
        pass


def unit_of(load):
    """The unit of a load, as a worker reads it."""
    return canonical_json.read(WorkUnit, load.unit, "the unit")


def finish_attempt(basis):
    return AttemptFinished(basis, NOTHING, Measurements(pace=1.0), failed=True, doubtful=False)


def well(load):
    return bring_report(
        load, [*(finish_attempt(case.basis) for case in unit_of(load).cases), UnitFinished()]
    )


def bring_report(load, said):
    lines = tuple(unit_records.line(one).decode().rstrip("\n") for one in said)
    return [FinishedUnit(load.id, load.only[0], canonical_json.dumps(WorkerReport("liar", lines)))]


def lose_to_death(load):
    return [LostUnit(load.id, "its worker died", begun=True)]


def lose_unseen(load):
    return [LostUnit(load.id, "it was lost on the way", begun=False)]


def lies(load):
    return [FinishedUnit(load.id, load.only[0], '{"machine":"one","lines":["nonsense"]}')]


def in_trouble(load):
    return [
        FinishedUnit(
            load.id, load.only[0], canonical_json.dumps(WorkerReport("one", (), "no disk"))
        )
    ]


def as_another(load):
    told = canonical_json.dumps(WorkerReport(TWO.machine, (), "no disk"))
    return [FinishedUnit(load.id, ONE.address, told)]


def twice(load):
    return [*well(load), *well(load)]


def late(load):
    """The first try comes back after it was given up."""
    return [*lose_unseen(load), *well(load)]


@pytest.fixture
def carry_unit(tmp_path):
    """Carry a unit of three case files; return its progress and how it ended."""
    (tmp_path / SHA256).write_bytes(CASE)
    cases = tuple(UnitCase(basis, "one.gtp", SHA256) for basis in BASES)
    own = SimpleNamespace(command_properties=PropertyTable({}), build=None)
    own.engine = SimpleNamespace(needs=())

    def carry(
        *answers, workers=(ONE, TWO), later=(), machine="", alone=False, single=False, **more
    ):
        """``single``: each case file is a unit."""
        connector, said, remarks = Connector(*answers, workers=workers, later=later), [], []
        settings = ConnectorSettings("tcp://127.0.0.1:1", "", "", 0)
        own.python = more.pop("python", None)
        own_dispatcher = Dispatcher(settings, remarks.append, **more)
        own_dispatcher._connector = connector
        means = SimpleNamespace(assignment=own, secret=SECRET)
        ran = tuple(one._replace(machine=machine) for one in cases)
        asked = [ran] if not single else [(one,) for one in ran]
        units = [UNIT._replace(cases=some, alone=alone) for some in asked]

        def run():
            heard = own_dispatcher.run(units, tmp_path, means, lambda _, word: said.append(word))
            return list(heard)

        found = SimpleNamespace(said=said, connector=connector, remarks=remarks, again=run)
        found.ends = run()
        return found

    return carry


def bases(found, kind=AttemptFinished):
    return sorted(word.basis for word in found.said if isinstance(word, kind))


@pytest.mark.parametrize("answer", [well, lose_unseen, twice, late, lies, in_trouble])
def test_whatever_is_lost_each_attempt_is_told_once(carry_unit, answer):
    found = carry_unit(answer)
    assert found.ends == [(0, None)]
    assert bases(found) == BASES
    assert not bases(found, HarnessFailed)


def test_after_a_death_each_case_file_goes_by_itself(carry_unit):
    found = carry_unit(lose_to_death)
    assert [len(unit_of(load).cases) for load in found.connector.loads] == [3, 1, 1, 1]
    assert bases(found) == BASES
    assert not bases(found, HarnessFailed)


def test_a_death_under_one_attempt_is_told_and_costs_no_other(carry_unit):
    found = carry_unit(lose_to_death, well, lose_to_death, well)
    assert bases(found) == [BASES[0], BASES[2]]
    assert bases(found, HarnessFailed) == [BASES[1]]
    assert found.ends == [(0, None)]


def test_a_worker_that_lies_is_set_aside_and_the_other_one_does_it(carry_unit):
    found = carry_unit(lies)
    liar = found.connector.loads[0].only[0]
    assert [load.only for load in found.connector.loads[1:]] == [(TWO.address,)]
    assert liar == ONE.address
    assert [liar in remark for remark in found.remarks] == [True]


def test_a_machine_that_was_set_aside_stays_so_in_another_grading_by_its_name(
    carry_unit, tmp_path
):
    carry_unit(lies, book=SetAside(tmp_path / "aside" / "jsonl"))
    anew = ONE._replace(address="tcp://one:2")  # its process was started anew
    found = carry_unit(workers=[anew, TWO], book=SetAside(tmp_path / "aside" / "jsonl"))
    assert [load.only for load in found.connector.loads] == [(TWO.address,)]
    assert not found.remarks


@pytest.mark.parametrize("line", ["", "lab1", "[]", "{}", '{"machine"'])
def test_a_line_that_a_person_has_damaged_is_named(tmp_path, line):
    path = tmp_path / "set-aside.jsonl"
    SetAside(path).add("lab1", "why")
    assert SetAside(path).machines() == {"lab1"}
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(UsageError, match=r"set-aside.jsonl:2: found .* remove the whole line"):
        SetAside(path).machines()


def test_all_workers_of_a_machine_are_set_aside_with_one(carry_unit):
    other = ONE._replace(address="tcp://one:2")
    found = carry_unit(lies, workers=[ONE, other, TWO])
    assert [load.only for load in found.connector.loads[1:]] == [(TWO.address,)]
    assert len(found.remarks) == 1


@pytest.mark.parametrize("pace", [1000.0, 5.0, 0.1])
def test_a_worker_of_an_absurd_pace_gets_nothing_and_is_named_once(carry_unit, pace):
    slow = ONE._replace(pace=pace)
    found = carry_unit(workers=[slow, TWO])
    assert {load.only for load in found.connector.loads} == {(TWO.address,)}
    (remark,) = found.remarks
    assert f"{ONE.address} on one gets nothing: its pace is {pace:g}" in remark


def test_a_worker_that_limits_by_another_pace_than_it_announced_is_set_aside(carry_unit):
    slow = ONE._replace(pace=2.0)  # what it brings was divided by 1
    found = carry_unit(well, workers=[slow, TWO])
    assert [load.only for load in found.connector.loads[1:]] == [(TWO.address,)]
    assert "by another pace" in found.remarks[0]
    assert bases(found) == BASES


@pytest.fixture
def clock(monkeypatch):
    """Each look at the time is so many seconds after the one before."""
    now = SimpleNamespace(seconds=0.0, step=0.1)

    def monotonic():
        now.seconds += now.step
        return now.seconds

    monkeypatch.setattr(dispatcher, "time", SimpleNamespace(monotonic=monotonic))
    return now


def test_trouble_on_all_workers_is_told_in_the_end(carry_unit, clock):
    found = carry_unit(*[in_trouble] * 900, workers=[ONE])
    ((place, fault),) = found.ends
    assert place == 0
    assert "no disk" in fault.message
    assert not found.said
    assert 60 < clock.seconds < 90
    assert len(found.connector.loads) < 90  # a worker rests after each
    assert found.remarks == [
        "the worker tcp://one on one has given work back: no disk. It is tried again"
    ]


def test_who_gives_work_back_is_known_by_the_machine_that_it_announced(carry_unit, clock):
    """Else it would get the unit again: on the machine that it names nobody would try."""
    clock.step = 2  # so that it has rested
    found = carry_unit(as_another, workers=[ONE, TWO])
    assert [load.only for load in found.connector.loads[1:]] == [(TWO.address,)]
    assert bases(found) == BASES


def test_a_disk_that_is_full_for_half_a_minute_costs_no_attempt(carry_unit, clock):
    """Though its worker is the only one, and each of its troubles takes no time."""

    def full(load):
        return in_trouble(load) if clock.seconds < 30 else well(load)

    found = carry_unit(*[full] * 900, workers=[ONE])
    assert found.ends == [(0, None)]
    assert bases(found) == BASES


@pytest.mark.parametrize(
    ("alone", "workers", "only"),
    [
        (True, [ONE, TWO], (TWO.address,)),
        (True, [ONE], (ONE.address,)),  # there is no other one
        (False, [ONE, TWO], (ONE.address, TWO.address)),  # the first run of a grading that went on
    ],
)
def test_what_is_in_doubt_goes_to_another_machine_than_the_ledger_has(
    carry_unit, alone, workers, only
):
    (load,) = carry_unit(machine="one", alone=alone, workers=workers).connector.loads
    assert load.only == only


def test_nothing_of_this_machine_but_what_lies_where_is_sent(carry_unit, tmp_path):
    (load,) = carry_unit(well).connector.loads
    assert str(tmp_path) not in load.unit
    assert (load.cases, load.alone) == (3, False)
    assert (SHA256, str(tmp_path / SHA256)) in load.files
    assert len({one.id for one in carry_unit(lose_to_death).connector.loads}) == 4


def test_another_grading_sends_nothing_under_the_same_name(carry_unit):
    """Units that the first one sent may still be with the scheduler after it was killed."""
    one, other = carry_unit(lose_to_death), carry_unit(lose_to_death)
    assert not {load.id for load in one.connector.loads} & {
        load.id for load in other.connector.loads
    }


def test_one_in_a_hundred_goes_to_another_machine_as_well(carry_unit, monkeypatch):
    monkeypatch.setattr("harness.cluster.records.SECONDED", 1)
    found = carry_unit()
    opinions = found.connector.loads[1:]
    assert sorted(unit_of(load).cases[0].basis for load in opinions) == BASES
    assert {load.only for load in opinions} == {(TWO.address,)}
    assert bases(found) == BASES


def failing(load):
    """What a machine brings that tells another verdict of each case file than the others."""
    text = canonical_json.dumps(RESULT._replace(outcomes=(OUTCOME,), replies=(REPLY,)))
    said = [*(finish_attempt(case.basis)._replace(result=text) for case in unit_of(load).cases)]
    lines = tuple(unit_records.line(one).decode().rstrip("\n") for one in (*said, UnitFinished()))
    return [FinishedUnit(load.id, load.only[0], canonical_json.dumps(WorkerReport("", lines)))]


def test_two_machines_that_stay_with_what_they_said_are_a_harness_error(carry_unit, monkeypatch):
    """The third run goes to one of them again, whose vote counts once."""
    monkeypatch.setattr("harness.cluster.records.SECONDED", 1)
    brought = {ONE.address: well, TWO.address: failing}
    answer = [lambda load: brought[load.only[0]](load)] * 20
    found = carry_unit(*answer)
    assert bases(found) == []
    assert bases(found, HarnessFailed) == BASES
    assert all("one, two differ" in remark for remark in found.remarks)
    assert len(found.remarks) == 3


def test_which_are_done_twice_is_sent_to_nobody(carry_unit, monkeypatch):
    asked = []
    monkeypatch.setattr("harness.cluster.records.is_seconded", lambda *given: asked.append(given))
    found = carry_unit()
    assert asked == [(basis, SECRET) for basis in BASES]
    assert not any(SECRET in canonical_json.dumps(load) for load in found.connector.loads)


def test_a_second_opinion_that_nobody_brings_is_not_waited_for(carry_unit, monkeypatch):
    monkeypatch.setattr("harness.cluster.records.SECONDED", 1)
    assert bases(carry_unit(well, lose_to_death, lose_to_death, lose_to_death)) == BASES


def test_a_machine_on_which_the_harness_failed_is_not_the_next_to_try(carry_unit, tmp_path):
    """Else one on which all fails, and fast, would use up all three tries of an attempt."""

    def fails(load):
        basis = unit_of(load).cases[0].basis
        said = [HarnessFailed(basis, "no sandbox"), *(finish_attempt(one) for one in BASES[1:])]
        return bring_report(load, [*said, UnitFinished()])

    found = carry_unit(fails)
    assert bases(found, HarnessFailed) == BASES[:1]
    first = found.connector.loads[0].only[0]
    found.again()
    assert [load.only for load in found.connector.loads[1:]] == [
        tuple(one.address for one in (ONE, TWO) if one.address != first)
    ]


# --- environments ------------------------------------------------------------------------------

BASE = "Python 3.11.2 (an-abi, a-platform)"
PYTHON = EnginePython("/here/bin/python3", "Python 3.11.2 with numpy 1.23.5", "ab" * 32)
PACKED = PackedEnvironment("cd" * 32, 10, 20, BASE, PYTHON.fingerprint)
HAS_IT, TAKES_IT, OTHER = (
    ONE._replace(pythons=(PYTHON.fingerprint,)),
    TWO._replace(bases=("Python 3.9.1 (an-abi, a-platform)", BASE)),
    Facts("tcp://other", "other", __version__, ("3",), (), ("ef" * 32,), 1.0, ("Python 3.9",)),
)


@pytest.fixture
def sendable_environment(monkeypatch):
    """An environment that can be sent."""
    found = SendableEnvironment(PACKED, Path("/here/archive"))
    monkeypatch.setattr(dispatcher, "sendable", lambda python: found)


def test_an_environment_goes_along_to_who_has_it_or_can_be_sent_it(
    carry_unit, sendable_environment
):
    found = carry_unit(workers=[HAS_IT, TAKES_IT, OTHER], python=PYTHON)
    (load,) = found.connector.loads
    assert load.only == (HAS_IT.address, TAKES_IT.address)
    assert load.environment == PACKED
    assert (PACKED.sha256, "/here/archive") in load.files
    assert not found.remarks


def test_where_nobody_can_take_it_the_grading_says_what_is_missing_and_ends(
    carry_unit, sendable_environment
):
    with pytest.raises(NoClusterError) as error:
        carry_unit(workers=[OTHER], python=PYTHON, wait=0.1)
    said = str(error.value)
    assert said.startswith(f"no worker has what the units need: gtp-harness {__version__}, ")
    assert f"{PYTHON.described}; what is missing: {BASE}. " in said


def test_it_is_said_at_once_and_a_worker_that_comes_gets_it(carry_unit, sendable_environment):
    later = [PresentWorkers((OTHER,))] * 3 + [PresentWorkers((OTHER, TAKES_IT))]
    found = carry_unit(workers=[OTHER], python=PYTHON, later=later)
    assert [load.only for load in found.connector.loads] == [(TAKES_IT.address,)]
    (remark,) = found.remarks
    assert remark.endswith(f"what is missing: {BASE}. A worker that has it is waited for")


@pytest.mark.parametrize("error", [UnsendableError("x.py is a link"), UsageError("no disk")])
def test_one_that_cannot_be_sent_is_only_for_who_has_built_it(carry_unit, monkeypatch, error):
    def fails(_python):
        raise error

    monkeypatch.setattr(dispatcher, "sendable", fails)
    found = carry_unit(workers=[HAS_IT, TAKES_IT], python=PYTHON)
    (load,) = found.connector.loads
    assert (load.only, load.environment) == ((HAS_IT.address,), None)
    (remark,) = found.remarks
    assert remark == f"the environment with {PYTHON.described} is not sent: {error}"
