"""A backup of a service that ran, and the service made of it: the same marks, and chains hold."""

import errno
import json
import os
import sqlite3

import pytest

from harness import cli
from harness.core import file_system
from harness.core.errors import LedgerError
from harness.grading.ledger.ledger import Ledger
from harness.service.operations import data
from harness.service.settings import Settings
from harness.service.storage import courses, data_folder, uploads
from tests.harness import small_class
from tests.service.serving import (
    BASE,
    KINDS,
    Browser,
    hand_in,
    make_course,
    open_service,
    settings_of,
    work,
)

pytestmark = [pytest.mark.processes, pytest.mark.long(1), pytest.mark.stored]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def settings(kind, request, tmp_path):
    return settings_of(kind, request, tmp_path / "data")


@pytest.fixture
def elsewhere(kind, request, tmp_path):
    """Return settings of a place with nothing in it."""
    return settings_of(kind, request, tmp_path / "restored", has_tables=False)


def options(settings):
    return ["--data", str(settings.data), "--database", settings.database]


def everything(service):
    """Return all that was given and handed in, as it is written down."""
    with service.database.reading() as db:
        (assigned,) = courses.ASSIGNMENTS.all(db)
        found = [rows.all(db) for rows in (uploads.UPLOADS, uploads.GRADINGS, uploads.MARKS)]
        log = service.database.log.entries(db)
    ledger = Ledger(service.settings.ledger(assigned.id))
    try:
        ledger.check()
        marks = ledger.in_force()
    finally:
        ledger.close()
    originals = {path.name: path.read_bytes() for path in service.settings.originals.iterdir()}
    gradings = service.settings.assignment_folder(assigned.id) / "gradings"
    pages = {
        str(path.relative_to(gradings)): path.read_bytes()
        for path in gradings.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }
    return found, log, marks, originals, pages


def grade_class(service):
    """Grade a class of one; return the course."""
    course = make_course(service, "student,name\nada,Ada\n")
    ada = Browser(service).enter(course.links["ada"])
    hand_in(ada, course)
    course.teacher.post(f"{course.assignment}/private", files={"file": ("p.gtp", PRIVATE)})
    work(service)
    course.teacher.post(f"{course.assignment}/gradings")
    work(service)
    return course


PRIVATE = b"1 twice 21\n#? [42]\n"


def test_a_restored_service_has_the_same_and_goes_on(settings, elsewhere, counting, tmp_path):
    target = tmp_path / "backup"
    with open_service(settings) as service:
        course = grade_class(service)
        before = everything(service)
        assert len(before[2]) == 1 and before[4]
        assert cli.main(["backup", str(target), *options(settings)]) == 0  # while it is open
    assert cli.main(["restore", str(target), *options(elsewhere)]) == 0
    with open_service(elsewhere) as service:
        assert everything(service) == before
        ada = Browser(service).enter(course.links["ada"])  # links hold
        hand_in(ada, course, small_class.submission("return n"), "a2.tgz")
        assert work(service) == 2  # the sheets are written anew, and are the same
        assert everything(service)[4] == before[4]
    data.verify(elsewhere)


def test_a_ledger_whose_key_is_missing_is_backed_up_restored_and_named(
    settings, elsewhere, counting, tmp_path, capsys
):
    target = tmp_path / "backup"
    with open_service(settings) as service:
        grade_class(service)
        (key,) = settings.keys.glob("[!s]*.key")
        kept = key.rename(tmp_path / key.name)
        assert cli.main(["backup", str(target), *options(settings)]) == 1
        said = capsys.readouterr()
        assert "a ledger without its key" in said.err and "bytes, in " in said.out
        with service.database.reading() as db:
            (one,) = courses.ASSIGNMENTS.all(db)
        assert f"until its key is there: {one.title} (Games): {key}\n" in said.err
    assert cli.main(["restore", str(target), *options(elsewhere)]) == 1
    said, missing = capsys.readouterr(), elsewhere.keys / key.name
    assert "until its key is there" in said.err and str(missing) in said.err
    assert "all other ledgers are intact" in said.out
    kept.rename(missing)  # nothing was lost
    assert data.verify(elsewhere) == ()
    with open_service(elsewhere) as service:
        assert len(everything(service)[2]) == 1


