"""The fingerprint of a test: a digest of all that its result depends on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from harness.records import Step


def digests(steps: Sequence[Step]) -> Iterator[str]:
    """Yield for each test a digest of all commands up to it, and of its expectation.

    For a step that is not a test it is empty.
    """
    sent = hashlib.blake2b(digest_size=8)
    for step in steps:
        sent.update(f"{step.command}\n".encode("utf-8", "surrogateescape"))
        if not step.is_test:
            yield ""
            continue
        own = sent.copy()
        own.update(repr(step.pattern).encode("utf-8", "surrogateescape"))
        yield own.hexdigest()
