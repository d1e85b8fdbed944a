"""An environment as an archive: the same elsewhere, and nothing but an environment."""

import io
import json
import os
import shutil
import subprocess
import tarfile

import pytest

from harness.core.errors import UsageError
from harness.environments import environment_archive, environment_cache
from harness.environments.environment_archive import DamagedError, UnsendableError
from harness.environments.environment_cache import Stored
from harness.environments.interpreters import fingerprint
from tests.harness import archives, packed_environments
from tests.harness.packed_environments import base

pytestmark = pytest.mark.processes

ABOUT = ("gtp-harness.json", b'{"unloadable": []}')


@pytest.fixture
def here(tmp_path):
    """An environment; its packages' folder is the other one."""
    packages = packed_environments.make(tmp_path / "here")
    run(tmp_path / "here", "import oldlib")  # compiles a module
    return tmp_path / "here", packages


def times(folder):
    """When the files of the packages were written, as compiled modules have it."""
    found = [path for path in folder.glob("lib/**/*") if path.is_file()]
    return {str(path.relative_to(folder)): int(path.stat().st_mtime) for path in found}


def run(folder, script):
    """What a script prints in an environment."""
    words = [str(folder / "bin" / "python3"), "-s", "-c", script]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def test_unpacked_elsewhere_it_is_the_same_without_the_first_one(here, tmp_path):
    folder, _ = here
    made = packed_environments.pack(folder)
    files = times(folder)
    folder.rename(tmp_path / "away")
    there = tmp_path / "there"
    environment_archive.unpack(made.archive, there, base(), made.packed.unpacked)
    assert times(there) == files  # so that compiled modules are up to date
    assert any(name.endswith(".pyc") for name in files)
    found = run(there, "import oldlib, sys; print(oldlib.__file__, sys.prefix, oldlib.twice(4))")
    assert found.split()[1:] == [str(there), "8"]
    assert found.startswith(str(there))
    assert fingerprint(environment_archive.inspect_unrun(there)) == made.packed.fingerprint
    shutil.rmtree(there)


def test_alike_environments_are_alike_bytes(here, tmp_path):
    folder, _ = here
    first = packed_environments.pack(folder).packed
    shutil.copytree(folder, tmp_path / "copy", symlinks=True)
    assert packed_environments.pack(tmp_path / "copy").packed == first


def test_nothing_of_it_is_run_to_look_what_is_in_it(here):
    folder, packages = here
    (packages / "own.pth").write_text("import sys; sys.exit('it was run')\n")
    found = environment_archive.inspect_unrun(folder)
    assert found.packages == (("oldlib", "1.0"),)


# --- what cannot be sent -----------------------------------------------------------------------


def link(packages):
    (packages / "linked.py").symlink_to("/etc/passwd")


def lead_away(packages):
    (packages / "other.pth").write_text("/somewhere/else\n")


def install_in_place(packages):
    about = {"url": "file:///home/me/lib", "dir_info": {"editable": True}}
    (packages / "oldlib-1.0.dist-info" / "direct_url.json").write_text(json.dumps(about))


def name_it_oddly(packages):
    (packages / "a\nb.py").write_text("")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (name_it_oddly, "is not the name of a file that can be sent"),
        (link, "linked.py is a link"),
        (lead_away, "other.pth leads to a folder elsewhere"),
        (install_in_place, r"oldlib-1.0 is installed in place"),
    ],
)
def test_what_lies_elsewhere_cannot_be_sent(here, tmp_path, spoil, said):
    folder, packages = here
    spoil(packages)
    with pytest.raises(UnsendableError, match=said):
        environment_archive.pack(folder, tmp_path / "archive")


def loader(folder, says, monkeypatch):
    """Let the loader of this machine say something of each library."""
    folder.mkdir()
    (folder / "ldd").write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / "ldd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("there", "elsewhere", "works"),
    [
        ("libm.so.6 => /lib/libm.so.6", "libm.so.6 => /lib/libm.so.6", True),
        ("libm.so.6 => /lib/libm.so.6", "libm.so.6 => not found", False),
        ("libcuda.so.1 => not found", "libcuda.so.1 => not found", True),  # it is not for us
    ],
)
def test_a_machine_without_a_library_that_it_needs_says_so(
    here, tmp_path, monkeypatch, there, elsewhere, works
):
    folder, packages = here
    (packages / "x.cpython-311.so").write_bytes(b"\x7fELF")
    loader(tmp_path / "one", there, monkeypatch)
    made = packed_environments.pack(folder)
    loader(tmp_path / "two", elsewhere, monkeypatch)
    unpack = (made.archive, tmp_path / "there", base(), made.packed.unpacked)
    if works:
        environment_archive.unpack(*unpack)
        return
    with pytest.raises(UnsendableError, match=r"a library that .*x.cpython-311.so needs"):
        environment_archive.unpack(*unpack)


