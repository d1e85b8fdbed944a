"""Bytes by their SHA-256 over HTTP: served for a token that names them, and fetched into files.

A token is made for one try of one unit, and taken back when that has ended, however it did. It
opens what the unit names and nothing else. With TLS, only a worker's certificate is answered. All
files of a unit come on one connection, with one answer.
"""

import contextlib
import hashlib
import http.client
import os
import re
import secrets
import ssl
import threading
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, FileIO
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from harness.cluster import tls
from harness.cluster.records import ServedFile
from harness.core.errors import HarnessError
from harness.work.canonical_json import Sha256

LARGEST = 1 << 30  # bytes of one file
UNFINISHED = ".unfinished-"  # begins the names of files and folders that are not whole yet
_MOST_AT_ONCE = 100  # files in a request
_SIZES = "File-Sizes"  # a header: bytes of each file, in the order in which they were asked for
_PATIENCE = 30.0  # seconds of a connection on which nothing is said
_PIECE = 1 << 20  # bytes sent or read at once
_HEADERS, _LINE = 100, 1 << 16  # headers of a request or an answer, and bytes of each
_DIGITS = 18  # of a number in a header
_PATH = re.compile(r"/([A-Za-z0-9_-]{20,60})/([0-9a-f]{64}(?:,[0-9a-f]{64})*)")
_REQUEST = re.compile(rb"GET ([!-~]+) HTTP/1\.1\r?\n")


class Tokens:
    """Files by token. Threads share it."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, str]] = {}
        self._begun: set[str] = set()
        self._lock = threading.Lock()

    def make(self, files: Iterable[ServedFile]) -> str:
        """Return a token for these files."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._files[token] = {one.sha256: one.path for one in files}
        return token

    def end(self, token: str) -> bool:
        """Take a token back; return whether anybody had begun with it."""
        with self._lock:
            self._files.pop(token, None)
            begun = token in self._begun
            self._begun.discard(token)
            return begun

    def open(self, token: str, names: Sequence[str]) -> list[str]:
        """Return where files lie, and take note that a worker begins.

        Empty: the token does not open all of them.
        """
        with self._lock:
            own = self._files.get(token, {})
            if not own.keys() >= set(names):
                return []
            self._begun.add(token)
            return [own[sha256] for sha256 in names]


class BytesServer:
    """Serves bytes from now on, in threads of its own; to be closed."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        """``host``: an address of this machine, by which workers reach it; ``port``: 0: any.

        Raises:
            OSError: the address cannot be had.
        """
        self.tokens = Tokens()
        handler = type("Handler", (_Handler,), {"tokens": self.tokens, "timeout": _PATIENCE})
        self._server = _Server((host, port), handler, tls)
        scheme = "https" if tls else "http"
        name = f"[{host}]" if ":" in host else host
        self.address = f"{scheme}://{name}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, place: tuple[str, int], handler: Any, tls: ssl.SSLContext | None) -> None:
        self.address_family = AF_INET6 if ":" in place[0] else AF_INET
        super().__init__(place, handler)
        self._tls = tls

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer on a connection, in a thread of its own: a slow greeting holds up nobody."""
        request.settimeout(_PATIENCE)
        if self._tls:
            request = self._tls.wrap_socket(request, server_side=True)
            if tls.role(request.getpeercert()) != tls.WORKER:
                request.close()
                return
        super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that breaks is the worker's to tell."""


