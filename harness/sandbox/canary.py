"""A small hostile program that every run sends into its sandbox first.

It is executed inside as the text of ``python -I -S -c``, so it imports next to nothing. It prints
each way out that it found, then ``done``: silence is not proof. What it tries is harmless where it
succeeds.
"""

import os
import sys

_KERNEL_SETTING = "/proc/sys/kernel/core_pattern"
_READ = os.O_RDONLY
EGG = "egg"  # a file in the folder where it starts, copied there to be written into


def escapes(secret: str, harness: int, level: int) -> "list[str]":
    """Return what is possible here and should not be.

    ``secret``: a file that may not be read. ``harness``: a process that may not be seen.
    """
    if level >= 2 and harness < 5:
        harness = 1 << 22  # in here, that number is one of ours
    found = []
    for name, attempt in ATTEMPTS:
        try:
            attempt(secret, harness)
        except OSError:
            continue
        found.append(name)
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        lines = [line.split(":", 1) for line in file]
    status = {line[0]: line[1].strip() for line in lines}
    if int(status["CapEff"], 16) or int(status["CapPrm"], 16):
        found.append("has capabilities")
    if status["NoNewPrivs"] != "1":
        found.append("may gain privileges")
    if status["Seccomp"] != "2":
        found.append("has no system call filter")
    if level >= 2 and len([name for name in os.listdir("/proc") if name.isdigit()]) > 4:
        found.append("sees other processes")
    return found


def _connect(_secret: str, _harness: int) -> None:
    import _socket

    _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)


ATTEMPTS = (  # of each the name, and what is tried with a secret and the harness's process
    ("reads a private file", lambda secret, _: os.open(secret, _READ)),
    ("signals the harness", lambda _, pid: os.kill(pid, 0)),
    ("reads the harness's environment", lambda _, pid: os.open(f"/proc/{pid}/environ", _READ)),
    ("opens a socket", _connect),
    ("writes outside", lambda *_: os.open("/usr", os.O_RDWR | os.O_TMPFILE)),
    ("sets the kernel's settings", lambda *_: os.open(_KERNEL_SETTING, os.O_WRONLY)),
    ("opens the terminal", lambda *_: os.open("/dev/tty", os.O_RDWR)),
)

if __name__ == "__main__":
    with open(EGG, "r+", encoding="ascii") as egg:
        egg.write(egg.read())
    for line in escapes(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])):
        print(line)
    print("done")
