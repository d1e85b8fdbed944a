"""What operators ask: whether a service can be started, and whether one that runs is ready."""

import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from harness import cli
from harness.cli.service import print_timezone
from harness.cluster import state, tls
from harness.cluster.records import ClusterState, Facts, WorkerStatus
from harness.core.errors import ServerError, UsageError
from harness.service import monitoring
from harness.service.monitoring import Counter
from harness.service.operations import health
from harness.service.people import accounts
from harness.service.records import CHECK, CourseAssignment, Job, new_id
from harness.service.settings import Settings
from harness.service.storage import courses, queue
from harness.service.storage.database import Database
from harness.service.storage.tables import COURSE, VERSION
from oracle import __version__
from tests.harness import small_class
from tests.service.serving import Browser, hand_in, make_course, open_service, work

ROOT = Path(__file__).parents[2]


# --- serve --check -----------------------------------------------------------------------------


def check(settings, name):
    """Return the result of one check."""
    return health.of(name, health.LOOKS[name], settings)


def run_checks(settings):
    """Return the results of the checks, without the slow ones."""
    return {
        name: health.of(name, look, settings)
        for name, look in health.LOOKS.items()
        if name not in ("sandbox", "tools")
    }


def test_a_bare_machine_is_good_and_stays_bare(settings):
    settings = settings._replace(address="", data=settings.data.with_name("bare"), port=0)
    assert [one.message for one in run_checks(settings).values() if not one.is_good] == []
    assert not settings.data.exists()
    Database(settings).close()
    assert [one.message for one in run_checks(settings).values() if not one.is_good] == []


BAD = [
    ({"address": "tests.example.org"}, "address", "expected https://HOST"),
    ({"address": "https://[::1"}, "address", "expected https://HOST"),
    ({"address": "https://tests.example.org/courses"}, "address", "expected https://HOST"),
    ({"address": "https://ann@tests.example.org"}, "address", "expected https://HOST"),
    ({"address": "http://tests.example.org"}, "address", "is not encrypted"),
    ({"address": "", "host": "0.0.0.0"}, "address", "is not encrypted"),
    ({"workers": 1000}, "workers", "1000 workers, but only"),
]


@pytest.mark.parametrize(("changed", "name", "said"), BAD)
def test_what_is_not_good_is_named(tmp_path, changed, name, said):
    wrong = run_checks(Settings(tmp_path / "data", port=0)._replace(**changed))
    assert {one.name for one in wrong.values() if not one.is_good} == {name}
    assert said in wrong[name].message


def test_a_service_does_not_start_with_an_address_that_no_link_can_have(tmp_path, capsys):
    words = ["serve", "--data", str(tmp_path / "data"), "--port", "0", "--address", "example.org"]
    assert cli.main(words) == 2
    assert "--address: found 'example.org', expected https://HOST" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_an_address_of_another_database_is_refused(tmp_path, capsys):
    words = ["--data", str(tmp_path / "data"), "--database", "mysql://me:s3cret@host/x"]
    for command in (["serve"], ["serve", "--check"], ["admin", "people"]):
        assert cli.main([*command, *words]) == 2
        said = capsys.readouterr().err
        assert said == "gtp-harness: --database: expected postgresql://USER@HOST/DATABASE\n"


OLD = f"its gtp-harness is 0.0.9, and ours is {__version__}"


def make_state(*levels, version=__version__):
    facts = (Facts(f"tcp://{one}", one, version, (one,), (), ()) for one in levels)
    return ClusterState(tuple(WorkerStatus(one, one.machine, 0.0, 0, 0.0, ()) for one in facts))


def test_a_cluster_is_looked_at_where_there_is_to_be_one(tmp_path, monkeypatch):
    settings = Settings(tmp_path / "data", workers=1000, scheduler="tcp://127.0.0.1:1")
    monkeypatch.setattr(state, "look", lambda _: make_state("3", "1"))
    assert check(settings, "cluster").message == "2 workers, sandbox levels 3, 1"
    assert check(settings, "workers").is_good  # they are not cores of this machine
    monkeypatch.setattr(state, "look", lambda _: make_state())
    assert "no worker has come to the scheduler" in check(settings, "cluster").message
    assert not check(settings, "cluster").is_good
    monkeypatch.setattr(state, "look", lambda _: make_state("3", version="0.0.9"))
    told = check(settings, "cluster")
    assert told.message.endswith(f"3 gets no work: {OLD}")
    assert not told.is_good


