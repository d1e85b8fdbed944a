"""Many workers in one process that do nothing: ``python -m tests.benchmarks.cluster_workers …``.

They come to a scheduler as others do, and bring back at once what a worker would: so what
scheduler and connector take for many workers is measured on one machine. Its
arguments are ADDRESS, the folder of certificates, and the number of workers.
"""

import asyncio
import contextlib
import sys
import tempfile
from pathlib import Path

from harness.cluster import cluster_processes, dask_messages, records, tls
from harness.cluster.dask_messages import GuardedWorker
from harness.cluster.records import Facts, WorkerReport
from harness.cluster.tls import TlsCredentials
from harness.work import canonical_json
from oracle import __version__

LEVEL = "3"
LINE = "x" * 700  # about the length of a report of an attempt
CASES = 8


def facts(number: int) -> Facts:
    """Return what a worker announces."""
    return Facts("", f"m{number}", __version__, ("3", "2", "1"), ("javac", "make"), ("0" * 64,))


async def work(address: str, folder: str, count: int) -> None:
    """Be so many workers until standard input ends."""
    security = TlsCredentials(Path(folder), tls.WORKER).security()
    async with contextlib.AsyncExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        for number in range(count):
            worker = GuardedWorker(
                address, name=f"m{number}:{number}", nthreads=1, security=security,
                resources=records.list_announced_resources(facts(number)), memory_limit=0,
                host="127.0.0.1", dashboard_address="127.0.0.1:0", local_directory=place,
            )  # fmt: skip
            await stack.enter_async_context(worker)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    cluster_processes.prepare()
    report = canonical_json.dumps(WorkerReport("m", (LINE,) * CASES))
    dask_messages.TASK_RUNNER[:] = [lambda *_: report]
    asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3])))
