"""A ledger on a server: many at once, passwords nowhere, and what breaks costs nothing."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import OperationalError, PendingRollbackError

from harness.cli import main
from harness.core.errors import LedgerError, ServerError, UsageError
from harness.grading.ledger import ledger_server, places, salvage
from harness.grading.ledger.ledger import Ledger, PlannedAttempt
from harness.grading.ledger.places import LedgerFile, ServerPlace
from tests.harness import small_class, test_ledger_damage
from tests.harness.ledgers import KINDS, execute, finish, place_of
from tests.harness.spawning import spawn_context
from tests.harness.test_ledger import ATTEMPTS, BASES, ROW, RUN, WRITER
from tests.postgresql import PASSWORD, QUOTED

pytestmark = pytest.mark.processes


@pytest.fixture
def place(database, tmp_path):
    return ServerPlace(database, tmp_path / "key")


@pytest.fixture
def ledger(place):
    with closing(Ledger(place)) as ledger:
        ledger.plan(ledger.begin(RUN), ATTEMPTS)
        yield ledger


def no_password(text):
    return PASSWORD not in text and QUOTED not in text


# --- addresses ---


GOES_ON = "Results are kept; the same command continues"
# What a driver says, of one try and of several; and the reason that people are told.
REASONS = [
    (
        'connection failed: connection to server at "::1", port 1 failed: Connection refused\n'
        "\tIs the server running on that host and accepting TCP/IP connections?",
        'connection failed: connection to server at "::1", port 1 failed: Connection refused',
    ),
    (
        'connection failed: FATAL:  password authentication failed for user "grader"\n',
        'password authentication failed for user "grader"',
    ),
]


@pytest.mark.quick
@pytest.mark.parametrize(("said", "reason"), REASONS)
def test_why_a_server_cannot_be_reached_is_one_line(said, reason):
    with pytest.raises(ServerError) as told, ledger_server.naming_errors("db"):
        raise OperationalError(None, None, Exception(said))
    assert str(told.value) == f"db cannot be used as a ledger: {reason}. {GOES_ON}"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql://u@h:5432/d", "postgresql://u@h:5432/d"),
        ("postgres://u:secret@h,i:1/d?sslmode=require", "postgres://u@h,i:1/d"),
        ("postgresql://u:a:secret@[::1]:5/d", "postgresql://u@[::1]:5/d"),
        ("postgresql:///d?host=/run&password=secret", "postgresql:///d"),
        ("postgresql://u:s%40cret@h", "postgresql://u@h"),
    ],
)
def test_an_address_is_shown_without_what_is_secret(address, shown):
    place = places.of(address)
    assert (place.name, repr(place)) == (shown, f"Server({shown})")


@pytest.mark.quick
@pytest.mark.parametrize("password", ["secr@et", "se/cret", "se#cret", "se?cret", "12/34", "a@/b"])
def test_an_address_in_which_the_password_has_no_sure_end_is_refused(password, capsys):
    address = f"postgresql://user:{password}@host/database"
    assert main(["ledger", "check", address]) == 2
    said = capsys.readouterr().err
    assert "cannot read the address postgresql://… of the ledger" in said
    assert password not in said


@pytest.mark.quick
def test_a_path_is_a_file_whatever_it_is_called(tmp_path):
    assert isinstance(places.of("graded/postgresql:"), LedgerFile)
    assert isinstance(places.of(tmp_path / "postgresql://h/d"), LedgerFile)


STATES = [
    ("42P01", "db is damaged: why. gtp-harness ledger check tells more, and ledger salvage saves"
     " what can be read"),
    ("XX001", "db is damaged: why. gtp-harness ledger check tells more, and ledger salvage saves"
     " what can be read"),
    ("25006", "db cannot be used as a ledger: why. It is read-only: a standby, or set so"),
    ("42501", "db cannot be used as a ledger: why. The user needs the rights to make tables there,"
     " and to read and write them"),
    ("53100", "db cannot be used as a ledger: why. The server lacks room"),
    ("55P03", "db cannot be used as a ledger: why. Others keep it busy"),
    ("57P01", f"db cannot be used as a ledger: why. {GOES_ON}"),
]  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize(("state", "sentence"), STATES)
@pytest.mark.parametrize("is_lost", [False, True])
def test_an_error_is_told_with_what_can_be_done(state, sentence, is_lost):
    said = Exception("long text")
    said.sqlstate = state
    said.diag = SimpleNamespace(message_primary="why")
    error = OperationalError(None, None, said, connection_invalidated=is_lost)
    expected = LedgerError if "damaged" in sentence else ServerError
    with pytest.raises(expected) as told, ledger_server.naming_errors("db"):
        raise error
    if is_lost and expected is ServerError:
        sentence = f"the connection to db is lost: why. {GOES_ON}"
    assert str(told.value) == sentence


@pytest.mark.quick
def test_a_connection_that_was_lost_in_a_transaction():
    with pytest.raises(ServerError) as told, ledger_server.naming_errors("db"):
        raise PendingRollbackError("long text")
    assert str(told.value) == f"the connection to db is lost. {GOES_ON}"


@pytest.mark.quick
def test_without_psycopg_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs psycopg: pip install 'psycopg"):
        Ledger(ServerPlace("postgresql://h/d"))


# --- what cannot be used ---


def test_servers_that_cannot_be_used(postgresql, database, capsys):
    wrong = f"grader:{QUOTED}x"
    name = database.rpartition("/")[2]
    cases = {
        "postgresql://grader:x@127.0.0.1:1/d": "refused",
        "postgresql://grader:x@unheard.invalid/d": "cannot be used as a ledger",
        postgresql.address(name, wrong): 'password authentication failed for user "grader"',
        postgresql.address("nowhere"): 'database "nowhere" does not exist',
        database + "?nonsense=1": "libpq does not take it",
    }
    for address, expected in cases.items():
        status = main(["ledger", "check", address])
        said = capsys.readouterr().err
        assert (status, expected in said) == (2 if "nonsense" in address else 3, True), said
        assert said.count("\n") == 1
        assert no_password(said)
        assert "Traceback" not in said


def test_other_databases_and_versions_are_refused(place, database, postgresql):
    with pytest.raises(UsageError, match="is not a ledger: it has no tables"):
        salvage.check(place.address, place.key(""))
    execute(place, "CREATE TABLE run (x int)")
    with pytest.raises(ServerError, match="has tables of others, but is not a ledger"):
        Ledger(place)
    execute(place, "DROP TABLE run")
    Ledger(place).close()
    execute(place, "UPDATE ledger_version SET version_num = '9'")
    with pytest.raises(ServerError, match="another version: found version 9, expected 3"):
        Ledger(place)


def test_a_server_that_is_read_only_can_be_checked_and_not_graded_with(ledger, place, capsys):
    name = place.address.rpartition("/")[2]
    execute(place, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with closing(Ledger(place)) as other:
        other.check()
        with (
            pytest.raises(
                ServerError, match=r"read-only transaction\. It is read-only: a standby"
            ),
            other.naming_errors(),
        ):
            other.begin(RUN)
    assert main(["ledger", "check", place.address, "--key", str(place.key(""))]) == 0


def test_a_database_that_cannot_have_every_text_is_refused(postgresql, tmp_path):
    name = f"latin_{os.getpid()}"
    options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 OWNER grader"
    postgresql.execute(f"CREATE DATABASE {name} {options}")
    try:
        with pytest.raises(ServerError, match="has the encoding LATIN1, and a ledger needs UTF8"):
            Ledger(ServerPlace(postgresql.address(name), tmp_path / "key"))
    finally:
        postgresql.execute(f"DROP DATABASE {name}")


def test_texts_that_a_server_cannot_have_are_told_otherwise(ledger):
    token = ledger.lease(BASES)
    ledger.record_error(BASES[0], token, "it said \0", most=2)
    assert ledger.states(BASES[:1])[BASES[0]].fault == r"it said \x00"


# --- the key ---


def test_a_key_lies_with_the_others_of_this_user(database, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    Ledger(ServerPlace(database)).close()
    (key,) = (tmp_path / "gtp-harness" / "keys").iterdir()
    assert (key.suffix, key.stat().st_mode & 0o777) == (".key", 0o600)
    assert key.parent.stat().st_mode & 0o777 == 0o700
    with closing(Ledger(ServerPlace(database))) as again:
        assert again.key == key
        again.check()
    key.rename(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match=f"is missing: there is no {re.escape(str(key))}"):
        Ledger(ServerPlace(database))
    Ledger(ServerPlace(database, tmp_path / "elsewhere")).close()


def test_the_name_of_a_key_leads_nowhere_else(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert ServerPlace("postgresql://h/d").key("../../a").parent == places.keys()


# --- many at once ---

MANY = [f"{i:03}" for i in range(60)]


def grab(place, ready, go, results):
    """Lease a few at a time and finish them, until nothing is free."""
    with closing(Ledger(place)) as ledger:
        ready.release()
        go.wait(60)
        while (lease := ledger.lease_free(MANY, 3)).bases:
            for basis in lease.bases:
                row = ROW._replace(result=basis)
                results.put((basis, finish(ledger, basis, lease.token, row, 1, last=True)))
            ledger.release(lease.token)
    results.put(None)


@pytest.mark.long(10)
@pytest.mark.parametrize("kind", KINDS)
def test_many_lease_at_once_and_nothing_is_done_twice(kind, request, tmp_path):
    place = place_of(kind, request, tmp_path)
    with closing(Ledger(place)) as ledger:
        ledger.plan(
            ledger.begin(RUN), [PlannedAttempt(one, "s", "public", one, "") for one in MANY]
        )
    spawning = spawn_context()
    ready, go, results = spawning.Semaphore(0), spawning.Event(), spawning.Queue()
    workers = [
        spawning.Process(target=grab, args=(place, ready, go, results), daemon=True)
        for _ in range(2)
    ]
    for one in workers:
        one.start()
    for _ in workers:
        assert ready.acquire(timeout=120)
    go.set()
    found, ended = [], 0
    while ended < len(workers):
        one = results.get(timeout=120)
        ended += one is None
        found += [one] if one else []
    assert sorted(found) == [(basis, True) for basis in MANY]
    with closing(Ledger(place)) as ledger:
        ledger.check()
        assert {state.state for state in ledger.states(MANY).values()} == {"done"}


def test_whoever_waits_for_nobody_gets_what_is_free(ledger, place):
    """One is in the middle of a transaction with two attempts: the others are had at once."""
    import psycopg

    with closing(Ledger(place)) as other, psycopg.connect(place.address) as busy:
        busy.execute(
            f"SELECT 1 FROM attempt WHERE basis IN ('{BASES[0]}', '{BASES[1]}') FOR UPDATE"
        )
        assert other.lease_free(BASES, 10).bases == tuple(BASES[2:])
        busy.rollback()
        assert ledger.lease_free(BASES, 10).bases == tuple(BASES[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_no_more_is_taken_than_wanted_and_in_that_order(kind, request, tmp_path):
    with closing(Ledger(place_of(kind, request, tmp_path))) as ledger:
        ledger.plan(ledger.begin(RUN), ATTEMPTS)
        assert ledger.lease_free(BASES[::-1], 3).bases == tuple(BASES[:0:-1])
        assert ledger.lease_free(BASES, 3).bases == (BASES[0],)
        assert ledger.lease_free(BASES, 3).bases == ()


def test_two_that_make_a_ledger_at_once_make_one(place):
    spawning = spawn_context()
    ready, go, results = spawning.Semaphore(0), spawning.Event(), spawning.Queue()
    workers = [spawning.Process(target=grab, args=(place, ready, go, results)) for _ in range(2)]
    go.set()
    for one in workers:
        one.start()
    for one in workers:
        one.join(120)
        assert one.exitcode == 0
    Ledger(place).close()


# --- edits ---


@pytest.fixture(scope="module")
def graded_ledger(postgresql, tmp_path_factory):
    """A ledger that a grading has written."""
    name = f"graded_{os.getpid()}"
    postgresql.execute(f"CREATE DATABASE {name} OWNER grader")
    place = ServerPlace(postgresql.address(name), tmp_path_factory.mktemp("graded") / "key")
    test_ledger_damage.make(place)
    yield place
    postgresql.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize(
    "edited",
    ["a mark", "the time of a result", "a result that is removed", "the end and the last row"],
)
def test_an_edit_is_noticed_and_named(edited, graded_ledger):
    """As in a file; each is taken back."""
    statements, expected = test_ledger_damage.EDITS[edited]
    with (
        closing(Ledger(graded_ledger)) as read,
        pytest.raises(UndoneError),
        read.database.changing(),
    ):
        for statement in statements.split("; "):
            read.db.exec_driver_sql(statement)
        told = said_of(read)
        raise UndoneError
    assert re.search(expected, told)


class UndoneError(Exception):
    """What was changed is taken back."""


def said_of(read):
    try:
        return " ".join(read.chains.tampering())
    except LedgerError as error:
        return str(error)


# --- what breaks ---


def kill_backends(postgresql, database):
    postgresql.execute(END_CONNECTIONS.format(name=database.rpartition("/")[2]))


def test_a_lost_connection_returns_leases_and_costs_nothing(ledger, place, postgresql, database):
    token = ledger.lease(BASES)
    finish(ledger, BASES[0], token, ROW, 1, last=True)
    elsewhere = "UPDATE attempt SET owner = 'elsewhere 1 5@b' WHERE state = 'leased'"
    execute(place, elsewhere)  # a machine of whose processes nothing is known here
    with closing(Ledger(place)) as other:
        assert other.lease_free(BASES, 9).bases == ()
    kill_backends(postgresql, database)
    with (
        pytest.raises(ServerError, match=r"connection to .* is lost: .*same command continues"),
        ledger.naming_errors(),
    ):
        try:
            finish(ledger, BASES[1], token, ROW, 1, last=True)
        finally:
            ledger.release(token)  # as a grading does; it must not hide what happened
    with closing(Ledger(place)) as other:
        assert other.lease_free(BASES, 9).bases == tuple(BASES[1:])
        other.check()


@pytest.mark.long(20)
def test_what_was_written_survives_a_server_that_is_killed(own_postgresql, tmp_path):
    """One backend after the other gets SIGKILL: the server then ends all connections."""
    own_postgresql.execute("CREATE DATABASE own OWNER grader")
    place = ServerPlace(own_postgresql.address("own"), tmp_path / "key")
    chance = random.Random(7)
    told = set()
    for _ in range(2):
        words = [sys.executable, "-c", WRITER, place.address, str(tmp_path / "key")]
        writer = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = writer.stdout.readline()
        time.sleep(chance.random() * 0.2)
        others = "datname = 'own' AND pid <> pg_backend_pid()"
        ((pid,),) = execute(place, f"SELECT pid FROM pg_stat_activity WHERE {others}")
        os.kill(pid, signal.SIGKILL)
        rest, errors = writer.communicate(timeout=120)
        assert "ServerError" in errors
        told |= set((first + rest).split())
        wait_for_server(place)
        rows = execute(place, "SELECT basis, result FROM result")
        done = {row[0] for row in execute(place, "SELECT basis FROM attempt WHERE state = 'done'")}
        assert {basis for basis, _ in rows} == done >= told
        assert max(Counter(basis for basis, _ in rows).values()) == 1
    with closing(Ledger(place)) as read:
        read.check()


def wait_for_server(place):
    import psycopg

    end = time.monotonic() + 60
    while True:
        try:
            execute(place, "SELECT 1")
        except psycopg.OperationalError:
            assert time.monotonic() < end
            time.sleep(0.1)
        else:
            return


# --- from one to the other ---


def test_a_ledger_moves_to_a_server_and_back(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path, back = tmp_path / "ledger.sqlite", tmp_path / "back.sqlite"
    rows = test_ledger_damage.make(path)
    assert main(["ledger", "salvage", str(path), "-o", place.address]) == 0
    said = capsys.readouterr().out
    assert f"Written to {place.name}, and its key to {tmp_path}/data/gtp-harness/keys/" in said
    assert no_password(said)
    assert main(["ledger", "check", place.address]) == 0
    assert "25 results, 13 marks" in capsys.readouterr().out
    assert main(["ledger", "salvage", place.address, "-o", str(back)]) == 0
    assert test_ledger_damage.rows_of(back) == rows
    capsys.readouterr()
    assert main(["ledger", "salvage", str(path), "-o", place.address]) == 2
    assert "is a ledger already: nothing is overwritten" in capsys.readouterr().err


# --- grading ---


@pytest.mark.usefixtures("warm_workers")
def test_a_class_is_graded_alike_on_both(database, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    small_class.make(tmp_path, small_class.CLASS[:2])
    words = ["grade", str(tmp_path / "submissions"), "--assignment", str(tmp_path / "counting")]
    words += ["--no-images", "--output"]
    status = main([*words, str(tmp_path / "file")])
    on_server = [*words, str(tmp_path / "server"), "--ledger", database]
    assert main(on_server) == status
    place = ServerPlace(database)
    for query in ALIKE:
        found = execute(place, query)
        assert found == execute(LedgerFile(tmp_path / "file" / "ledger.sqlite"), query) != []
    one, other = ((tmp_path / where / "marks.csv").read_text() for where in ("file", "server"))
    assert one == other
    capsys.readouterr()
    assert main(on_server) == status
    said = capsys.readouterr()
    assert " 0 of " in said.out
    written = [one for one in (tmp_path / "server").rglob("*") if one.is_file()]
    assert all(no_password(one.read_bytes().decode(errors="replace")) for one in written)
    assert no_password(said.out + said.err)
    dump = "SELECT string_agg(r::text, '') FROM run r"
    assert no_password(str(execute(place, dump)))


END_CONNECTIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = '{name}' AND pid <> pg_backend_pid()"
)
ALIKE = (
    "SELECT basis, number, result FROM result ORDER BY basis, number",
    "SELECT key, marks, bases FROM mark ORDER BY key, id",
)


def test_the_server_notices_as_soon_as_we_do_that_the_other_end_is_gone(ledger):
    """Else a machine whose power is cut in a transaction would keep its locks for two hours."""
    names = ("idle", "interval", "count")
    shown = [f"SHOW tcp_keepalives_{name}" for name in names] + ["SHOW tcp_user_timeout"]
    values = [ledger.db.exec_driver_sql(query).scalar() for query in shown]
    assert values == ["30", "10", "3", "60000"]


def test_an_error_of_the_server_is_told_in_one_sentence_alone(database):
    """psycopg logs it, too, with the address, where several rows were to be written at once."""
    code = f"""
import sys
from sqlalchemy import text
from harness.grading.ledger.ledger_server import ServerDatabase
from harness.core.errors import ServerError
opened = ServerDatabase({database!r}, "the ledger")
opened.connection.exec_driver_sql("CREATE TABLE one (number integer CHECK (number < 2))")
try:
    with opened.naming_errors(), opened.changing():
        rows = [dict(n=n) for n in range(3000)]
        opened.connection.execute(text("INSERT INTO one VALUES (:n)"), rows)
except ServerError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "violates check constraint" in done.stdout
    assert done.stderr == ""
