"""Environments that a worker fetches: whole, bounded, and there as long as they are used."""

import errno
import os
import subprocess
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from harness.cluster import cluster_processes, worker_files
from harness.cluster.records import ServedFile
from harness.cluster.transfer import ByteConnection, BytesServer, FetchError, Source
from harness.cluster.worker_files import EnvironmentStore
from harness.environments import environment_archive, interpreters
from tests.harness import packed_environments
from tests.harness.packed_environments import base

pytestmark = pytest.mark.processes

MUCH = 1 << 30
SIZE = 1 << 20  # bytes of each environment, and a little


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three environments of a mebibyte."""
    folder = tmp_path_factory.mktemp("made")
    found = []
    for number in range(3):
        packed_environments.make(folder / f"made{number}", f"lib{number}", SIZE)
        found.append(packed_environments.pack(folder / f"made{number}"))
    return found


@pytest.fixture
def source(three):
    with closing(BytesServer("127.0.0.1", 0)) as served:
        token = served.tokens.make(
            ServedFile(one.packed.sha256, str(one.archive)) for one in three
        )
        with closing(ByteConnection(served.address, None)) as connection:
            yield Source(connection, token)


@pytest.fixture
def fetched_digests(monkeypatch):
    """The digests of all that was fetched."""
    found = []
    plain = Source.fetch
    monkeypatch.setattr(
        Source,
        "fetch",
        lambda own, all_of_it, *more: (
            found.extend(one.sha256 for one in all_of_it),
            plain(own, all_of_it, *more),
        )[1],
    )
    return found


def list_kept(folder):
    """The names in a store, without its locks."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def use(store, made, source):
    """Use an environment once; return its Python."""
    with store.in_use(made.packed, source) as program:
        return program


def test_it_is_fetched_once_and_runs_where_it_lies(three, source, tmp_path, fetched_digests):
    one, _, _ = three
    for _ in range(2):
        store = EnvironmentStore(tmp_path, MUCH, [base()])
        for _ in range(2):
            with store.in_use(one.packed, source) as program:
                words = [program, "-B", "-c", "import lib0; print(lib0.twice(2), lib0.__file__)"]
                said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
                assert said.startswith(f"4 {tmp_path / one.packed.sha256}")
    assert fetched_digests == [one.packed.sha256]
    assert list_kept(tmp_path) == {one.packed.sha256}


def test_what_was_not_used_for_longest_makes_room(three, source, tmp_path):
    room = 3 * SIZE + SIZE // 2  # for two, and an archive
    store = EnvironmentStore(tmp_path, room, [base()])
    for moment, one in enumerate((three[0], three[1], three[0]), start=1):
        use(store, one, source)
        os.utime(tmp_path / one.packed.sha256, (moment, moment))
    use(store, three[2], source)
    assert list_kept(tmp_path) == {three[0].packed.sha256, three[2].packed.sha256}


def test_one_in_use_stays_while_another_worker_makes_room(three, source, tmp_path):
    room = 2 * SIZE + SIZE // 2  # for one, and an archive
    store, other = (EnvironmentStore(tmp_path, room, [base()]) for _ in range(2))
    one, two, three_ = three
    with store.in_use(one.packed, source) as program:
        use(other, two, source)
        assert list_kept(tmp_path) == {one.packed.sha256, two.packed.sha256}
        subprocess.run([program, "-B", "-c", "import lib0"], check=True)
    use(other, three_, source)
    assert list_kept(tmp_path) == {three_.packed.sha256}


def test_of_two_workers_at_once_one_fetches_it_for_both(three, source, tmp_path, fetched_digests):
    plain = environment_archive.unpack
    found, threads = [], []

    def slow(*words):
        time.sleep(0.5)
        plain(*words)

    def work():
        found.append(use(EnvironmentStore(tmp_path, MUCH, [base()]), three[0], source))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment_archive, "unpack", slow)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 4
    assert len(set(found)) == len(fetched_digests) == 1


# --- what is not taken -------------------------------------------------------------------------


@contextmanager
def expect_refusal(said, folder):
    """In here something is refused, and nothing of it stays."""
    with pytest.raises(FetchError, match=said):
        yield
    assert not list_kept(folder)


