"""Students of a service for Locust, which bench_service.py starts: ``locust -f`` of this file.

The file that GTP_LOAD names says where the service is and who its students are.
"""

import contextlib
import itertools
import json
import os
import random
import re
import time
from pathlib import Path

from locust import HttpUser, constant, task
from locust.exception import StopUser

from tests.harness import small_class

PLAN = json.loads(Path(os.environ["GTP_LOAD"]).read_text())
BEGUN = time.monotonic()
ARRIVAL = 10.0  # seconds in which watchers come
SPREAD = 5  # watchers of a page: nobody may watch more than twenty at a time
_numbers = itertools.count()
_uploads = []  # pages of uploads, each with the session of who may see it


class Somebody(HttpUser):
    """Somebody with a session, whose cookies no jar keeps."""

    abstract = True
    host = PLAN["base"]
    wait_time = constant(0)

    def as_(self, student):
        return {"cookie": f"gtp_harness_session={student['session']}"}


class Student(Somebody):
    """Submits at some moment, once; each twentieth three times, one after the other."""

    fixed_count = len(PLAN["students"])

    def on_start(self):
        self.number = next(_numbers)
        self.me = PLAN["students"][self.number]
        time.sleep(max(random.Random(self.number).uniform(0, PLAN["seconds"]) + BEGUN
                       - time.monotonic(), 0))  # fmt: skip

    @task
    def submit(self):
        self.client.get("/", headers=self.as_(self.me), name="courses")
        for again in range(3 if self.number % 20 == 0 else 1):
            self.client.get(PLAN["assignment"], headers=self.as_(self.me), name="assignment")
            body = f"{self.me['body']}  # {self.number} {again}"
            answer = self.client.post(
                f"{PLAN['assignment']}/uploads",
                data={"form_token": self.me["form_token"]},
                files={"file": ("a1.tgz", small_class.submission(body))},
                headers=self.as_(self.me),
                name="submit",
                allow_redirects=False,
            )
            page = answer.headers.get("location", "")
            if answer.status_code == 303:
                _uploads.append((page, self.me))
                self.client.get(page, headers=self.as_(self.me), name="upload")
        raise StopUser


class Watcher(Somebody):
    """Has the page of an upload open, which tells live what is judged, and loads it anew."""

    fixed_count = PLAN["watchers"]

    def on_start(self):
        """Come at some moment of the first seconds: fifty people do not press a key at once."""
        while SPREAD * len(_uploads) < PLAN["watchers"]:
            time.sleep(0.5)
        time.sleep(random.uniform(0, ARRIVAL))

    @task
    def watch(self):
        page, student = random.choice(_uploads[-2 * PLAN["watchers"] :])
        found = self.client.get(page, headers=self.as_(student), name="upload, watched")
        if re.search("live.js", found.text):
            self.listen(page, student)
        time.sleep(random.uniform(1, 5))

    def listen(self, page, student):
        """Take what is told for some seconds."""
        ends = time.monotonic() + 10
        told = self.client.get(
            f"{page}/events", headers=self.as_(student), name="events", stream=True
        )
        with contextlib.closing(told):
            for _ in told.iter_lines():
                if time.monotonic() > ends:
                    return