def test_what_was_under_way_is_done_after_a_restore(settings, elsewhere, counting, tmp_path):
    with open_service(settings) as service:
        course = make_course(service, "student,name\nada,Ada\n")
        ada = Browser(service).enter(course.links["ada"])
        page = hand_in(ada, course).url.path
        data_folder.keep_zone(settings.data, data_folder.find_zone())
        data.back_up(settings, tmp_path / "backup")
    data.restore(tmp_path / "backup", elsewhere)
    kept = [(one.data / data_folder.ZONE_FILE).read_bytes() for one in (settings, elsewhere)]
    assert kept[0] == kept[1]
    with open_service(elsewhere) as service:
        assert work(service) == 1
        ada = Browser(service).enter(course.links["ada"])
        assert "4 passed" in ada.get(page).text


def test_a_restore_that_fails_leaves_nothing(settings, elsewhere, counting, tmp_path, monkeypatch):
    """So it can be tried again in the same place."""
    with open_service(settings) as service:
        course = grade_class(service)
    data.back_up(settings, tmp_path / "backup")
    with monkeypatch.context() as broken, pytest.raises(LedgerError, match="no good"):
        broken.setattr(data, "verify", no_good)
        data.restore(tmp_path / "backup", elsewhere)
    assert not elsewhere.data.exists()
    data.restore(tmp_path / "backup", elsewhere)
    with open_service(elsewhere) as service:
        Browser(service).enter(course.links["ada"])


