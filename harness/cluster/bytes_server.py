"""Bytes by their SHA-256 over HTTP, for anyone who has a token that names them.

A token is made for one try of one unit, and taken back when that has ended, however it did. It
opens what the unit names and nothing else. With TLS, only a worker's certificate is answered.
"""

import contextlib
import os
import re
import secrets
import ssl
import threading
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import FileIO
from typing import Any

from harness.cluster import tls
from harness.cluster.records import ServedFile

_PATIENCE = 30.0  # seconds of a connection on which nothing is said
_PIECE = 1 << 20  # bytes sent at once
MOST_AT_ONCE = 100  # files in a request
SIZES = "File-Sizes"  # a header: bytes of each file, in the order in which they were asked for
_PATH = re.compile(r"/([A-Za-z0-9_-]{20,60})/([0-9a-f]{64}(?:,[0-9a-f]{64})*)")
_REQUEST = re.compile(rb"GET ([!-~]+) HTTP/1\.1\r?\n")
_HEADERS, _HEADER = 100, 1 << 16  # headers of a request, and bytes of each


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
        self.address = f"{scheme}://{host}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, place: tuple[str, int], handler: Any, tls: ssl.SSLContext | None) -> None:
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
        lines = (self.rfile.readline(_HEADER) for _ in range(_HEADERS))
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
            f"{SIZES}: {','.join(map(str, sizes))}",
            f"Content-Length: {sum(sizes)}",
        )
        self.wfile.write(("\r\n".join(told) + "\r\n\r\n").encode())

    def log_message(self, *_: object) -> None:
        """Say nothing: a token is in the path."""
