"""The processes of a service beside the one that answers."""

import asyncio
import platform
import subprocess
import sys

import pytest
import uvicorn
from anyio import to_thread

from harness.service import app
from harness.service.storage.database import CONNECTIONS

THREADS = 6
COUNTS = f"""
import ctypes, threading
from harness.service import processes
processes.share_one_heap()
gate = threading.Barrier({THREADS})

def fill():
    gate.wait()
    kept = [bytes(2000) for _ in range(1000)]
    gate.wait()

threads = [threading.Thread(target=fill) for _ in range({THREADS})]
for one in threads:
    one.start()
for one in threads:
    one.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w")))
libc.fflush(None)
"""


@pytest.mark.processes
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has several heaps")
def test_threads_of_a_service_share_one_heap():
    ran = subprocess.run(
        [sys.executable, "-c", COUNTS], capture_output=True, text=True, check=True
    )
    assert ran.stdout.count("<heap nr=") == 1


def test_no_more_threads_answer_than_there_are_connections(monkeypatch):
    seen = []

    async def see(*_):
        seen.append(to_thread.current_default_thread_limiter().total_tokens)

    monkeypatch.setattr(uvicorn.Server, "startup", see)
    asyncio.run(app._WebServer(uvicorn.Config(None)).startup())
    assert seen == [CONNECTIONS]