@pytest.mark.processes
def test_a_scheduler_that_is_not_there_and_certificates_that_have_ended(tmp_path, monkeypatch):
    settings = Settings(tmp_path / "data", scheduler="tcp://127.0.0.1:1")
    assert "it cannot be reached" in check(settings, "cluster").message
    papers = tmp_path / "papers"
    tls.make(papers, 30)
    settings = settings._replace(scheduler="tls://127.0.0.1:1", tls=str(papers))
    monkeypatch.setattr(state, "look", lambda _: make_state("3"))
    assert "certificates are good until 2" in check(settings, "cluster").message
    shutil.rmtree(papers)
    tls.make(papers, 0)
    assert "gtp-harness cluster certificates makes" in check(settings, "cluster").message
    (papers / "server.pem").write_text("nonsense")
    assert not check(settings, "cluster").is_good


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "data").write_text("")
    assert "is not a folder" in check(Settings(tmp_path / "data" / "in"), "data").message
    assert "is not a folder" in check(Settings(tmp_path / "data"), "data").message


@pytest.mark.parametrize("mode", [0o755, 0o711])
def test_a_folder_that_others_could_read_is_closed_to_them(settings, mode):
    settings.data.mkdir(mode=0o700, exist_ok=True)
    for _ in range(2):  # when it is made, and by the next version
        settings.data.chmod(mode)
        Database(settings).close()
        assert stat.S_IMODE(settings.data.stat().st_mode) == 0o700


def test_what_others_can_read_is_not_good(settings):
    Database(settings).close()
    letters = settings.data / "mail"
    letters.mkdir()
    letters.chmod(0o755)
    assert check(settings, "data").is_good  # nobody comes so far
    settings.data.chmod(0o755)
    told = check(settings, "data")
    assert not told.is_good
    assert f"can read {letters}: chmod -R go= {settings.data}" in told.message


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = Settings(tmp_path / "data", port=other.getsockname()[1])
        told = check(settings, "port")
        assert not told.is_good
        assert told.message.endswith("Address already in use; --port names another one")
        with monitoring.announce_worker(settings.workers_folder):
            told = check(settings, "port")
            assert told.is_good, told.message
            assert "by this service" in told.message


def test_an_address_that_this_machine_does_not_have(tmp_path):
    told = check(Settings(tmp_path / "data", host="192.0.2.1", port=0), "port")
    assert not told.is_good and told.message.endswith("; --host names another one")


def test_a_damaged_database_and_a_lost_key(tmp_path):
    settings = Settings(tmp_path / "data")
    Database(settings).close()
    key = settings.keys / "service.key"
    key.rename(tmp_path / "key")
    assert "its key is missing" in check(settings, "database").message
    (tmp_path / "key").rename(key)
    (settings.data / "service.sqlite").write_bytes(b"not a database" * 1000)
    assert "cannot be used now" in check(settings, "database").message


@pytest.mark.parametrize("version", ["0", "999"])
def test_tables_of_another_version_are_named_and_left_alone(settings, version):
    database = Database(settings)
    with database.changing() as db:
        db.exec_driver_sql(f"UPDATE service_version SET version_num = '{version}'")
    database.close()
    said = (
        f"was made by another version of gtp-harness: it has tables of version {version}, and"
        f" this one needs version {VERSION}. Use the gtp-harness that made it, or another --data"
    )
    told = check(settings, "database")
    assert not told.is_good and said in told.message
    with pytest.raises(UsageError, match=re.escape(said)):
        Database(settings)


def test_a_rule_for_old_data_that_cannot_be_read_is_not_good(settings):
    assert check(settings, "keep").message.startswith("days: logs 90, ")
    told = check(settings._replace(keep="logs=soon"), "keep")
    assert not told.is_good and "--keep logs: found 'soon'" in told.message


def test_a_server_that_is_not_there_and_its_password_is_not_told(tmp_path):
    address = "postgresql://me:s3cret@127.0.0.1:1/none"
    said = check(Settings(tmp_path / "data", address), "database").message
    assert "s3cret" not in said and "postgresql://me@127.0.0.1:1/none" in said
    assert "cannot be used now" in said
    assert "same command" not in said  # that is grade's
    with pytest.raises(ServerError, match="cannot be used now"):
        Database(Settings(tmp_path / "data", address))
    assert not (tmp_path / "data").exists()  # or a backup could not be restored there


@pytest.mark.processes
def test_the_command_tells_all_and_by_its_status_whether_it_is_good(tmp_path, capsys):
    place = ["serve", "--check", "--data", str(tmp_path / "data"), "--workers", "1",
             "--port", "0"]  # fmt: skip
    assert cli.main(place) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*health.LOOKS]
    assert cli.main([*place, "--address", "ftp://x"]) == 1
    assert "NOT GOOD: --address: found 'ftp://x'" in capsys.readouterr().out


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
def test_a_port_that_none_has_is_refused(tmp_path, capsys, port):
    assert cli.main(["serve", "--data", str(tmp_path / "data"), f"--port={port}"]) == 2
    assert "expected a whole number from 0 to 65535" in capsys.readouterr().err


