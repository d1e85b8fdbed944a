"""The other end of ``serving``: asks for tests to be run in a copy."""

from __future__ import annotations

import json
import subprocess
from typing import IO

from tests.mutation.copying import Copy
from tests.mutation.serving import Answer, Request


class Server:
    """A process that runs tests in a copy."""

    def __init__(self, copy: Copy) -> None:
        self._process = subprocess.Popen(
            [copy.python, "-m", "tests.mutation.serving"],
            cwd=copy.folder,
            env=copy.variables(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._read()

    def run(self, request: Request) -> Answer:
        """Run tests, and return what came of it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request._asdict()) + "\n")
        self._process.stdin.flush()
        return Answer(**json.loads(self._read()))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        output: IO[str] = self._process.stdout
        if not (line := output.readline()):
            raise RuntimeError("tests.mutation.serving ended")
        return line