def test_a_backup_that_fails_leaves_nothing(settings, tmp_path, monkeypatch):
    with open_service(settings):
        pass
    with monkeypatch.context() as broken, pytest.raises(OSError, match="No space"):
        broken.setattr(file_system, "digest", full)
        data.back_up(settings, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
    data.back_up(settings, tmp_path / "backup")


def test_a_service_without_its_key_is_not_backed_up(settings, tmp_path, capsys):
    with open_service(settings):
        pass
    (settings.keys / "service.key").unlink()
    assert cli.main(["backup", str(tmp_path / "backup"), *options(settings)]) == 2
    assert "the key of the audit log is missing: there is no" in capsys.readouterr().err
    assert not (tmp_path / "backup").exists()


def test_a_backup_without_the_database_is_refused_and_makes_none(settings, tmp_path, capsys):
    with open_service(settings):
        pass
    path = settings._replace(database="").own_place().path
    path.unlink(missing_ok=True)
    assert cli.main(["backup", str(tmp_path / "backup"), "--data", str(settings.data)]) == 2
    assert "give the service's --database" in capsys.readouterr().err
    assert not (tmp_path / "backup").exists() and not path.exists()


def full(_path):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_restore_onto_a_full_disk_names_what_it_could_not_write(
    settings, elsewhere, tmp_path, capsys, monkeypatch
):
    def copy(source, _target):
        raise OSError(errno.ENOSPC, "No space left on device", str(source))

    with open_service(settings):
        pass
    data.back_up(settings, tmp_path / "backup")
    monkeypatch.setattr(data.shutil, "copy2", copy)
    assert cli.main(["restore", str(tmp_path / "backup"), *options(elsewhere)]) == 3
    assert f"cannot write {elsewhere.data}/" in capsys.readouterr().err
    assert not elsewhere.data.exists()


def test_a_backup_of_another_version_is_named(settings, elsewhere, tmp_path, capsys):
    with open_service(settings) as service, service.database.changing() as db:
        db.exec_driver_sql("UPDATE service_version SET version_num = '999'")
    data.back_up(settings, tmp_path / "backup")
    assert cli.main(["restore", str(tmp_path / "backup"), *options(elsewhere)]) == 2
    assert "by another version of gtp-harness" in capsys.readouterr().err
    assert not elsewhere.data.exists()


def no_good(_settings):
    raise LedgerError("no good")


def test_a_backup_in_which_a_row_was_edited_does_not_hold(counting, tmp_path):
    settings, target = Settings(tmp_path / "data", address=BASE), tmp_path / "backup"
    with open_service(settings) as service:
        grade_class(service)
    data.back_up(settings, target)
    (ledger,) = target.glob("assignments/*/ledger.sqlite")
    with sqlite3.connect(ledger) as db:
        assert db.execute("DELETE FROM mark").rowcount == 1
    db.close()
    _count_anew(target)
    with pytest.raises(LedgerError, match="was edited or is damaged"):
        data.restore(target, Settings(tmp_path / "restored"))
    assert not (tmp_path / "restored").exists()


def _count_anew(target):
    """Write the list of a backup anew, as somebody would who edits it."""
    path = target / "backup.json"
    found = json.loads(path.read_text())
    found["files"] = {name: file_system.digest(target / name) for name in found["files"]}
    path.write_text(json.dumps(found))


@pytest.fixture
def backup(tmp_path):
    """Return a backup of a service with nobody in it."""
    settings = Settings(tmp_path / "data", address=BASE)
    with open_service(settings):
        pass
    data.back_up(settings, tmp_path / "backup")
    return tmp_path / "backup"


SPOILED = [
    (lambda folder: (folder / "backup.json").unlink(), "is not a whole backup"),
    (lambda folder: (folder / "backup.json").write_text("[]"), "is not a whole backup"),
    (lambda folder: (folder / "keys/service.key").unlink(), "service.key is missing, or differs"),
    (
        lambda folder: (folder / "service.sqlite").write_bytes(b"x"),
        "differs from the backed-up file",
    ),
]


@pytest.mark.parametrize(("spoil", "said"), SPOILED)
def test_a_spoiled_backup_is_refused_and_nothing_is_made(backup, tmp_path, capsys, spoil, said):
    spoil(backup)
    assert cli.main(["restore", str(backup), "--data", str(tmp_path / "restored")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "restored").exists()


def test_all_files_of_a_backup_and_of_what_is_restored_are_for_their_owner(
    settings, elsewhere, tmp_path
):
    """Under any umask, and even if somebody has opened the backup to others."""
    with open_service(settings):
        pass
    os.umask(0o022)
    made, data = tmp_path / "backup", elsewhere.data
    assert cli.main(["backup", str(made), *options(settings)]) == 0
    assert {path for path in made.rglob("*") if path.stat().st_mode & 0o077} == set()
    for path in made.rglob("*"):
        path.chmod(0o755)
    os.umask(0o022)
    assert cli.main(["restore", str(made), *options(elsewhere)]) == 0
    assert {path for path in (data, *data.rglob("*")) if path.stat().st_mode & 0o077} == set()


def test_what_is_there_is_not_written_over(backup, tmp_path, capsys):
    data = ["--data", str(tmp_path / "data")]
    assert cli.main(["restore", str(backup), *data]) == 2
    assert "exists: name a new folder" in capsys.readouterr().err
    assert cli.main(["backup", str(backup), *data]) == 2
    assert cli.main(["backup", str(tmp_path / "new"), "--data", str(tmp_path / "none")]) == 2
    assert "found no service" in capsys.readouterr().err
    server = ["--database", "postgresql://me@127.0.0.1:1/none"]
    assert cli.main(["restore", str(backup), "--data", str(tmp_path / "x"), *server]) == 2
    assert "restore it without --database" in capsys.readouterr().err


def test_a_server_that_is_not_there_is_said_without_its_password(tmp_path, capsys):
    keys = tmp_path / "data" / "keys"
    keys.mkdir(parents=True)
    (keys / "service.key").write_text("00" * 32)
    place = ["--database", "postgresql://me:s3cret@127.0.0.1:1/none", "--data"]
    assert cli.main(["backup", str(tmp_path / "b"), *place, str(tmp_path / "data")]) == 3
    said = capsys.readouterr().err
    assert "pg_dump of postgresql://me@127.0.0.1:1/none" in said and "s3cret" not in said
