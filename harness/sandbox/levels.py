"""The sandbox levels of this machine: found by trying, and each run tries the one it takes.

The canary is sent through the very launcher that the engines will use. A sandbox that cannot be
started is not there; one that the canary gets out of is an error, whatever else there is.
"""

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from harness.core import file_system, requirements
from harness.core.errors import SandboxError
from harness.core.options import BoxLimits
from harness.sandbox import canary, view
from harness.sandbox.launcher import BoxLauncher

NAMES = {
    3: "bubblewrap, seccomp, limits",
    2: "namespaces, Landlock, seccomp, limits",
    1: "Landlock, seccomp, limits",
    0: "none",
}
# What a level cannot hold; the red team shows it. Part of every result.
GAPS = {
    1: "an engine that guesses a private path sees that it exists, its size, times and owner, and"
    " where a link leads"
}
# What else is different there.
REMARKS = {
    3: "exit statuses from 129 on look like signals; what outlives an engine is ended unnamed",
    1: "an engine runs in a copy at another path; it may write there and in TMPDIR, not to"
    " /tmp and /dev/shm; the disk it uses is looked at every 50 ms",
}
_PATIENCE = 60.0  # seconds; the canary takes 0.03, on a machine that stands still more


def describe_level(level: int) -> str:
    """Return what a level is made of and what it cannot hold, as it is recorded with results."""
    gap = f" (does not hold: {GAPS[level]})" if level in GAPS else ""
    return f"level {level}: {NAMES[level]}{gap}"


class EscapeError(SandboxError):
    """The canary got out: there is a sandbox, but it does not hold."""


def choose(
    choice: str = "auto",
    limits: BoxLimits = BoxLimits(),  # noqa: B008
    *,
    is_proven: bool = False,
) -> BoxLauncher:
    """Return a launcher of a level: ``auto`` is the highest that works here.

    ``is_proven``: another process of this machine has just proven the level.

    Raises:
        SandboxError: the level cannot be started here, or none can.
        EscapeError: a level can be started, and does not hold.
    """
    if not requirements.has_sandboxes():
        raise SandboxError(requirements.NO_SANDBOX)
    for level in (3, 2, 1) if choice == "auto" else (int(choice),):
        try:
            return make_proven(level, limits, is_proven=is_proven)
        except SandboxError as error:
            if choice != "auto" or isinstance(error, EscapeError):
                raise
    raise SandboxError("no sandbox works on this machine; gtp-harness doctor tells why")


def make_proven(
    level: int,
    limits: BoxLimits = BoxLimits(),  # noqa: B008
    *,
    is_proven: bool = False,
) -> BoxLauncher:
    """Return a launcher of ``level`` that has just held a canary; see :func:`choose`.

    Raises:
        SandboxError: the level cannot be started here; says why.
        EscapeError: it does not hold.
    """
    if not requirements.has_sandboxes():
        raise SandboxError(requirements.NO_SANDBOX)
    launcher = BoxLauncher(level, limits)
    try:
        if not is_proven:
            prove(launcher)
    except BaseException:
        launcher.close()
        raise
    return launcher


def prove(launcher: BoxLauncher) -> None:
    """Send a canary into a launcher's box; raise as :func:`make_proven` does."""
    secret = str(Path(view.__file__).resolve())
    script = Path(canary.__file__).read_text(encoding="ascii")
    words = [interpreter(), "-I", "-S", "-c", script]
    words += [secret, str(os.getpid()), str(launcher.level)]
    # What is too little for a Python may well be enough for an engine.
    launcher.limits, wanted = BoxLimits(), launcher.limits
    try:
        with tempfile.TemporaryDirectory(prefix="gtp-harness-") as stage:
            Path(stage).chmod(0o755)
            nest = os.path.join(stage, "nest")
            file_system.write_open(Path(nest, canary.EGG), b"egg")  # as a submission is one
            seen = view.of_program(words[:1], nest, (), view.own_folders(), nest)
            box = launcher.start(seen, words)
            box.stdin.close()
            with contextlib.closing(box):
                if box.wait(_PATIENCE) is None:
                    raise SandboxError("a program in it did not end")
                said, complaint = (
                    stream.readall().decode(errors="replace").strip().splitlines()
                    for stream in (box.stdout, box.stderr)
                )
            end = box.end()
            if said[-1:] != ["done"]:
                raise SandboxError(
                    complaint[-1] if complaint else f"a program in it failed ({end})"
                )
    except SandboxError as error:
        raise SandboxError(f"level {launcher.level} does not work here: {error}") from None
    finally:
        launcher.limits = wanted
    if escapes := said[:-1]:
        raise EscapeError(f"level {launcher.level} does not hold: an engine {', '.join(escapes)}")


def interpreter() -> str:
    """Return a Python that may be executed in a box: as root, by others than root too."""
    own = os.path.realpath(sys.executable)
    if os.geteuid() != 0 or not os.path.exists("/usr/bin/python3"):
        return own
    above = (Path(own), *Path(own).parents)
    is_open_to_all = all(place.stat().st_mode & stat.S_IXOTH for place in above)
    return own if is_open_to_all else "/usr/bin/python3"
