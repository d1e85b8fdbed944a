"""One process of a service is killed, or told to end: what the others do then.

What a grading comes to when all of them are killed again and again: test_chaos_at_length.
"""

import contextlib
import os
import signal
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from harness.grading.ledger.ledger import Ledger
from harness.service.records import DONE, WAITING
from harness.service.settings import Settings, dump_settings
from harness.service.storage import queue, uploads
from tests.harness import small_class
from tests.harness.small_class import CLASS
from tests.service.running import (
    KEEPER,
    LONG,
    WEB,
    WORKER,
    Running,
    begin,
    children,
    command,
    hand_in,
    settle,
    until,
)
from tests.service.serving import KINDS_AT_LENGTH, open_service, settings_of, work
from tests.service.uploading import Uploader

pytestmark = [pytest.mark.processes, pytest.mark.long(90)]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    return small_class.make(tmp_path_factory.mktemp("chaos"))


@pytest.fixture(scope="module", params=KINDS_AT_LENGTH)
def settings(request, room):
    """Settings of a service in a folder that others may enter, for it has other things in it."""
    settings = settings_of(request.param, request, room / request.param)
    settings.data.mkdir(exist_ok=True)
    (settings.data / "notes.txt").touch(0o600)
    settings.data.chmod(0o755)
    return settings


@pytest.fixture(scope="module")
def served(settings):
    with closing(Running(settings, workers=1)) as found:
        yield found


@pytest.fixture
def running(served):
    """A service for all tests: what is killed in one is started anew before the next."""
    if served.process.poll() is not None:
        served.start()
    return served


def test_who_asks_waits_while_what_answers_is_started_anew(running):
    assert httpx.get(f"{running.base}/health", timeout=LONG).text == "ok\n"
    running.kill(WEB)
    assert httpx.get(f"{running.base}/health", timeout=LONG).text == "ok\n"


def test_an_upload_under_which_the_web_process_is_killed_is_there_once(running, settings, room):
    """It is killed once when it has one half, once when it has all and nobody read its answer."""
    with open_service(settings) as service:
        assignment = hand_in(service, room, CLASS[:1])
        ada = Uploader(service, running, assignment, small_class.submission("return 2 * n"))
        with ada.half_sent("half") as sent:
            running.kill_one(WEB)
            assert not answer_of(sent)
        assert ada.uploads() == []
        first = ada.insist("half")
        with ada.half_sent("whole") as sent:
            sent.sendall(ada.rest())
            until(lambda: len(ada.uploads()) == 2)
            running.kill_one(WEB)
        second = ada.insist("whole")
        assert [ada.insist("half"), ada.insist("whole")] == [first, second]
        assert ada.uploads() == [first, second]
        assert ada.insist("another") not in (first, second)


def answer_of(sent):
    """Return what is answered on a connection: nothing if the process that had it was killed."""
    with contextlib.suppress(ConnectionError):
        return sent.recv(1 << 16)
    return b""


@pytest.mark.parametrize(("module", "text"), [(WORKER, "{"), (KEEPER, "whole")])
def test_a_process_whose_parent_was_killed_while_it_started_ends(tmp_path, module, text):
    whole = dump_settings(Settings(tmp_path)).replace(str(os.getpid()), "1")
    told = whole if text == "whole" else text
    done = subprocess.run(
        [sys.executable, "-m", module, "0"], input=told, text=True, cwd=ROOT, timeout=60,
        capture_output=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "service.sqlite").exists()


def descendants(pid):
    """Return all processes that a process started, and those that they started."""
    own = children(pid)
    return own + [one for child in own for one in descendants(child)]


def test_sigterm_ends_a_process_that_waits_for_its_database(tmp_path):
    """Without a word of its own: it has begun nothing."""
    nobody = "postgresql://grader@127.0.0.1:9/none"
    process = subprocess.Popen(
        [sys.executable, "-m", KEEPER], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ROOT,
    )  # fmt: skip
    process.stdin.write(dump_settings(Settings(tmp_path, nobody)))
    process.stdin.close()
    said = process.stderr.readline()
    process.terminate()
    assert "cannot be used" in said or "127.0.0.1" in said
    assert (process.stderr.read(), process.wait(60)) == ("", 0)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="only Linux tells")
def test_what_a_service_writes_is_for_nobody_else(running, settings, room):
    """In a folder that others may enter."""
    of_tests = ("originals", "service.sqlite", "service.sqlite-wal", "service.sqlite-shm")
    with open_service(settings) as service:
        assignment = hand_in(service, room, CLASS[:1])
        begin(service, assignment)
        settle(service)
    masks = {Path(f"/proc/{pid}/status").read_text() for pid in running.parts()}
    assert len(masks) >= 3
    assert all("Umask:\t0077\n" in one for one in masks)
    found = [
        one
        for one in settings.data.rglob("*")
        if one.relative_to(settings.data).parts[0] not in of_tests
    ]
    assert len(found) > 10
    assert [one for one in found if stat.S_IMODE(one.stat().st_mode) & 0o077] == []


def is_engine(pid):
    return b"engine.py" in command(pid)


def test_sigterm_gives_back_what_is_under_way(settings, running, room):
    """An engine thinks just then: it is ended, and its submission is checked later."""
    slow = CLASS[0]._replace(body="time.sleep(0.5)\n    return 2 * n")
    with open_service(settings) as service:
        assignment = hand_in(service, room, [slow])
        until(lambda: any(map(is_engine, descendants(running.process.pid))))
        under_way = descendants(running.process.pid)
        assert running.end() == 128 + signal.SIGTERM
        assert not [pid for pid in under_way if command(pid)]  # an orphan may wait to be reaped
        with service.database.reading() as db:
            (job,) = queue.JOBS.all(db, assignment=assignment)
        assert (job.state, job.deaths, job.token) in ((WAITING, 0, ""), (DONE, 0, ""))
        work(service)
        with service.database.reading() as db:
            (job,) = queue.JOBS.all(db, assignment=assignment)
            (upload,) = uploads.UPLOADS.all(db, assignment=assignment)
        assert (job.state, job.deaths) == (DONE, 0)
        with closing(Ledger(settings.ledger(assignment))) as ledger:
            ledger.check()
            planned = ledger.list_planned(upload.run)
            states = ledger.states([one.basis for one in planned])
        assert [one.state for one in states.values()] == ["done"] * 2
