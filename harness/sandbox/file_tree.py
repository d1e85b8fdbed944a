"""A file tree of its own for one engine (level 2): only what is named, and read-only.

The same tree that bubblewrap builds at level 3 from the same :class:`~harness.sandbox.plan.Mount`
records. Runs in a fresh mount namespace, so that nothing here is seen, or lasts, outside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable

from harness.sandbox import folder_copies, kernel
from harness.sandbox.plan import (
    BIND,
    COPY,
    DEVICE,
    LINK,
    MASK_FILE,
    MASK_FOLDER,
    PROC,
    SCRATCH,
    WRITABLE,
    Mount,
    WritableSpace,
)

_BASE = "/tmp"  # any folder that exists everywhere; nobody else sees what we mount on it
_OUTSIDE = "/.outside"
_ATTRIBUTES = {
    BIND: kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NODEV,
    WRITABLE: kernel.MOUNT_ATTR_NODEV,
    DEVICE: 0,
}
_NOTHING = kernel.MS_NOSUID | kernel.MS_NODEV


def arrange(mounts: Iterable[Mount], room: WritableSpace) -> None:
    """Make ``mounts`` the whole file tree of this process."""
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", _BASE, "tmpfs", _NOTHING, "mode=755")
    os.mkdir(_BASE + _OUTSIDE)
    kernel.pivot_root(_BASE, _BASE + _OUTSIDE)
    os.chdir("/")
    for mount in mounts:
        _MAKERS[mount.kind](mount, room)
    kernel.unmount(_OUTSIDE)
    os.rmdir(_OUTSIDE)
    kernel.set_mount_attributes("/", kernel.MOUNT_ATTR_RDONLY, below=False)


def _bind(mount: Mount, _room: WritableSpace) -> None:
    source = _OUTSIDE + mount.source
    _make_place(mount.place, stat.S_ISDIR(os.stat(source).st_mode))
    kernel.bind(source, mount.place, _ATTRIBUTES[mount.kind])


def _link(mount: Mount, _room: WritableSpace) -> None:
    os.makedirs(os.path.dirname(mount.place), exist_ok=True)
    os.symlink(mount.source, mount.place)


def _make_scratch(mount: Mount, room: WritableSpace) -> None:
    _make_place(mount.place, folder=True)
    kernel.mount("tmpfs", mount.place, "tmpfs", _NOTHING, _options(room))


def _options(room: WritableSpace, own: tuple[int, int] = (0, 0)) -> str:
    """Return the options of a file system in memory, with so many bytes and files more."""
    size = room.size + own[0] if room.size else "50%"
    files = room.files + own[1] if room.files else 0
    return f"mode=1777,size={size},nr_inodes={files}"


def _make_copy(mount: Mount, room: WritableSpace) -> None:
    _make_place(mount.place, folder=True)
    kernel.mount("tmpfs", mount.place, "tmpfs", _NOTHING, _options(room, room.own))
    left_out = {_OUTSIDE + path for path in mount.left_out}
    for _ in folder_copies.copy(_OUTSIDE + mount.source, mount.place, room.owner, left_out):
        pass


def _mask_file(mount: Mount, _room: WritableSpace) -> None:
    kernel.bind(_OUTSIDE + "/dev/null", mount.place, _ATTRIBUTES[BIND])


def _mask_folder(mount: Mount, _room: WritableSpace) -> None:
    kernel.mount("tmpfs", mount.place, "tmpfs", _NOTHING, "mode=000,size=4k,nr_inodes=1")


def _proc(mount: Mount, _room: WritableSpace) -> None:
    """Show the box's own processes. The kernel's settings are the whole machine's: read-only."""
    _make_place(mount.place, folder=True)
    kernel.mount("proc", mount.place, "proc", _NOTHING | kernel.MS_NOEXEC)
    kernel.bind(f"{mount.place}/sys", f"{mount.place}/sys", _ATTRIBUTES[BIND])


_MAKERS: dict[str, Callable[[Mount, WritableSpace], None]] = {
    BIND: _bind,
    WRITABLE: _bind,
    DEVICE: _bind,
    LINK: _link,
    SCRATCH: _make_scratch,
    COPY: _make_copy,
    MASK_FILE: _mask_file,
    MASK_FOLDER: _mask_folder,
    PROC: _proc,
}


def _make_place(place: str, folder: bool) -> None:
    """Make what a mount needs to be there already: a folder, or an empty file."""
    if os.path.lexists(place):
        return
    if folder:
        os.makedirs(place)
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)
    os.close(os.open(place, os.O_CREAT | os.O_CLOEXEC | os.O_WRONLY, 0o644))
