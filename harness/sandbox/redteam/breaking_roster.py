"""Attacks of build steps on disk and on what clears away after them."""

from __future__ import annotations

from harness.sandbox.redteam.attack import Attack

_COUNT = dict.fromkeys((3, 2, 1), "the count of disk")
_CALLS = dict.fromkeys((3, 2, 1), "seccomp")
_REMOVED = dict.fromkeys((3, 2, 1), "removal without paths")


def _row(program: str, title: str, layer: dict[int, str]) -> Attack:
    return Attack(program, f"{title} (build)", layer, source="breaking", at="build")


ROSTER = (
    _row("unlinked_disk", "use disk in files without a name", _COUNT),
    _row("mapped_disk", "use disk in files that are but mapped", _COUNT),
    _row("shut_folders", "use disk in folders that are shut", _COUNT),
    _row("deep_disk", "use disk beyond the longest path", _COUNT),
    _row("reserved_disk", "reserve disk without writing", _CALLS),
    _row("deep_folders", "leave folders 1,500 deep", _REMOVED),
    _row("odd_names", "leave folders that nobody may enter", _REMOVED),
)