def test_other_bytes_than_were_asked_for_are_none(three, tmp_path):
    one, two, _ = three
    store = EnvironmentStore(tmp_path, MUCH, [base()])
    with closing(BytesServer("127.0.0.1", 0)) as served:
        token = served.tokens.make([ServedFile(one.packed.sha256, str(two.archive))])
        with (
            closing(ByteConnection(served.address, None)) as connection,
            expect_refusal("other bytes than|has more than", tmp_path),
        ):
            use(store, one, Source(connection, token))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fingerprint": "0" * 64}, "other packages than it is to have"),
        ({"unpacked": 100}, "the archive of the environment is not one: it has more than 100"),
        ({"unpacked": 3 * SIZE}, "is not one: .* are missing"),
        ({"size": 100}, "has more than 100 bytes"),
        ({"base": "Python 3.1.4 (such, an-abi)"}, r"Python 3.1.4 \(such, an-abi\) is not on this"),
        ({"unpacked": MUCH}, r"this worker keeps .* \(--environments-size\)"),
    ],
)
def test_what_is_not_as_it_was_told_is_refused(three, source, tmp_path, change, said):
    store = EnvironmentStore(tmp_path, MUCH, [base()])
    one = three[0]._replace(packed=three[0].packed._replace(**change))
    with expect_refusal(said, tmp_path):
        use(store, one, source)


def test_a_disk_that_is_full_is_trouble_of_the_worker(three, source, tmp_path, monkeypatch):
    store = EnvironmentStore(tmp_path, MUCH, [base()])

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(environment_archive, "unpack", full)
        with expect_refusal("No space left on device", tmp_path):
            use(store, three[0], source)
    use(store, three[0], source)  # and later it goes on


def test_a_worker_that_does_not_finish_is_not_waited_for_for_ever(
    three, source, tmp_path, monkeypatch
):
    monkeypatch.setattr(worker_files, "_PATIENCE", 0.2)
    with worker_files._Lock(tmp_path, three[0].packed.sha256) as stopped:
        assert stopped.try_take(worker_files.fcntl.LOCK_EX)
        with pytest.raises(FetchError, match="does not finish"):
            use(EnvironmentStore(tmp_path, MUCH, [base()]), three[0], source)


# --- what others have done to it ---------------------------------------------------------------


def lose_a_file(folder):
    next(folder.glob("environment/lib/*/*/lib0.py")).unlink()


def truncate_a_file(folder):
    next(folder.glob("environment/lib/*/*/data.bin")).write_bytes(b"")


def lose_its_python(folder):
    python = folder / "environment" / "bin" / "python3"
    python.unlink()
    python.symlink_to("/nowhere/python3")


def lose_its_record(folder):
    (folder / "record.json").unlink()


def test_what_is_not_as_it_was_unpacked_is_fetched_again(three, source, tmp_path, fetched_digests):
    one, _, _ = three
    for damage in (None, lose_a_file, truncate_a_file, lose_its_python, lose_its_record):
        if damage:
            damage(tmp_path / one.packed.sha256)
        program = use(EnvironmentStore(tmp_path, MUCH, [base()]), one, source)
    subprocess.run([program, "-B", "-c", "import lib0"], check=True)
    assert len(fetched_digests) == 5


# --- what is announced -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("is_root", "open_to_all", "expected"),
    [
        (False, set(), ["one", "two"]),
        (True, {"store", "/one"}, ["one"]),  # engines run as another user
        (True, {"/one", "/two"}, []),
    ],
)
def test_as_root_a_worker_takes_environments_only_where_engines_get_to_them(
    monkeypatch, is_root, open_to_all, expected
):
    found = [base()._replace(program=f"/{name}", version=name) for name in ("one", "two")]
    monkeypatch.setattr(cluster_processes.os, "geteuid", lambda: 0 if is_root else 1000)
    monkeypatch.setattr(interpreters, "of_all_versions", lambda: found)
    monkeypatch.setattr(interpreters, "is_open", lambda path: path in open_to_all)
    assert [one.version for one in cluster_processes.bases(Path("store"))] == expected
