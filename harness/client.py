"""A client of the service's API, for Python.

A request that may have been lost is sent again with the same idempotency key, so that nothing is
done twice. If the service says when to try again, the client waits until then.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from harness.core import network, requirements
from harness.core.errors import ServerError, UsageError

__all__ = ["Client", "place_of", "suite_of"]

try:
    import httpx
except ImportError:  # Client says so: all other public names can be used, and listed, without it
    httpx = None  # type: ignore[assignment]

_TRIES = 5
_LONGEST_PAUSE = 60.0  # seconds between two tries
_AGAIN = (429, 502, 503, 504)
_ID = "[0-9A-Za-z]+"
_BASE = r"(?P<base>https?://[^/?#\s]+)(?:/api/v1)?"
_PLACE = re.compile(rf"{_BASE}(?P<page>/courses/{_ID}/assignments/{_ID})/?")
_SUITE = re.compile(rf"{_BASE}(?P<page>/suites/{_ID})/?")
# Variables of the environment that httpx reads; each is also read in lower case.
_CONNECTION_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
                         "SSL_CERT_FILE", "SSL_CERT_DIR")  # fmt: skip
_LAST_PORT = 65535
_EXAMPLE = "https://tests.example.org"
_PATIENCE = 60.0  # seconds for an answer
_ARCHIVE, _JSON = "application/octet-stream", "application/json"


class ServicePlace(NamedTuple):
    """An assignment or a suite of a service."""

    base: str  # such as https://tests.example.org
    page: str  # the path of its page
    path: str  # of its submissions, or its runs, in the API


def place_of(address: str) -> ServicePlace:
    """Return the assignment that has its page at an address.

    Raises:
        UsageError: it is not such an address.
    """
    expected = f"an assignment's page, such as {_EXAMPLE}/courses/12ab/assignments/34cd"
    return _place(_PLACE, address, expected, "submissions")


def suite_of(address: str) -> ServicePlace:
    """Return the suite of a page's address; raises as :func:`place_of`."""
    return _place(_SUITE, address, f"a suite's page, such as {_EXAMPLE}/suites/12ab", "runs")


def _place(form: re.Pattern[str], address: str, expected: str, items: str) -> ServicePlace:
    found = form.fullmatch(address)
    if found is None:
        raise UsageError(f"found {address!r}, expected the address of {expected}")
    return ServicePlace(found["base"], found["page"], f"{found['page']}/{items}")


