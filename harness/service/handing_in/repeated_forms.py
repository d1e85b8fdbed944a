"""A form that a browser sends again, as by a double click, is one submission."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from harness.service.records import Upload
from harness.service.storage import idempotency
from harness.service.storage.audit import Act
from harness.service.storage.uploads import UPLOADS


def take_once(act: Act, form: str, sent: tuple[str, ...], take: Callable[[], Upload]) -> Upload:
    """Take an upload, or return the one that the same form with the same content became.

    ``form``: the one-time value of the form, or "" for none; ``sent``: where the form went and
    what it had. What was withdrawn meanwhile is taken anew.
    """
    if not form:
        return take()
    key = hashlib.sha256("\0".join((form, *sent)).encode()).hexdigest()
    repeated = idempotency.claim(act.db, act.by, key, key)
    known = UPLOADS.find(act.db, id=repeated.made) if repeated.made else None
    if known and not known.withdrawn:
        return known
    upload = take()
    idempotency.keep(act.db, repeated, upload.id)
    return upload
