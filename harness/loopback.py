"""Which hosts are this machine itself: what is sent to them never crosses a network. *Pure.*"""

from __future__ import annotations

import ipaddress


def is_this_machine(host: str) -> bool:
    """Whether a host, by name or address, is this machine and no other."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
