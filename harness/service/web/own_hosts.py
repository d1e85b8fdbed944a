"""The names by which a service may be asked, and the only addresses that it makes.

A request says in ``Host`` whom it asks, and frameworks build redirects from that: whoever can
choose it has the service send people elsewhere. So only the service's own names are answered, and
what an address is made of comes from the settings.

A machine that watches the service asks it by its number, as Kubernetes does. That is known from
the connection: the number at which it arrived is the service's own.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.service.settings import Settings, own_names, read_address
from harness.service.web import error_answers

# Asked by machines, by whatever name they have for this one. No answer has an address in it.
FOR_ANY_NAME = ("/health", "/ready")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[0-9a-z_.-]+?)\.?(?P<port>:[0-9]{1,5})?")


class OwnHosts:
    """Answers requests to the service's own names, and to others why not."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._names = own_names(settings)
        self._base = read_address(settings)
        self._address = self._base.hostname if settings.address else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = MutableHeaders(scope=scope)
        asked = headers.getlist("host")
        found = _HOST.fullmatch(asked[0].lower()) if len(asked) == 1 else None
        name = found["name"] if found else ""
        is_own = name in self._names or _is_reached(name, scope)
        if found and is_own and name.strip("[]") != self._address:
            headers["host"] = name + (found["port"] or "")
        else:  # the port is that of the address, too, and a server in front has its scheme
            scope["scheme"], headers["host"] = self._base.scheme, self._base.netloc
        # One that says nothing, as HTTP/1.0 may, has come to us by no name.
        if is_own or not asked or scope["path"] in FOR_ANY_NAME:
            await self._app(scope, receive, send)
            return
        why = (
            f"this service is not known by that name, its address is"
            f" {self._base.geturl()}:"
            " open it there, or let its operator add the name (serve --allowed-host)"
        )
        await error_answers.answer(Request(scope), 400, why)(scope, receive, send)


def _is_reached(name: str, scope: Scope) -> bool:
    """Whether a name is the number at which a connection arrived."""
    try:
        asked, reached = (ip_address(one.strip("[]")) for one in (name, scope["server"][0]))
    except (KeyError, TypeError, ValueError):
        return False
    inner = reached.ipv4_mapped if isinstance(reached, IPv6Address) else None
    return asked in (reached, inner)