# --- archives of somebody else -----------------------------------------------------------------


def archive(*members, kind=tarfile.REGTYPE):
    """The bytes of an archive; a member is a name and content, the last one of a kind."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as packed:
        for number, (name, content) in enumerate(members, start=1):
            one = tarfile.TarInfo(name)
            is_last = number == len(members)
            one.type, one.linkname = (kind, "/etc/passwd") if is_last else (tarfile.REGTYPE, "")
            one.size = len(content) if one.type == tarfile.REGTYPE else 0
            packed.addfile(one, io.BytesIO(content))
    return archives.gzip_bytes(written.getvalue())


WELL = archive(ABOUT, ("lib/x.py", b"x" * 100))
MOST = len(ABOUT[1]) + 100
NAMES = ["../x.py", "/etc/x.py", "lib/../../x.py", "./lib/x.py", "lib/x\n.py"]
NAMES += ["bin/python3", "lib64/x.py", "pyvenv.cfg", "x" * 2000 + "/y"]


def test_a_well_formed_one_is_taken(tmp_path):
    (tmp_path / "a").write_bytes(WELL)
    environment_archive.unpack(tmp_path / "a", tmp_path / "into", base(), MOST)
    assert (tmp_path / "into" / "lib" / "x.py").read_bytes() == b"x" * 100


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"no archive at all", id="text"),
        pytest.param(WELL[: len(WELL) // 2], id="half"),
        pytest.param(archives.gzip_bytes(b"no archive"), id="no tar"),
        pytest.param(archive(("lib/x.py", b"x" * MOST)), id="without what it is to begin with"),
        pytest.param(archive(("gtp-harness.json", b"[]")), id="begins with something else"),
        pytest.param(archive(ABOUT, ("lib/x.py", b"x" * 99)), id="too little"),
        pytest.param(archive(ABOUT, ("lib/x.py", b"x" * 101)), id="too much"),
        pytest.param(archive(ABOUT, ("lib/x", b"x" * 50), ("lib/x", b"x" * 50)), id="twice"),
        pytest.param(archive(ABOUT, ("lib/x", b"x" * 50), ("lib/x/y", b"x" * 50)), id="in a file"),
        *(
            pytest.param(archive(ABOUT, ("lib/x", b""), kind=kind), id=f"kind {kind}")
            for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE,
                         tarfile.DIRTYPE, tarfile.GNUTYPE_SPARSE)
        ),
        *(pytest.param(archive(ABOUT, (name, b"x" * 100)), id=name[:20]) for name in NAMES),
    ],
)  # fmt: skip
def test_what_is_not_an_environment_is_refused_and_writes_nothing_elsewhere(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(DamagedError):
        environment_archive.unpack(tmp_path / "a", tmp_path / "into", base(), MOST)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "into"}
    assert not [path for path in (tmp_path / "into").rglob("*") if path.is_symlink()]


# --- kept --------------------------------------------------------------------------------------


def test_an_archive_is_made_once_until_the_environment_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = environment_cache.root() / "python3-ab"
    packages = packed_environments.make(folder)
    stored = Stored(folder, base().version, "", "", "pip")
    made = []
    plain = environment_archive.pack
    monkeypatch.setattr(
        environment_archive, "pack", lambda *words: (made.append(1), plain(*words))[1]
    )
    first, path = environment_cache.pack(stored)
    assert environment_cache.pack(stored) == (first, path)
    assert (first.base, len(made)) == (base().base, 1)
    path.write_bytes(b"damaged")
    assert environment_cache.pack(stored) == (first, path)
    assert len(made) == 2
    (packages / "oldlib.py").write_text("def twice(n):\n    return n + n\n")
    assert environment_cache.pack(stored)[0].sha256 != first.sha256
    (folder / "environment.json").write_text(json.dumps(dict.fromkeys(Stored._fields[1:], "")))
    environment_cache.remove("python3-ab")
    assert {path.suffix for path in environment_cache.root().iterdir()} == {".lock"}


def test_where_it_cannot_be_written_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = environment_cache.root() / "python3-ab"
    packed_environments.make(folder)
    (folder.parent / ".building-.python3-ab.tar.gz").mkdir()
    with pytest.raises(UsageError, match=r"cannot write .*python3-ab.tar.gz: Is a directory"):
        environment_cache.pack(Stored(folder, base().version, "", "", "pip"))
