"""What the carrier does when something is lost: with a porter that tells what the test wants."""

import hashlib
from types import SimpleNamespace

import pytest

from harness.cluster.carrier import Carrier
from harness.cluster.records import Back, Brought, Lost, PorterSettings, Present
from harness.cluster.rules import Facts
from harness.work import canonical_json, worker_events
from harness.work.canonical_json import NOTHING, Measurements
from harness.work.records import UnitCase
from harness.work.worker_events import AttemptFinished, HarnessFailed, UnitFinished
from oracle import __version__
from oracle.natures import Natures
from tests.cluster.test_believing import UNIT

CASE = b"1 twice 2\n#? [4]\n"
SHA256 = hashlib.sha256(CASE).hexdigest()
BASES = ["01" * 32, "02" * 32, "03" * 32]  # none of them is done twice
ONE, TWO = (Facts(f"tcp://{name}", name, __version__, ("3",), (), ()) for name in ("one", "two"))


class Porter:
    """Answers each load as told, in turn; afterwards with what a good worker brings."""

    status = None

    def __init__(self, *answers, workers=(ONE, TWO)):
        self.answers = list(answers)
        self.loads = []
        self.news = [Present(tuple(workers))]

    def send(self, load):
        self.loads.append(load)
        answer = self.answers.pop(0) if self.answers else well
        self.news += answer(load)

    def hear(self, _seconds):
        told, self.news = self.news, []
        return told

    def close(self):
        pass


def finished(basis):
    return AttemptFinished(basis, NOTHING, Measurements(), failed=True, doubtful=False)


def well(load):
    said = [*(finished(case.basis) for case in load.unit.cases), UnitFinished()]
    lines = tuple(worker_events.line(one).decode().rstrip("\n") for one in said)
    return [Back(load.id, load.only[0], canonical_json.dumps(Brought("liar", lines)))]


def died(load):
    return [Lost(load.id, "its worker died", begun=True)]


def vanished(load):
    return [Lost(load.id, "it was lost on the way", begun=False)]


def lies(load):
    return [Back(load.id, load.only[0], '{"machine":"one","lines":["nonsense"]}')]


def in_trouble(load):
    return [Back(load.id, load.only[0], canonical_json.dumps(Brought("one", (), "no disk")))]


def twice(load):
    return [*well(load), *well(load)]


def late(load):
    """The first try comes back after it was given up."""
    return [*vanished(load), *well(load)]


@pytest.fixture
def carried(tmp_path):
    """Carry a unit of three case files; return what is told of it, and how it ended."""
    (tmp_path / SHA256).write_bytes(CASE)
    cases = tuple(UnitCase(basis, "one.gtp", SHA256) for basis in BASES)
    own = SimpleNamespace(natures=Natures({}), python=None, build=None)
    own.engine = SimpleNamespace(needs=())

    def carry(*answers, workers=(ONE, TWO)):
        porter, said, remarks = Porter(*answers, workers=workers), [], []
        carrier = Carrier(PorterSettings("tcp://127.0.0.1:1", "", "", 0), remarks.append)
        carrier._porter = porter
        means = SimpleNamespace(assignment=own)
        unit = UNIT._replace(cases=cases)
        ends = carrier.run([unit], tmp_path, means, lambda place, word: said.append(word))
        return SimpleNamespace(ends=list(ends), said=said, porter=porter, remarks=remarks)

    return carry


def bases(found, kind=AttemptFinished):
    return sorted(word.basis for word in found.said if isinstance(word, kind))


@pytest.mark.parametrize("answer", [well, vanished, twice, late, lies, in_trouble])
def test_whatever_is_lost_each_attempt_is_told_once(carried, answer):
    found = carried(answer)
    assert found.ends == [(0, None)]
    assert bases(found) == BASES
    assert not bases(found, HarnessFailed)


def test_after_a_death_each_case_file_goes_by_itself(carried):
    found = carried(died)
    assert [len(load.unit.cases) for load in found.porter.loads] == [3, 1, 1, 1]
    assert bases(found) == BASES
    assert not bases(found, HarnessFailed)


def test_a_death_under_one_attempt_is_told_and_costs_no_other(carried):
    found = carried(died, well, died, well)
    assert bases(found) == [BASES[0], BASES[2]]
    assert bases(found, HarnessFailed) == [BASES[1]]
    assert found.ends == [(0, None)]


def test_a_worker_that_lies_is_set_aside_and_the_other_one_does_it(carried):
    found = carried(lies)
    liar = found.porter.loads[0].only[0]
    assert [load.only for load in found.porter.loads[1:]] == [(TWO.address,)]
    assert liar == ONE.address
    assert [liar in remark for remark in found.remarks] == [True]


def test_where_it_was_run_is_what_the_scheduler_says(carried):
    assert {word.figures.machine for word in carried(well).said} == {"one"}


def test_trouble_on_all_workers_is_told_in_the_end(carried):
    found = carried(*[in_trouble] * 9, workers=[ONE])
    ((place, fault),) = found.ends
    assert place == 0
    assert "no disk" in fault.message
    assert not found.said


def test_nothing_of_this_machine_but_what_lies_where_is_sent(carried, tmp_path):
    (load,) = carried(well).porter.loads
    assert str(tmp_path) not in canonical_json.dumps(load.unit)
    assert (SHA256, str(tmp_path / SHA256)) in load.files
    assert len({one.id for one in carried(died).porter.loads}) == 4


def test_one_in_a_hundred_goes_to_another_machine_as_well(carried, monkeypatch):
    monkeypatch.setattr("harness.cluster.rules.SECONDED", 1)
    found = carried()
    opinions = found.porter.loads[1:]
    assert sorted(load.unit.cases[0].basis for load in opinions) == BASES
    assert {load.only for load in opinions} == {(TWO.address,)}
    assert bases(found) == BASES


def test_a_second_opinion_that_nobody_brings_is_not_waited_for(carried, monkeypatch):
    monkeypatch.setattr("harness.cluster.rules.SECONDED", 1)
    assert bases(carried(well, died, died, died)) == BASES
