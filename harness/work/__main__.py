"""``python -m harness.work [FILE]``: does a unit of work, and says what comes as lines of JSON.

Exit status: 0 if all case files were judged, 2 if the unit is wrong, 3 if the harness failed, 130
after Ctrl-C, 141 if nobody reads what it says.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import closing
from pathlib import Path

from harness import signals
from harness.errors import ExitCode, HarnessError, UsageError
from harness.work import records, unit_worker, worker_events
from harness.work.machine import die_with_parent
from harness.work.records import WorkUnit
from harness.work.unit_worker import FileFinder
from harness.work.worker_events import HarnessFailed, WorkerEvent


def main(arguments: list[str]) -> int:
    """Do what the command line says; return the exit status."""
    options = _options().parse_args(arguments)
    try:
        if options.schema:
            print(
                json.dumps(
                    {"unit": records.schema(WorkUnit), "word": worker_events.schema()},
                    indent=1,
                )
            )
            return ExitCode.OK
        return _serve(options) if options.serve else _do(options)
    except UsageError as error:
        return _complain(str(error), ExitCode.BROKEN)
    except HarnessError as error:
        return _complain(str(error), ExitCode.FAULT)
    except KeyboardInterrupt:
        return _complain("interrupted", signals.exit_status())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.NO_READER


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m harness.work",
        description="Do a unit of work, and say what comes as lines of JSON.",
    )
    add = parser.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="the unit (default: standard input)")
    add("--store", action="append", default=[], metavar="FOLDER", type=Path,
        help="a folder of files named by their SHA-256; may be repeated")  # fmt: skip
    add("--proven", default="", metavar="LEVEL",
        help="a sandbox level that was just proven here: it is not proven again")  # fmt: skip
    add("--confined", action="store_true",
        help="let confined children read archives")  # fmt: skip
    add("--room", default=None, metavar="FOLDER",
        help="where files are laid out (default: the folder of temporary files)")  # fmt: skip
    add("--serve", action="store_true",
        help="do units that come as lines, ask before each case file")  # fmt: skip
    add("--unshared", action="store_true",
        help="with --serve: ask for nothing, and tell of no progress")  # fmt: skip
    add("--schema", action="store_true", help="print the JSON Schema of units and words")
    return parser


def _do(arguments: argparse.Namespace) -> int:
    """Do one unit."""
    unit = unit_worker.read(
        _content(arguments.file), arguments.file if arguments.file != "-" else "unit"
    )
    broke = False

    def say(event: WorkerEvent) -> None:
        nonlocal broke
        broke = broke or isinstance(event, HarnessFailed)
        sys.stdout.buffer.write(worker_events.line(event))
        sys.stdout.buffer.flush()

    with signals.ending_on_signals(), closing(_worker(arguments)) as worker:
        ended = worker.do(unit, say)
    return ExitCode.FAULT if broke or ended.fault else ExitCode.OK


def _serve(arguments: argparse.Namespace) -> int:
    """Do what the process that started us hands out; Ctrl-C is for that one."""
    signals.end_on_sigterm()
    signals.leave_sigint_to_the_parent()
    die_with_parent(os.getppid())
    try:
        worker, shared = _worker(arguments), not arguments.unshared
        unit_worker.serve(sys.stdin.buffer, sys.stdout.buffer, worker, shared=shared)
    except KeyboardInterrupt:  # by SIGTERM, from who knows of it
        return signals.exit_status()
    return ExitCode.OK


def _worker(arguments: argparse.Namespace) -> unit_worker.UnitWorker:
    if arguments.confined:
        from harness.archives import confined_reading

        confined_reading.confine()
    return unit_worker.UnitWorker(FileFinder(arguments.store), arguments.proven, arguments.room)


def _content(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def _complain(message: str, status: int) -> int:
    print(f"harness.work: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
