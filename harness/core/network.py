"""Names of this machine as a host, and reasons why another one did not answer."""

import ipaddress
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit


def explain(error: BaseException) -> str:
    """Return why a connection failed, from the error that began it; the message of ``error`` else.

    An address or a secret is not in it: what a system says of a connection has none.
    """
    for one in _list_causes(error):
        if isinstance(one, ssl.SSLCertVerificationError):
            return f"its certificate is not valid: {one.verify_message}"
        if isinstance(one, ssl.SSLError) and one.reason:
            return f"no connection by TLS: {one.reason.replace('_', ' ').lower()}"
        if isinstance(one, TimeoutError):
            return "no answer in time"
        if isinstance(one, OSError) and one.strerror:
            return one.strerror
    return str(error) or "the connection ended"


def is_distrusted(error: BaseException) -> bool:
    """Whether a connection failed because the other machine's certificate is not valid."""
    return any(isinstance(one, ssl.SSLCertVerificationError) for one in _list_causes(error))


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, what it was raised from, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__  # some libraries hide it


def is_this_machine(host: str) -> bool:
    """Whether a host, by name or address, is this machine and no other."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origin_of(address: str) -> str:
    """Return the scheme, host and port of an address; "" if it has none."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return ""
    if not parts.scheme or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return f"{parts.scheme}://{host}{f':{port}' if port not in (None, default) else ''}"