@pytest.fixture
def in_zone(monkeypatch):
    """Return what lets this machine be in a zone, given by its rule."""

    def enter(rule):
        monkeypatch.setenv("TZ", rule)
        time.tzset()

    yield enter
    monkeypatch.undo()
    time.tzset()


CET = "CET-1CEST,M3.5.0,M10.5.0/3"
ZONES = [("XYZ-1XYST,M3.5.0,M10.5.0/3", True), ("CET-1", False), ("UTC0", False),
         ("CET-1CEST,M3.2.0,M11.1.0/3", False)]  # fmt: skip


@pytest.mark.parametrize(("other", "is_same"), ZONES)
def test_data_that_were_served_in_another_zone(settings, in_zone, capfd, other, is_same):
    settings.data.mkdir(parents=True, exist_ok=True)
    in_zone(CET)
    assert check(settings, "zone") == ("zone", True, "CET/CEST (UTC+01:00)")
    print_timezone(settings)
    in_zone(other)
    found = check(settings, "zone")
    assert found.is_good is is_same
    assert is_same or "last served in the time zone CET/CEST (UTC+01:00)" in found.message
    assert capfd.readouterr().err == ""
    for is_told in (not is_same, False):  # once
        print_timezone(settings)
        assert ("each deadline is at another moment" in capfd.readouterr().err) is is_told


# --- readiness ---------------------------------------------------------------------------------


def ready(service):
    answer = Browser(service).get("/ready")
    reasons = answer.json()["reasons"]
    assert answer.status_code == (503 if reasons else 200)
    assert answer.json()["ready"] is not bool(reasons)
    return reasons


def test_a_service_is_ready_while_a_worker_lives(service):
    assert ready(service) == ["no worker lives"]
    with monitoring.announce_worker(service.settings.workers_folder):
        assert ready(service) == []
    assert ready(service) == ["no worker lives"]


def test_a_worker_that_died_without_a_word_counts_no_more(tmp_path):
    left = tmp_path / "machine-1"
    left.touch()
    assert monitoring.count_workers(tmp_path) == 1
    long_ago = time.time() - monitoring.GONE - 1
    os.utime(left, (long_ago, long_ago))
    assert monitoring.count_workers(tmp_path) == 0
    with monitoring.announce_worker(tmp_path):
        assert monitoring.count_workers(tmp_path) == 1
        assert not left.exists()


def test_a_worker_goes_on_showing_that_it_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(monitoring, "BEAT", 0.01)
    with monitoring.announce_worker(tmp_path):
        (own,) = tmp_path.iterdir()
        os.utime(own, (0, 0))
        ends = time.monotonic() + 10
        while not own.stat().st_mtime and time.monotonic() < ends:
            time.sleep(0.01)
        assert monitoring.count_workers(tmp_path) == 1


def waiting(service, seconds):
    """Put in a job that has waited so long."""
    with service.database.changing() as db:
        db.execute(COURSE.insert(), {"id": "c", "title": "Games"})
        wanted = CourseAssignment(new_id(), "c", "A", "gosensei", "", "", "", "", 0, 0.0)
        assignment = courses.ASSIGNMENTS.add(db, wanted).id
        job = queue.put(db, Job("", CHECK, assignment, "an upload"))
        queue.JOBS.change(db, {"made": time.time() - seconds}, id=job.id)


@pytest.mark.stored
@pytest.mark.parametrize(
    ("seconds", "said"), [(60, []), (7200, ["a job has waited for 120 minutes"])]
)
def test_a_queue_that_stands_still_is_told(service, seconds, said):
    waiting(service, seconds)
    with monitoring.announce_worker(service.settings.workers_folder):
        assert ready(service) == said


def test_a_full_disk_is_told(service, monkeypatch):
    monkeypatch.setattr(health, "LEAST_FREE", 1 << 62)
    with monitoring.announce_worker(service.settings.workers_folder):
        (reason,) = ready(service)
    assert reason.startswith("the disk is almost full: ")


def test_a_database_that_is_gone_is_told_to_anybody_without_its_name(tmp_path):
    settings = Settings(tmp_path / "data", address="http://localhost")
    with open_service(settings) as service, monitoring.announce_worker(settings.workers_folder):
        (settings.data / "service.sqlite").unlink()
        assert ready(service) == ["the database cannot be used"]


# --- metrics -----------------------------------------------------------------------------------


