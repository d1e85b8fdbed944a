"""The folder with everything of a service: who may look into it, and its time zone."""

import datetime
import hashlib
import json
import os
import stat
import time
from pathlib import Path
from typing import NamedTuple

from harness.core import file_system
from harness.core.errors import UsageError
from harness.service.local_times import name_zone

OURS = 0o700
_OTHERS = 0o077  # the permissions of the group and of everybody
_SIGNS = ("keys", "service.sqlite")  # one of them is in each folder that a service has used


def make_folder(folder: Path) -> None:
    """Make a folder, or close one that is there to other users.

    A folder that has other things in it as well stays as it is. What the service writes is its
    own in any case: see :func:`keep_files_private`.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        folder.mkdir(mode=OURS, parents=True, exist_ok=True)
        if (
            _is_open(folder)
            and folder.stat().st_uid == os.geteuid()
            and (_is_used(folder) or not any(folder.iterdir()))  # of a service, or new
        ):
            folder.chmod(OURS)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from None


def keep_files_private() -> None:
    """Let all files that this process and its children make be their user's only."""
    os.umask(_OTHERS)


def close_to_others(path: Path) -> None:
    """Let a file that was copied with its permissions be its user's only; raises OSError."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & OURS)


def find_exposed(folder: Path) -> Path | None:
    """Return something of a service that other users can read, or None.

    ``folder``: with the data, or that will have them.
    """
    if not folder.is_dir() or not _is_open(folder) or not _is_used(folder):
        return None
    return next((one for one in sorted(folder.iterdir()) if _is_open(one)), None)


def _is_open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & _OTHERS)


def _is_used(folder: Path) -> bool:
    return any((folder / name).exists() for name in _SIGNS)


# --- The time zone in which a service's data were last served; dates in them are kept without one
# Under another zone each deadline would be at another moment.


ZONE_FILE = "zone.json"
_FIRST, _DAYS = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC), 20 * 366


class Zone(NamedTuple):
    """A zone as a machine has it; two are the same if their clocks are, whatever their names."""

    name: str  # such as ``CET/CEST (UTC+01:00)``
    digest: str  # of its offsets, day by day


def find_zone() -> Zone:
    """Return the zone of this machine."""
    days = (_FIRST + datetime.timedelta(days=day) for day in range(_DAYS))
    told = ",".join(str(time.localtime(day.timestamp()).tm_gmtoff) for day in days)
    standard = datetime.timezone(datetime.timedelta(seconds=-time.timezone))
    offset = f"{datetime.datetime(2000, 1, 1, tzinfo=standard):%z}"
    name = f"{name_zone()} (UTC{offset[:3]}:{offset[3:5]})"
    return Zone(name, hashlib.sha256(told.encode()).hexdigest()[:16])


def explain_other_zone(data: Path, now: Zone) -> str:
    """Return what is to be done if data were last served in another zone; "" if they were not.

    ``data``: the folder of a service; ``now``: the zone of this machine.
    """
    before = _load_zone(data)
    if before is None or before.digest == now.digest:
        return ""
    return (
        f"the data were last served in the time zone {before.name}; this service has {now.name},"
        " so each deadline is at another moment: set TZ to the former zone, or look at all dates"
    )


def keep_zone(data: Path, now: Zone) -> None:
    """Write down that data are served in the zone of this machine."""
    if _load_zone(data) != now:
        file_system.write_whole(data / ZONE_FILE, json.dumps(now._asdict()))


def _load_zone(data: Path) -> Zone | None:
    try:
        found = json.loads((data / ZONE_FILE).read_text(encoding="utf-8"))
        return Zone(str(found["name"]), str(found["digest"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
