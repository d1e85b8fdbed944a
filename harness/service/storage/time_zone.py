"""The time zone in which a service's data were last served; dates in them are kept without one.

Under another zone each deadline would be at another moment.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import time
from pathlib import Path
from typing import NamedTuple

from harness import whole_files
from harness.service.local_times import name_zone

FILE = "zone.json"
_FIRST, _DAYS = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC), 20 * 366


class Zone(NamedTuple):
    """A zone as a machine has it; two are the same if their clocks are, whatever their names."""

    name: str  # such as ``CET/CEST (UTC+01:00)``
    digest: str  # of its offsets, day by day


def find() -> Zone:
    """Return the zone of this machine."""
    days = (_FIRST + datetime.timedelta(days=day) for day in range(_DAYS))
    told = ",".join(str(time.localtime(day.timestamp()).tm_gmtoff) for day in days)
    offset = f"{datetime.datetime(2000, 1, 1, tzinfo=_standard()):%z}"
    name = f"{name_zone()} (UTC{offset[:3]}:{offset[3:5]})"
    return Zone(name, hashlib.sha256(told.encode()).hexdigest()[:16])


def _standard() -> datetime.timezone:
    return datetime.timezone(datetime.timedelta(seconds=-time.timezone))


def explain_other(data: Path, now: Zone) -> str:
    """Return what is to be done if data were last served in another zone; "" if they were not.

    ``data``: the folder of a service; ``now``: the zone of this machine.
    """
    before = _load(data)
    if before is None or before.digest == now.digest:
        return ""
    return (
        f"the data were last served in the time zone {before.name}; this service has {now.name},"
        " so each deadline is at another moment: set TZ to the former zone, or look at all dates"
    )


def keep(data: Path, now: Zone) -> None:
    """Write down that data are served in the zone of this machine."""
    if _load(data) != now:
        whole_files.write(data / FILE, json.dumps(now._asdict()))


def _load(data: Path) -> Zone | None:
    try:
        found = json.loads((data / FILE).read_text(encoding="utf-8"))
        return Zone(str(found["name"]), str(found["digest"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
