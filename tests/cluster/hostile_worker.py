"""A worker in hostile hands: whatever it sends is a pickle that writes a file where it is read.

``python hostile_worker.py SCHEDULER FOLDER WAY``; the file is named by the way, and by the process
that read it.
"""

import asyncio
import os
import pickle
import sys

from dask._task_spec import Task
from distributed import Worker, worker
from distributed.protocol.serialize import Serialize, ToPickle

from harness.cluster import records
from harness.cluster.records import Facts
from oracle import __version__

ADDRESS, FOLDER, WAY = sys.argv[1:]
HERE = os.getpid()


class Evil(Exception):
    """Is made by code of the sender."""

    def __reduce__(self):
        if os.getpid() != HERE:
            return Exception, ("harmless",)
        code = f"import os; open(os.path.join({FOLDER!r}, '{WAY}-%d' % os.getpid()), 'w').close()"
        return exec, (code,)


def raw_error(_error, status="error"):
    """Return an error as Dask does, which sends no pickle that it cannot read itself."""
    evil = Serialize(pickle.dumps(Evil()))
    texts = {"exception_text": "", "traceback_text": ""}
    return {"status": status, "exception": evil, "traceback": None, **texts}


def run(_text):
    if WAY == "exception":
        raise Evil
    return "anything"


class Hostile(Worker):
    async def execute(self, key, *, stimulus_id):
        """Do a task in Dask's own way, which wants something that can be called."""
        task = self.state.tasks[key]
        task.run_spec = Task(key, run, task.run_spec)
        return await super().execute(key, stimulus_id=stimulus_id)

    async def get_data(self, comm, keys, who=None, serializers=None):
        if WAY in ("message", "exception"):
            return await super().get_data(comm, keys, who=who, serializers=serializers)
        wrap = ToPickle if WAY == "scheduler" else Serialize
        data = {key: wrap(Evil()) for key in keys}
        await comm.write({"status": "OK", "data": data}, serializers=["pickle"])
        return await comm.read()


async def main():
    facts = Facts("", WAY, __version__, ("3",), (), ())
    worker.error_message = raw_error
    async with Hostile(
        ADDRESS,
        name=f"{WAY}:1-1",
        nthreads=1,
        resources=records.list_announced_resources(facts),
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as hostile:
        print("ready", flush=True)
        if WAY == "message":
            hostile.batched_send({"op": "log-event", "topic": "t", "msg": ToPickle(Evil())})
        await hostile.finished()


asyncio.run(main())
