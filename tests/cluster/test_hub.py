"""One connector for several dispatchers: who gets what, in which order, and what is dropped."""

import asyncio
import json

import pytest

from harness.cluster import records
from harness.cluster.connector_link import HubLink
from harness.cluster.hub import Hub
from harness.cluster.records import (
    ON_THE_WAY,
    ClusterState,
    ConnectorSettings,
    Facts,
    FinishedUnit,
    Load,
    LostUnit,
    Needs,
    PresentWorkers,
)
from harness.core.errors import UsageError
from harness.work import canonical_json
from tests.cluster.test_report_checks import UNIT

SETTINGS = ConnectorSettings("tcp://127.0.0.1:1", "", "127.0.0.1", 0)
ONE = Facts("tcp://one", "one", "1", ("3",), (), ())


class Sink:
    """Keeps what is written to it."""

    def __init__(self):
        self.said = []
        self.is_closed = False

    def write(self, line):
        self.said.append(json.loads(line))

    def close(self):
        self.is_closed = True


def load(name):
    unit = canonical_json.dumps(UNIT)
    own = Load(name, 1, unit, (), Needs("1", "3"), (ONE.address,), None, 7, alone=True)
    return records.to_line(own._replace(assignment="counting", submission="Ada"))


@pytest.fixture
def hub(tmp_path):
    made = Hub(SETTINGS, tmp_path, lambda text: None)
    made._connector = Sink()
    made._take(PresentWorkers((ONE,)))
    return made


def test_people_see_how_much_is_on_its_way_and_by_which_attempt(hub):
    hub._wait(Sink(), load("grading-1-0123456789abcdef"))
    (flight,) = hub.state().flights
    assert (flight.cases, flight.alone) == (7, True)
    assert flight.name.endswith("-1-0123456789abcdef")
    assert (flight.assignment, flight.submission) == ("counting", "Ada")


def list_sent(hub):
    return [said["id"] for said in hub._connector.said if said["record"] == "load"]


def test_no_more_is_on_its_way_than_two_for_each_worker_of_all_dispatchers(hub):
    first, second = Sink(), Sink()
    for number in range(3):
        hub._wait(first, load(f"a{number}"))
        hub._wait(second, load(f"b{number}"))
    assert len(list_sent(hub)) == ON_THE_WAY
    assert hub.state().waiting == 4
    hub._take(LostUnit(list_sent(hub)[0], "why", begun=False))
    assert len(list_sent(hub)) == ON_THE_WAY + 1
    hub._take(PresentWorkers((ONE, ONE._replace(address="tcp://two"))))
    assert len(list_sent(hub)) == 2 * ON_THE_WAY + 1


def test_each_dispatcher_hears_of_its_own_loads_by_its_own_names_in_order(hub):
    first, second = Sink(), Sink()
    hub._wait(first, load("same"))
    hub._wait(second, load("same"))
    one, two = list_sent(hub)
    assert one != two
    hub._take(FinishedUnit(two, ONE.address, "{}"))
    assert [(said["record"], said["id"]) for said in second.said] == [("back", "same")]
    assert first.said == []
    hub._take(FinishedUnit(two, ONE.address, "{}"))  # a second time
    assert len(second.said) == 1
    hub._take(FinishedUnit(one, ONE.address, "{}"))
    assert [said["id"] for said in first.said] == ["same"]


def test_of_a_dispatcher_that_goes_all_is_dropped(hub):
    gone, other = Sink(), Sink()
    for number in range(3):
        hub._wait(gone, load(str(number)))
    hub._wait(other, load("other"))
    before = list_sent(hub)
    hub._part(gone)
    dropped = [said["id"] for said in hub._connector.said if said["record"] == "drop"]
    assert dropped == before
    hub._take(FinishedUnit(list_sent(hub)[-1], ONE.address, "{}"))
    assert [said["id"] for said in other.said] == ["other"]
    assert hub.state().flights == () and hub.state().waiting == 0


def test_when_the_connector_ends_all_dispatchers_are_hung_up_on(hub):
    dispatcher = Sink()
    hub._dispatchers.add(dispatcher)
    hub._wait(dispatcher, load("a"))
    hub._dismiss()
    hub._complain("it is gone")
    assert dispatcher.is_closed
    assert hub.state().trouble == "it is gone"
    assert hub.state().complaint == "the cluster cannot be reached"
    assert hub.state().flights == ()


@pytest.mark.processes
def test_a_hub_of_a_long_name_is_reached(tmp_path):
    folder = tmp_path / ("long" * 40)

    async def both():
        hub = Hub(SETTINGS, folder, lambda text: None)
        running = asyncio.create_task(hub.run())
        while not (folder / "hub.sock").exists():
            await asyncio.sleep(0.02)
        hub._present = PresentWorkers((ONE,))
        while (
            link := HubLink(folder)
        ).status is not None:  # its socket has a name before it hears
            link.close()
            await asyncio.sleep(0.02)
        found = []
        while not found:  # the hub speaks while this one sleeps
            await asyncio.sleep(0.02)
            found = link.receive(0)
        link.close()
        running.cancel()
        await asyncio.wait([running])
        return found

    assert asyncio.run(asyncio.wait_for(both(), 60)) == [PresentWorkers((ONE,))]


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[]", b"nonsense", records.to_line(ClusterState(()))]
)
def test_what_is_not_an_order_is_refused(line):
    with pytest.raises(UsageError):
        records.read_order(line)
    with pytest.raises(UsageError):
        records.read_news(load("a"))