def test_prometheus_gets_the_figures_with_the_token_of_an_administrator(service):
    waiting(service, 90)
    with service.database.acting() as act:
        admin = accounts.add_person(act, "Prometheus", is_admin=True)
        token = accounts.make_token(act, "prometheus", "read", owner=admin.id)[1].text
    headers = {"authorization": f"Bearer {token}"}
    with monitoring.announce_worker(service.settings.workers_folder):
        answer = Browser(service).get("/api/v1/metrics", headers=headers)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = samples(answer.text)
    assert found["gtp_harness_up"] == found["gtp_harness_workers"] == 1
    assert found["gtp_harness_jobs", ("kind", "check"), ("state", "waiting")] == 1
    assert 90 <= found["gtp_harness_oldest_waiting_seconds"] < 200
    assert found["gtp_harness_disk_free_bytes"] > 0


def samples(text):
    """Return what Prometheus reads, by name and labels; each is there once."""
    found = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            key = (one.name, *sorted(one.labels.items())) if one.labels else one.name
            assert key not in found
            found[key] = one.value
    return found


def test_requests_are_counted_by_templates_that_nobody_can_make_up(service):
    browser = Browser(service)
    for path in ("/sign-in", "/sign-in", "/enter/s3cret", "/s3cret", "/static/s3cret.js"):
        browser.get(path)
    browser._client.request("S3CRET", "/s3cret")
    text = health.metrics_text(health.state(service), health.get_figures(service))
    counts = {
        tuple(dict(key[1:]).values()): value
        for key, value in samples(text).items()
        if key[0] == "gtp_harness_request_seconds_count"
    }
    assert counts == {
        ("GET", "", "404"): 1,
        ("GET", "/enter/{code}", "404"): 1,
        ("GET", "/sign-in", "200"): 2,
        ("GET", "/static/{name}", "404"): 1,
        ("other", "", "404"): 1,
    }
    assert "s3cret" not in text.lower()


@given(st.lists(st.floats(0, 20), max_size=20), st.text())
def test_a_histogram_counts_each_duration_once_and_any_label_is_read_back(durations, label):
    counter = Counter()
    for seconds in durations:
        counter.count(monitoring.REQUESTS, seconds, route=label)
    found = samples(
        health.metrics_text(health.State("", {}, 0.0, {}, 1, 1), counter.list_counts())
    )
    name = "gtp_harness_request_seconds"
    buckets = {
        float(dict(key[1:])["le"]): value
        for key, value in found.items()
        if key[0] == f"{name}_bucket"
    }
    assert buckets == {
        end: sum(one <= end for one in durations)
        for end in ((*monitoring.REQUESTS.bounds, float("inf")) if durations else ())
    }
    if durations:
        assert found[f"{name}_count", ("route", label)] == len(durations)
        assert found[f"{name}_sum", ("route", label)] == pytest.approx(sum(durations))


def test_rows_count_as_a_process_does(service):
    counter = Counter()
    for seconds in (0.0625, 0.125, 2.0, 9000.0, 0.0625):
        for kind in ("check", "grade"):
            counter.count(monitoring.WAITS, seconds, kind=kind)
            with service.database.changing() as db:
                queue.add_figure(db, monitoring.WAITS, seconds, kind=kind)
    with service.database.reading() as db:
        assert queue.load_figures(db) == counter.list_counts()


@pytest.mark.processes
def test_workers_count_attempts_jobs_and_waits(service, counting):
    course = make_course(service, "student,name\nada,Ada\n")
    ada = Browser(service).enter(course.links["ada"])
    for body in ("return 2 * n", "return n"):
        hand_in(ada, course, small_class.submission(body))
    assert work(service) == 2
    found = samples(health.metrics_text(health.state(service), health.get_figures(service)))
    done = ("ended", "done"), ("kind", "check")
    assert found["gtp_harness_job_seconds_count", *done] == 2
    assert found["gtp_harness_job_seconds_sum", *done] > 0
    assert found["gtp_harness_job_wait_seconds_count", ("kind", "check")] == 2
    attempts = {
        key[1][1]: value
        for key, value in found.items()
        if key[0] == "gtp_harness_attempt_seconds_count"
    }
    assert attempts["passed"] >= 1 and attempts["failed"] >= 1


# --- what starts quickly -----------------------------------------------------------------------


@pytest.mark.processes
def test_who_does_not_grade_loads_nothing_that_does():
    """Each start would take twice the processor time, and each process more memory."""
    modules = [f"harness.service.{one}" for one in ("keeper", "serving", "operations.data")]
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert loaded >= set(modules)
    assert not loaded & {"harness.grading.grade", "harness.service.jobs.job_handlers", "fastapi"}
