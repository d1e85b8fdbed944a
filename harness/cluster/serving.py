"""Bytes by their SHA-256 over HTTP, for anyone who has a token that names them.

A token is made for one try of one unit, and taken back when that has ended, however it did. It
opens what the unit names and nothing else. With TLS, only a worker's certificate is answered.
"""

from __future__ import annotations

import re
import secrets
import ssl
import threading
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness.cluster import roles
from harness.cluster.records import Lying

_PATIENCE = 30.0  # seconds of a connection on which nothing is said
_PIECE = 1 << 20  # bytes sent at once
_PATH = re.compile(r"/([A-Za-z0-9_-]{20,60})/(begin|[0-9a-f]{64})")


class Tokens:
    """What each token opens. Threads share it."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, str]] = {}
        self._begun: set[str] = set()
        self._lock = threading.Lock()

    def make(self, files: Iterable[Lying]) -> str:
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

    def begin(self, token: str) -> bool:
        """Take note that a worker begins; False: the token is not good."""
        with self._lock:
            if token in self._files:
                self._begun.add(token)
            return token in self._files

    def path(self, token: str, sha256: str) -> str:
        """Return where bytes lie; empty: this token does not open them."""
        with self._lock:
            return self._files.get(token, {}).get(sha256, "")


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
        """Answer nobody any more."""
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
            if roles.role(request.getpeercert()) != roles.WORKER:
                request.close()
                return
        super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that breaks is the worker's to tell."""


class _Handler(BaseHTTPRequestHandler):
    tokens: Tokens
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with bytes, or take note of a beginning."""
        found = _PATH.fullmatch(self.path)
        token, wanted = found.groups() if found else ("", "")
        if wanted == "begin" and self.tokens.begin(token):
            self._answer(HTTPStatus.NO_CONTENT, 0)
        elif path := self.tokens.path(token, wanted):
            self._send(Path(path))
        else:
            self._answer(HTTPStatus.FORBIDDEN, 0)

    def _send(self, path: Path) -> None:
        try:
            file = path.open("rb")
        except OSError:
            self._answer(HTTPStatus.NOT_FOUND, 0)
            return
        with file:
            self._answer(HTTPStatus.OK, path.stat().st_size)
            while piece := file.read(_PIECE):
                self.wfile.write(piece)

    def _answer(self, status: HTTPStatus, size: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(size))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing: a token is in the path."""
