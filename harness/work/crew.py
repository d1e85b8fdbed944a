"""Worker processes, seen from the one that hands units of work out.

Each is ``python -m harness.work --serve`` and takes one unit after the other. One that dies,
whenever that is, has cost the words that it had not said to their end, and nothing else.
"""

import contextlib
import os
import subprocess
import sys
from _signal import SIGKILL  # type: ignore[import-not-found]
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from harness.archives import reading
from harness.core.errors import UsageError
from harness.running import jobs
from harness.work import canonical_json, records
from harness.work.records import Claim, ClaimLonger, EngineHung, Granted, UnitFinished, WorkUnit

_PIECE = 1 << 16  # bytes read at once
_ROOM = Path(__file__).resolve().parents[2]
# Not "-m": the current folder may have another harness. No garbage is looked for while modules are
# loaded, nor later in what was loaded: it stays.
_TURN = (
    "import gc, sys; gc.disable(); sys.path.insert(0, sys.argv.pop(1)); from MODULE import main;"
    " gc.freeze(); gc.enable(); sys.exit(main(sys.argv[1:]))"
)

Ends = Generator[tuple[int, jobs.Fault | None], None, None]


def command(module: str, *options: str) -> list[str]:
    """Return what starts the ``main`` of a module of ours, with options."""
    turn = _TURN.replace("MODULE", module)
    return [sys.executable, "-P", "-c", turn, str(_ROOM), *options]


class Crew(jobs.WorkerPool):
    """Processes that do units of work. Their results are faults, None where all is well."""

    def __init__(  # noqa: PLR0913 - collaborators are injected by the grading
        self,
        units: Sequence[WorkUnit],
        workers: int,
        on_event: Callable[[int, records.AttemptEvent | records.ProgressEvent], None],
        on_time: Callable[[list[int]], None] = lambda _: None,
        *,
        store: Path,
        proven: str = "",
        shared: bool = False,
    ) -> None:
        """Do nothing yet.

        ``on_event``: told what comes of a unit, by its index. ``store``: a folder of files named
        by their SHA-256. ``proven``: the sandbox level of the units if it was just proven on this
        machine, so that no worker need do it again. ``shared``: whether several workers may do one
        unit while its engines sleep.
        """
        parts = (lambda unit: len(unit.cases)) if shared else None
        super().__init__(units, workers, on_event, on_time, parts=parts)  # type: ignore[arg-type]
        self.units = units
        options = ["--store", str(store)]
        options += ["--proven", proven] if proven else []
        options += ["--confined"] if reading.is_chosen() else []
        self._command = command("harness.work.unit_worker", "--serve", *options)
        self.hangs = [0] * len(units)

    def start_worker(self) -> "_CrewWorker":
        """Start a worker."""
        requests_out, requests_in = os.pipe()
        answers_out, answers_in = os.pipe()
        # Ctrl-C is for us: we end it. It stays in our session, so that it is not an engine's.
        process = subprocess.Popen(
            self._command, stdin=requests_out, stdout=answers_in, process_group=0
        )
        process.returncode = 0  # the pool waits for it
        os.close(requests_out)
        os.close(answers_in)
        return _CrewWorker(process.pid, requests_in, answers_out, self)


class _CrewWorker(jobs.WorkerHandle):
    """A worker."""

    def __init__(self, pid: int, requests: int, answers: int, crew: Crew) -> None:
        super().__init__(pid, requests, answers)
        self._crew = crew
        self._heard: list[bytes] = []  # pieces of a line; an engine can make it very long

    def hand_out(self, task: int) -> None:
        self._tell(self._crew.units[task])

    def grant(self, *, granted: bool, later: bool = False) -> None:
        assert self.task is not None
        self._tell(Granted(granted, self._crew.hangs[self.task], later))

    def _tell(self, record: WorkUnit | Granted) -> None:
        line = canonical_json.dumps(record).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):  # it has died, which is seen when it is heard
            while line:
                line = line[os.write(self.requests, line) :]

    def receive(self) -> list[tuple[int, object]] | None:
        piece = os.read(self.answers, _PIECE)
        if not piece:
            return None
        self._heard.append(piece)
        if b"\n" not in piece:
            return []
        *lines, rest = b"".join(self._heard).split(b"\n")
        self._heard = [rest]
        try:
            events = [records.parse(line)[0] for line in lines]
        except UsageError:
            os.kill(self.pid, SIGKILL)  # the PID no longer is our worker's
            return []
        assert self.task is not None
        messages: list[tuple[int, object]] = []  # as the pool takes them
        for event in events:
            match event:
                case EngineHung():
                    self._crew.hangs[self.task] += 1
                case Claim(case):
                    messages.append((jobs.CLAIM, case))
                case ClaimLonger():
                    messages.append((jobs.CLAIM, jobs.LONGER))
                case UnitFinished(later=True):
                    messages.append((jobs.LATER, None))
                case UnitFinished(fault, details):
                    messages.append((jobs.DONE, jobs.Fault(fault, details) if fault else None))
                case _:
                    messages.append((jobs.NOTE, event))
        return messages
