"""Fetching of files by their SHA-256: one connection, one answer for those of a unit."""

import contextlib
import hashlib
import http.client
import os
import ssl
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from harness.cluster import tls
from harness.cluster.bytes_server import MOST_AT_ONCE, SIZES
from harness.errors import HarnessError
from harness.work.canonical_json import Sha256

LARGEST = 1 << 30  # bytes of one file
UNFINISHED = ".unfinished-"  # begins the names of files and folders that are not whole yet
_PATIENCE = 30.0  # seconds without a byte
_PIECE = 1 << 20
_LINE, _HEADERS, _DIGITS = 1 << 16, 100, 18  # of an answer: bytes, lines, and those of a number


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
        for first in range(0, len(files), MOST_AT_ONCE):
            some = files[first : first + MOST_AT_ONCE]
            with self._connection.ask(self._token, [one.sha256 for one in some]) as answer:
                told = map(_as_count, answer.headers.get(SIZES.lower(), "").split(","))
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