class _Handler(BaseHTTPRequestHandler):
    tokens: Tokens
    protocol_version = "HTTP/1.1"  # many requests on a connection
    disable_nagle_algorithm = True  # else a body waits until its headers are acknowledged
    wbufsize = 1 << 16  # small files go at once
    raw_requestline: bytes

    def parse_request(self) -> bool:
        """Read a request; return whether it is one. Nothing of its headers is needed.

        To make a message of headers, as Python does, takes longer than to send the files.
        """
        found = _REQUEST.fullmatch(self.raw_requestline)
        lines = (self.rfile.readline(_LINE) for _ in range(_HEADERS))
        has_end = bool(found) and any(line in {b"\r\n", b"\n"} for line in lines)
        self.close_connection = not has_end
        if not found or not has_end:
            self._answer(HTTPStatus.BAD_REQUEST)
            return False
        self.command, self.path = "GET", found[1].decode()
        return True

    def do_GET(self) -> None:
        """Answer with the bytes of files, one after the other."""
        found = _PATH.fullmatch(self.path)
        token, names = found.groups() if found else ("", "")
        paths = self.tokens.open(token, names.split(","))
        if not paths:
            self._answer(HTTPStatus.FORBIDDEN)
            return
        with contextlib.ExitStack() as opened:
            try:
                files = [opened.enter_context(FileIO(path)) for path in paths]
            except OSError:
                self._answer(HTTPStatus.NOT_FOUND)
                return
            sizes = [os.fstat(file.fileno()).st_size for file in files]
            self._answer(HTTPStatus.OK, sizes)
            for file, size in zip(files, sizes, strict=True):
                left = size
                while left and (piece := file.read(min(left, _PIECE))):
                    self.wfile.write(piece)
                    left -= len(piece)
                self.close_connection |= bool(left)  # the file has fewer bytes by now: hang up

    def _answer(self, status: HTTPStatus, sizes: Sequence[int] = ()) -> None:
        """Send what comes before the bytes: no date, no name of a program."""
        told = (
            f"HTTP/1.1 {status.value} {status.phrase}",
            f"{_SIZES}: {','.join(map(str, sizes))}",
            f"Content-Length: {sum(sizes)}",
        )
        self.wfile.write(("\r\n".join(told) + "\r\n\r\n").encode())

    def log_message(self, *_: object) -> None:
        """Say nothing: a token is in the path."""


class FetchError(HarnessError):
    """Bytes cannot be had: the unit is to go to another worker."""


class Missing(NamedTuple):
    """A file that is to be fetched."""

    sha256: Sha256
    place: Path  # where it is to lie


class _BytesResponse:
    """The answer to a request, read from a connection.

    :mod:`http.client` makes a message of the headers, which takes longer than to read the files.
    """

    def __init__(self, reader: BufferedReader) -> None:
        """Read what comes before the bytes; raises HTTPException if it is something else."""
        self._reader = reader
        first = reader.readline(_LINE)
        if not first:
            raise http.client.RemoteDisconnected("it has hung up")
        version, _, rest = first.partition(b" ")
        if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
            raise http.client.BadStatusLine(repr(first[:60]))
        self.status = int(rest[:3])
        self.headers: dict[str, str] = {}
        for _ in range(_HEADERS):
            line = reader.readline(_LINE)
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon:
                break
            self.headers[name.lower()] = value.strip()
        if line not in {b"\r\n", b"\n"}:
            raise http.client.HTTPException("the headers of an answer have no end")
        self.left = _as_count(self.headers.get("content-length", "")) or 0  # bytes to come

    def read(self, most: int) -> bytes:
        """Return the next bytes, so many at most; raises FetchError if there are none."""
        try:
            piece = self._reader.read(min(most, self.left))
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable_error(error) from None
        if not piece:
            raise FetchError("the server has sent less than it told")
        self.left -= len(piece)
        return piece


