"""How far an upload is, in words."""

from __future__ import annotations

from harness.service.handing_in.ownership import refusal
from harness.service.records import DONE, FAULT, Job, Upload

_STATES = {"": "received", DONE: "checked", FAULT: "could not be checked: ask your teacher"}


def state(upload: Upload, job: Job | None) -> str:
    """Return how far an upload is; ``job``: the one that checks it."""
    if upload.withdrawn:
        return "withdrawn"
    if refusal(upload):
        return "refused"
    if job is None:
        return _STATES[""]
    waiting = "being checked" if upload.record else "waiting to be checked"
    return _STATES.get(job.state, waiting)
