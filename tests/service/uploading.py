"""Somebody who uploads by HTTP to a service that is killed meanwhile."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from harness.core.errors import ServerError
from harness.service.courses import making
from harness.service.people import accounts
from harness.service.records import DONE, STUDENT
from harness.service.storage import courses, queue, uploads
from harness.service.web.service import Service
from tests.service.running import LONG, Running

_PAUSE = 0.3  # seconds between two tries


class Uploader:
    """A student who uploads to an assignment of the own, which is like another one.

    What is not answered is sent again, with the same idempotency key.
    """

    line = 0.0  # seconds from one half of an upload to the other

    def __init__(self, service: Service, running: Running, like: str, data: bytes) -> None:
        self._service, self._running, self._data = service, running, data
        self.receipts: list[str] = []  # what was uploaded, by id
        self.broken = 0  # uploads that were sent more than once
        with service.database.acting() as act:
            known = courses.ASSIGNMENTS.find(act.db, id=like)
            assert known
            student = courses.MEMBERS.all(act.db, "key", course=known.course, role=STUDENT)[0]
            made = making.assign(act, known._replace(id=""))
            own = act._replace(by=student.person)
            self._token = accounts.make_token(own, "uploads", "submit")[1].text
        self.assignment = made.id
        self.path = f"/api/v1/courses/{made.course}/assignments/{made.id}/submissions?name=a1.tgz"

    # --- one upload

    def headers(self, key: str) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self._token}",
            "content-type": "application/octet-stream",
            "idempotency-key": key,
        }

    def send(self, key: str) -> httpx.Response:
        """Send the archive once, as by a slow line: one half, and after a while the other."""
        headers = {**self.headers(key), "content-length": str(len(self._data))}
        address = self._running.base + self.path
        return httpx.post(address, content=self._slowly(), headers=headers, timeout=60)

    def _slowly(self) -> Iterator[bytes]:
        half = len(self._data) // 2
        yield self._data[:half]
        time.sleep(self.line)
        yield self._data[half:]

    @contextlib.contextmanager
    def half_sent(self, key: str) -> Iterator[socket.socket]:
        """Give a connection by which one half of the archive was sent, which is being read."""
        address = urlsplit(self._running.base)
        told = {**self.headers(key), "host": address.netloc, "content-length": len(self._data),
                "expect": "100-continue"}  # fmt: skip
        lines = [f"POST {self.path} HTTP/1.1", *(f"{name}: {one}" for name, one in told.items())]
        head = "\r\n".join([*lines, "", ""]).encode()
        with socket.create_connection((address.hostname, address.port or 80), timeout=60) as sent:
            sent.sendall(head)
            assert b" 100 Continue" in sent.recv(1 << 10)
            sent.sendall(self._data[: len(self._data) // 2])
            yield sent

    def rest(self) -> bytes:
        """Return what :meth:`half_sent` did not send."""
        return self._data[len(self._data) // 2 :]

    def insist(self, key: str) -> str:
        """Send the archive until it is answered; return the id of the upload."""
        ends, tries = time.monotonic() + LONG, 0
        while time.monotonic() < ends:
            tries += 1
            with contextlib.suppress(httpx.TransportError):
                answer = self.send(key)
                assert answer.status_code in (201, 503), answer.text
                if answer.status_code == 201:
                    self.broken += tries > 1
                    return str(answer.json()["id"])
            time.sleep(_PAUSE)
        raise AssertionError("it was never answered")

    # --- many

    @contextlib.contextmanager
    def uploading(self, pause: float) -> Iterator[None]:
        """Upload again and again in a thread, each time after the last upload was checked.

        ``pause``: seconds between two uploads, at least, and between the halves of one.
        """
        self.line = pause
        ended, failed = threading.Event(), []

        def upload() -> None:
            try:
                while not ended.wait(pause):
                    if not self._is_all_checked():
                        continue
                    self.receipts.append(self.insist(f"upload-{len(self.receipts)}"))
            except Exception as error:  # noqa: BLE001 - it is raised where it is seen
                failed.append(error)

        thread = threading.Thread(target=upload)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
        if failed:
            raise failed[0]

    def _is_all_checked(self) -> bool:
        with contextlib.suppress(ServerError), self._service.database.reading() as db:
            found = queue.JOBS.all(db, assignment=self.assignment)
            return all(one.state == DONE for one in found)
        return False

    def uploads(self) -> list[str]:
        """Return the ids of all uploads, in the order in which they came; none: ask again."""
        with contextlib.suppress(ServerError), self._service.database.reading() as db:
            return [one.id for one in uploads.UPLOADS.all(db, "at", assignment=self.assignment)]
        return []
