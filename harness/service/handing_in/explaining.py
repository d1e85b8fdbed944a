"""Say whether an upload counts, in sentences: pages and the API say the same."""

from __future__ import annotations

from harness.service.handing_in.ownership import (
    COUNTS,
    MAY_COUNT,
    PASSED_OVER,
    UNREAD,
    Heap,
    refusal,
)
from harness.service.local_times import describe_moment
from harness.service.records import Upload
from harness.text import begin_sentence


def explain_place(heap: Heap, upload: Upload) -> str:
    """Return what a grading would do with an upload, in sentences; empty for a withdrawn one."""
    place = heap.places.get(upload.id)
    if place is None:
        return ""
    if place == COUNTS:
        return "This one counts."
    if place == MAY_COUNT:
        return _explain_waiting(heap, upload)
    if place == PASSED_OVER:
        return "This one does not count, because there is a later one."
    if place == UNREAD:
        return (
            "The harness failed to read this one. No earlier one counts in its place: ask your"
            " teacher."
        )
    return f"This one does not count. {refusal(upload)} {_tell_other(heap)}"


def _explain_waiting(heap: Heap, upload: Upload) -> str:
    if heap.find(MAY_COUNT) != upload:
        return "This one will count if the check refuses the later ones, but not this one."
    until = _tell_settled(heap) or "none counts"
    return f"This one will count if the check does not refuse it. Until then {until}."


def _tell_other(heap: Heap) -> str:
    """Return what counts beside an upload that is refused."""
    waiting = heap.find(MAY_COUNT)
    found = (
        f"{_name(waiting)} will count if the check does not refuse it"
        if waiting
        else _tell_settled(heap) or "no submission counts now: submit again"
    )
    return f"{begin_sentence(found)}."


def _tell_settled(heap: Heap) -> str:
    """Return which submission was read and counts, as a clause; "" if there is none."""
    if unread := heap.find(UNREAD):
        return f"there is no mark, because the harness failed to read {_name(unread)}"
    settled = heap.find(COUNTS)
    return f"{_name(settled)} counts" if settled else ""


def _name(upload: Upload) -> str:
    return f"the submission {upload.name} of {describe_moment(upload.at)}"
