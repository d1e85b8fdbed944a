"""Runs a command where there are no namespaces: as in Docker by default, or in a plain chroot.

``python without_namespaces.py docker COMMAND…``: the answers are those of Docker's default
profile: EPERM, and for clone3 ENOSYS, so that the C library falls back on clone, whose flags can
be seen.

``python without_namespaces.py chroot COMMAND…``, for root: an ordinary folder is the root. All of
the machine is bound into it. There the kernel refuses namespaces of users and a new root.

``tox -e docker`` and ``tox -e chroot`` run all tests so.
"""

import ctypes
import errno
import os
import struct
import sys

_ERROR, _ALLOW = 0x00050000, 0x7FFF0000
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _FIRST_ARGUMENT = 0, 16  # offsets in struct seccomp_data
_NEW_NAMESPACES = 0x7E020000  # of the flags of clone
_CALLS = {  # clone, clone3; and what is refused altogether: unshare, setns, mount and its kin
    "x86_64": (56, 435, (272, 308, 165, 166, 155, 428, 429, 430, 431, 432, 442)),
    "aarch64": (220, 435, (97, 268, 40, 39, 41, 428, 429, 430, 431, 432, 442)),
}
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2


def refuse() -> None:
    """Refuse namespaces and mounts to this process and all that it starts."""
    clone, clone3, refused = _CALLS[os.uname().machine]
    program = [(_LOAD, 0, 0, _NUMBER)]
    for call in refused:
        program += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, _ERROR | errno.EPERM)]
    program += [
        (_EQUAL, 0, 1, clone3),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        (_EQUAL, 0, 3, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))
    head = struct.pack("HP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(head), 0, 0):
        raise OSError(ctypes.get_errno(), "the filter cannot be set")


# All that is mounted is in a mount namespace and in memory: it is gone with the command.
_CHROOT = """
set -e
mount -t tmpfs root /mnt
mkdir -p /mnt/root/mnt
for name in $(ls / | grep -vx mnt); do
    if [ -L /$name ]; then cp -P /$name /mnt/root/$name
    elif [ -d /$name ]; then mkdir /mnt/root/$name; mount --rbind /$name /mnt/root/$name; fi
done
exec chroot /mnt/root sh -c 'cd "$0"; exec "$@"' "$PWD" "$@"
"""
CHROOT = ("unshare", "-m", "sh", "-c", _CHROOT, "sh")


if __name__ == "__main__":
    kind, *command = sys.argv[1:]
    if kind == "docker":
        refuse()
    else:
        command = [*CHROOT, *command]
    os.execvp(command[0], command)