class ByteConnection:
    """A connection to who gives out bytes, kept from one unit to the next; to be closed.

    A greeting by TLS costs more than all files of a usual unit.
    """

    def __init__(self, address: str, tls: ssl.SSLContext | None) -> None:
        """``address``: such as https://10.0.0.1:4711; ``tls``: needed for https.

        Raises:
            FetchError: the one is with TLS, and the other is not.
        """
        place = urlsplit(address)
        is_secure = place.scheme == "https"
        if (tls is None) is is_secure:
            raise FetchError(f"{address} is not served as this worker was told: with TLS, or not")
        self.address = address
        self._host = place.netloc
        self._reader: BufferedReader | None = None
        self._connection = (
            http.client.HTTPSConnection(place.netloc, timeout=_PATIENCE, context=tls)
            if is_secure
            else http.client.HTTPConnection(place.netloc, timeout=_PATIENCE)
        )

    def close(self) -> None:
        """End the connection."""
        if self._reader:
            self._reader.close()
            self._reader = None
        self._connection.close()

    @contextlib.contextmanager
    def ask(self, token: str, names: Sequence[Sha256]) -> Iterator[_BytesResponse]:
        """Give the answer to a request for files.

        Raises:
            FetchError: it is an error, or there is none.
        """
        with contextlib.ExitStack() as failing:
            failing.callback(self.close)  # of what is not read to its end, the rest is there
            answer = self._answer(f"/{token}/{','.join(names)}")
            if answer.status >= http.client.BAD_REQUEST:
                what = ", ".join(names)
                raise FetchError(f"the server has not given {what} ({answer.status})")
            yield answer
            if not answer.left:
                failing.pop_all()

    def _answer(self, path: str) -> _BytesResponse:
        """Ask; once more if the server has hung up since the last unit."""
        try:
            if self._reader:
                with contextlib.suppress(ConnectionError, ssl.SSLEOFError):
                    return self._request(path, self._reader)
                self.close()
            return self._request(path, self._connect())
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable_error(error) from None

    def _connect(self) -> BufferedReader:
        self._connection.connect()
        found = self._connection.sock
        if isinstance(found, ssl.SSLSocket) and tls.role(found.getpeercert()) != tls.SERVER:
            raise FetchError(f"{self.address} has no certificate of a server")
        reader = self._connection.sock.makefile("rb", _PIECE)
        assert isinstance(reader, BufferedReader)
        self._reader = reader
        return reader

    def _request(self, path: str, reader: BufferedReader) -> _BytesResponse:
        asked = f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n"
        self._connection.sock.sendall(asked.encode())
        return _BytesResponse(reader)


class Source:
    """Source of the bytes of one unit."""

    def __init__(self, connection: ByteConnection, token: str) -> None:
        self._connection = connection
        self._token = token

    def fetch(self, files: Sequence[Missing], most: int = LARGEST) -> None:
        """Write bytes into files, each as a whole or not at all.

        All come with one answer. The server then knows that the unit is in hand.
        ``most``: bytes of each.

        Raises:
            FetchError: they cannot be had, or are others.
        """
        for first in range(0, len(files), _MOST_AT_ONCE):
            some = files[first : first + _MOST_AT_ONCE]
            with self._connection.ask(self._token, [one.sha256 for one in some]) as answer:
                told = map(_as_count, answer.headers.get(_SIZES.lower(), "").split(","))
                sizes = [one for one in told if one is not None]
                if len(sizes) != len(some):
                    raise FetchError("the server has not told how large the files are")
                for one, size in zip(some, sizes, strict=True):
                    if size > most:
                        raise FetchError(f"{one.sha256} has more than {most} bytes")
                    _write(answer, size, one)


def _unreachable_error(error: Exception) -> FetchError:
    return FetchError(f"the server cannot be reached: {error}")


def _as_count(text: str) -> int | None:
    """Return a number from 0, or None if a text is something else."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None


def _write(answer: _BytesResponse, size: int, target: Missing) -> None:
    """Write the next bytes of an answer into a file that everybody may read and nobody write.

    It is there as a whole, or not at all.
    """
    folder, name = os.path.split(target.place)
    unfinished = f"{folder}/{UNFINISHED}{os.getpid()}-{name}"
    found = hashlib.sha256()
    try:
        try:
            with open(unfinished, "wb") as file:
                os.fchmod(file.fileno(), 0o444)
                while size:
                    piece = answer.read(min(size, _PIECE))
                    found.update(piece)
                    file.write(piece)
                    size -= len(piece)
            if found.hexdigest() != target.sha256:
                raise FetchError(f"the server has sent other bytes than {target.sha256}")
            os.replace(unfinished, target.place)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FetchError(f"cannot write into {folder}: {error.strerror}") from None
