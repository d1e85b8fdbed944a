"""The table of protocols."""

from __future__ import annotations

from harness.engine.replies import GTP, Protocol
from harness.engine.status_last import STATUS_LAST
from harness.errors import UsageError

_PROTOCOLS = {one.name: one for one in (GTP, STATUS_LAST)}


def find_protocol(name: str) -> Protocol:
    """Return the protocol of a name in :data:`harness.options.PROTOCOLS`.

    Raises:
        UsageError: there is none.
    """
    if name not in _PROTOCOLS:
        known = " and ".join(map(repr, _PROTOCOLS))
        raise UsageError(f"unknown protocol {name!r}; there are {known}")
    return _PROTOCOLS[name]