class Client:
    """A client with a token. Close it, or use it in a ``with`` statement."""

    def __init__(
        self,
        base: str,
        token: str,
        *,
        allow_http: bool = False,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """``base``: such as https://tests.example.org; ``transport``: for tests.

        ``allow_http``: send the token without encryption, and not to this machine alone.

        Raises:
            UsageError: that is not an address, or not a token; anyone on the way could read the
                token; the environment names a proxy or certificates that cannot be used; httpx is
                not installed.
        """
        requirements.require("Client", "client", "httpx")
        url = _read_address(base)
        if not (allow_http or url.scheme == "https" or _stays_here(url)):
            raise UsageError(
                f"http://{url.host} is not encrypted: everyone on the way could read the API"
                " token. Use https://, or allow it: --allow-http (in Python: allow_http=True)"
            )
        if not token.isascii() or not token.isprintable():
            raise UsageError("the API token has characters in it that none has")
        try:
            self._http = httpx.Client(
                base_url=url,
                headers={"authorization": f"Bearer {token}"},
                timeout=_PATIENCE,
                transport=transport,
                trust_env=not _stays_here(url),
            )
        except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:
            names = (one for name in _CONNECTION_VARIABLES for one in (name, name.lower()))
            known = ", ".join(name for name in names if os.environ.get(name))
            where = f"; the environment has {known}" if known else ""
            raise UsageError(f"no connection can be made: {error}{where}") from None
        self._base = base
        self._pause = pause

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def get(self, path: str, **query: str | int) -> Any:
        """Return the answer of the API for a path, such as ``/me``.

        Raises:
            UsageError: the service refuses the request, and says why.
            ServerError: the service cannot be reached, or failed.
        """
        return self._ask("GET", path, params=query)

    def items(self, path: str) -> Iterator[Any]:
        """Yield all items of a list, page by page; raises as :meth:`get`."""
        after: str | None = ""
        while after is not None:
            page = self.get(path, after=after)
            yield from page["items"]
            after = page["next"]

    def submit(self, place: ServicePlace, archive: Path) -> dict[str, Any]:
        """Submit an archive; return the submission as the API describes it.

        Raises:
            UsageError: the archive cannot be read, or the service refuses it.
            ServerError: as :meth:`get`.
        """
        return self._send(place.path, archive, _ARCHIVE, name=archive.name)

    def post_run(self, suite: ServicePlace, document: Path, revision: str = "") -> dict[str, Any]:
        """Post a document of ``run --json``; return the run as the API describes it.

        ``revision``: identifies this build of the engine; raises as :meth:`submit`.
        """
        return self._send(suite.path, document, _JSON, revision=revision)

    def post_engine(
        self, suite: ServicePlace, archive: Path, revision: str = ""
    ) -> dict[str, Any]:
        """Post an engine for the service to run; return the run as the API describes it.

        Raises as :meth:`submit`.
        """
        return self._send(suite.path, archive, _ARCHIVE, name=archive.name, revision=revision)

    def send_cases(
        self, suite: ServicePlace, archive: Path, command: str, build: str = ""
    ) -> dict[str, Any]:
        """Send the case files by which the service runs engines; return the suite.

        ``command``: starts an engine; ``{folder}`` is its folder. ``build``: builds it first.
        Raises as :meth:`submit`.
        """
        query = {"name": archive.name, "command": command, "build": build}
        return self._send(f"{suite.page}/cases", archive, _ARCHIVE, "PUT", **query)

    def compare(self, suite: ServicePlace, run: str, former: str = "") -> dict[str, Any]:
        """Compare a run with an earlier one, by their ids; raises as :meth:`get`.

        ``former``: the earlier run; empty: the one before.
        """
        found: dict[str, Any] = self.get(f"{suite.path}/{run}/comparison", **{"with": former})
        return found

    def watch(self, place: ServicePlace, name: str) -> Iterator[dict[str, Any]]:
        """Yield the state of a submission until it is checked, or of a run until it has ended.

        ``name``: its id. Raises as :meth:`get`.
        """
        while True:
            found = self.get(f"{place.path}/{name}")
            yield found
            if found["state"] not in ("waiting", "checking", "running"):
                return
            self._pause(1.0)

    def watch_run(self, suite: ServicePlace, run: str) -> Iterator[dict[str, Any]]:
        """Yield the state of a run until it has ended; raises as :meth:`get`."""
        return self.watch(suite, run)

    def _send(
        self, path: str, file: Path, kind: str, method: str = "POST", **query: str
    ) -> dict[str, Any]:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror}") from None
        headers = {"idempotency-key": uuid.uuid4().hex, "content-type": kind}
        found: dict[str, Any] = self._ask(
            method, path, params=query, content=data, headers=headers
        )
        return found

    def _ask(self, method: str, path: str, **rest: Any) -> Any:
        for again in range(_TRIES):
            answer = self._answer(method, path, **rest)
            if isinstance(answer, httpx.Response) and answer.status_code not in _AGAIN:
                return self._read(answer)
            if again < _TRIES - 1:  # as the service says, else longer each time
                wait = "" if isinstance(answer, str) else answer.headers.get("retry-after", "")
                self._pause(min(float(wait), _LONGEST_PAUSE) if wait.isdecimal() else 2.0**again)
        if isinstance(answer, httpx.Response):
            raise ServerError(f"{self._base}: {_why(answer)}")
        raise ServerError(f"{self._base} cannot be reached: {answer}")

    def _answer(self, method: str, path: str, **rest: Any) -> httpx.Response | str:
        """Return the answer, or why the request may not have arrived."""
        try:
            return self._http.request(method, path, **rest)
        except httpx.LocalProtocolError:  # its message has the header, and in it the token
            raise UsageError(f"{self._base} cannot be asked: a header cannot be sent") from None
        except httpx.TransportError as error:
            is_late = isinstance(error, httpx.TimeoutException)
            why = f"no answer in {_PATIENCE:g} seconds" if is_late else network.explain(error)
            if network.is_distrusted(error):  # it will be the same in a minute
                raise ServerError(f"{self._base} cannot be reached: {why}") from None
            return why
        except (httpx.InvalidURL, httpx.HTTPError, UnicodeError) as error:
            raise UsageError(f"{self._base} cannot be asked: {error}") from None

    def _read(self, answer: httpx.Response) -> Any:
        if answer.status_code >= 500:
            raise ServerError(f"{self._base}: {_why(answer)}")
        if answer.has_redirect_location:
            there = answer.headers["location"]
            raise UsageError(f"{self._base} leads to {there}: give the address of that service")
        if not answer.is_success:
            raise UsageError(f"{self._base} refuses: {_why(answer)}")
        try:
            return answer.json()
        except ValueError:
            raise UsageError(f"{self._base} is not a service of gtp-harness") from None


def _read_address(base: str) -> httpx.URL:
    """Return the address of the API; raises UsageError if it is not one."""
    with suppress(httpx.InvalidURL, ValueError):
        url = httpx.URL(f"{base.rstrip('/')}/api/v1")
        is_web = url.scheme in ("http", "https") and url.host and (url.port or 0) <= _LAST_PORT
        # A password would be sent in place of the token, and paths would stand behind a query.
        if is_web and not (url.userinfo or url.query or url.fragment):
            return url
    raise UsageError(f"found {base!r}, expected an address such as {_EXAMPLE}")


def _stays_here(url: httpx.URL) -> bool:
    """Whether what is sent without encryption stays on this machine: no proxy may get it."""
    return url.scheme == "http" and network.is_this_machine(url.host)


def _why(answer: httpx.Response) -> str:
    """Return the detail of a problem document, else the status."""
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code} {answer.reason_phrase}"
