"""``gtp-harness submit`` and ``runs``, which ask a service, and their token."""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.archives.archive import files_in, pack_alike
from harness.cli.commandline import Command, add_shared
from harness.client import Client, ServicePlace, place_of, suite_of
from harness.core import requirements
from harness.core.errors import ExitCode, ServerError, UsageError
from harness.core.text import escape_controls, number_of
from harness.history.history_file import program_digest
from harness.report import json

TOKEN = "GTP_HARNESS_TOKEN"  # the variable of the environment


def read_token(arguments: argparse.Namespace) -> str:
    """Return the API token; raises UsageError if there is none, or its file cannot be read."""
    text = os.environ.get(TOKEN, "")
    if arguments.token_file:
        try:
            text = Path(arguments.token_file).read_text(encoding="ascii")
        except OSError as error:
            raise UsageError(f"cannot read {arguments.token_file}: {error.strerror}") from None
        except UnicodeError:
            raise UsageError(f"{arguments.token_file} has no token in it") from None
    if not text.strip().isascii() or not text.strip().isprintable() or not text.strip():
        raise UsageError(
            f"found no API token: make one on the page API tokens of the service, and put it"
            f" into the variable {TOKEN} or a --token-file"
        )
    return text.strip()


@contextmanager
def telling_received(noun: str) -> Iterator[None]:
    """Say of what goes wrong here that ``noun`` was received: nobody need send it once more."""
    try:
        yield
    except (ServerError, UsageError) as error:
        raise type(error)(f"the {noun} was received, but not its results: {error}") from None


# --- ``gtp-harness submit``: submit an archive to a service, and wait for its public tests -------


_SUBMIT_PAGE = """\
usage: gtp-harness submit ADDRESS FILE [OPTION…]

Submit an archive to an assignment of a service (gtp-harness serve). ADDRESS is the
address of the assignment's page. The receipt is printed when the archive is stored;
the results of the public tests follow when they have run. The API token needs the
scope all; with --no-wait the scope submit is enough.

[options]

Exit status:
    0  submitted, and all public tests passed
    1  submitted; something is wrong with the archive, or a public test failed
    2  refused, or the input was bad
    3  the service cannot be reached, or failed

Examples:
  gtp-harness submit https://tests.example.org/courses/12ab/assignments/34cd a1.tgz
  gtp-harness submit --no-wait --token-file token.txt ADDRESS a1.tgz"""


def _run_submit(arguments: argparse.Namespace) -> int:
    if not arguments.address or not arguments.file:
        SUBMIT.refuse("give ADDRESS and FILE")
    requirements.require("submit", "client", "httpx")
    place = place_of(arguments.address)
    with Client(place.base, read_token(arguments), allow_http=arguments.allow_http) as client:
        return submit(client, place, arguments)


def submit(client: Client, place: ServicePlace, arguments: argparse.Namespace) -> int:
    """Submit, print what is to be known, and return the exit status."""
    found = client.submit(place, Path(arguments.file))
    print(escape_controls(f"Received: {found['name']}, {found['size']:,} bytes"))
    if found.get("late"):  # a service of an earlier version says nothing
        print(escape_controls(f"Late: {found['late']}"))
    print(escape_controls(f"SHA-256: {found['sha256']}\nPage: {found['page']}"), flush=True)
    if arguments.no_wait:
        return ExitCode.OK
    with telling_received("archive"):
        *_, found = client.watch(place, found["id"])
    if found["state"] == "withdrawn":
        print("It was withdrawn.")
        return ExitCode.BROKEN
    check: dict[str, Any] | None = found["check"]
    if found["state"] == "fault" or check is None:
        print("It was received, but the service failed to check it: ask your teacher.")
        print(escape_controls(found["place"]))
        return ExitCode.FAULT
    for fault in filter(None, [check["refused"], *check["faults"]]):
        print(escape_controls(f"The archive: {fault}"))
    if check["builds"] is False:
        print("It does not build.")
    for one in check["cases"]:
        passed = f"{one['passed']} of {one['tests']} tests passed" if one["tests"] else ""
        print(escape_controls(f"{one['case']}: {passed or one['result']}"))
    print(escape_controls(found["place"]))
    results = {one["result"] for one in check["cases"]}
    if check["refused"] or check["faults"] or check["builds"] is False or "failed" in results:
        return ExitCode.FAILED
    return ExitCode.FAULT if "harness error" in results else ExitCode.OK


def _add_submit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", nargs="?", metavar="ADDRESS", help=argparse.SUPPRESS)
    parser.add_argument("file", nargs="?", metavar="FILE", help=argparse.SUPPRESS)
    add = parser.add_argument
    add_shared(add, "--token-file", "--allow-http")
    add("--no-wait", action="store_true", help="end as soon as the archive is received")


SUBMIT = Command("submit", _SUBMIT_PAGE, _add_submit_options, _run_submit)


# --- ``gtp-harness runs``: post runs of an engine to a suite of a service, list and compare them -


_RUNS_PAGE = """\
usage: gtp-harness runs push ADDRESS FILE [OPTION…]
       gtp-harness runs cases ADDRESS FILE --command TEXT [OPTION…]
       gtp-harness runs list ADDRESS [OPTION…]
       gtp-harness runs compare ADDRESS NOW [FORMER] [OPTION…]

Keep the runs of an engine on a service (gtp-harness serve). ADDRESS is the address of
a suite's page.

push posts FILE, which gtp-harness run --json wrote, and shows what differs from the
run before. FILE may also be an archive of an engine, if the suite takes engines: the
service runs it, and push waits for the end. cases sends case files of your own, a folder
or an archive: the suite takes engines from then on, and runs them with --command. list
shows the runs of a suite. compare shows what differs between run number NOW and the run
before, or run number FORMER.

The API token needs the scope submit to push a run or send case files, all to push an
engine, and read for the other actions.

[options]

Exit status:
    0  posted, and nothing is worse than before; listed; compared, and nothing is worse
    1  a test broke that passed before, or a new test failed
    2  refused, or the input was bad
    3  the service cannot be reached, or failed

Examples:
  gtp-harness run --json run.json ./engine cases/
  gtp-harness runs push https://tests.example.org/suites/12ab run.json
  gtp-harness runs cases https://tests.example.org/suites/12ab cases/ \\
      --command "{folder}/engine --gtp" --build make
  gtp-harness runs compare https://tests.example.org/suites/12ab 41 12"""

# Where systems of continuous integration tell the commit.
_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA")
_KINDS = ("broke", "mended", "new", "gone")
_SENTENCES = {
    "broken_files": "new engine failures",
    "new_errors": "new errors in case files",
    "faults": "the harness failed",
}


def _run_runs(arguments: argparse.Namespace) -> int:
    if arguments.action not in _ACTIONS or not arguments.address:
        RUNS.refuse(
            "expected push ADDRESS FILE, cases ADDRESS FILE, list ADDRESS or compare ADDRESS NOW"
            " [FORMER]"
        )
    action, counts = _ACTIONS[arguments.action]
    if len(arguments.words) not in counts:
        RUNS.refuse(f"{arguments.action}: found {len(arguments.words)} words after ADDRESS")
    if arguments.revision and arguments.action != "push":
        RUNS.refuse("--revision goes with push")
    if bool(arguments.command) != (arguments.action == "cases") or (
        arguments.build and not arguments.command
    ):
        RUNS.refuse("cases needs --command; --command and --build go with cases")
    requirements.require("runs", "client", "httpx")
    suite = suite_of(arguments.address)
    with Client(suite.base, read_token(arguments), allow_http=arguments.allow_http) as client:
        return action(client, suite, arguments)


def push(client: Client, suite: ServicePlace, arguments: argparse.Namespace) -> int:
    """Post a run, or an engine to be run there; print what differs from the run before.

    Returns the exit status.
    """
    file = Path(arguments.words[0])
    commit = next(filter(None, (os.environ.get(name, "") for name in _COMMITS)), "")
    try:
        with file.open("rb") as opened:
            is_document = json.begins_document(opened.read(100))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    if not is_document:  # an archive, then
        sent = client.post_engine(suite, file, arguments.revision or commit)
        print(escape_controls(f"SHA-256: {sent['sha256']}\nPage: {sent['page']}"), flush=True)
        with telling_received("engine"):
            *_, found = client.watch(suite, sent["id"])
        if found["state"] == "fault":
            print("The service failed to run it.")
            return ExitCode.FAULT
        if found["state"] == "failed":
            print(escape_controls(found["trouble"]))
            return ExitCode.FAILED
        print(escape_controls(_line(found)))
    else:
        # What tells this build of the engine: the commit, or a digest of the program.
        build = arguments.revision or commit
        build = build or program_digest(str(json.load(str(file)).get("program", "")))
        found = client.post_run(suite, file, build)
        print(escape_controls(f"{_line(found)}\nPage: {found['page']}"))
    return _tell_comparison(found["comparison"]) if found["comparison"] else ExitCode.OK


def send_cases(client: Client, suite: ServicePlace, arguments: argparse.Namespace) -> int:
    """Send the case files of a suite, and return the exit status."""
    archive = Path(arguments.words[0])
    with tempfile.TemporaryDirectory(prefix="gtp-harness-") as room:
        if archive.is_dir():
            folder, archive = archive, Path(room, "cases.tar")
            pack_alike(archive, folder, {name: name for name in files_in(folder)[0]})
        found = client.send_cases(suite, archive, arguments.command, arguments.build)
    print(escape_controls(f"{found['title']} runs engines with these case files."))
    print(f"Page: {found['page']}")
    return ExitCode.OK


def list_runs(client: Client, suite: ServicePlace, _arguments: argparse.Namespace) -> int:
    """Print the runs of a suite, the first one first; return the exit status."""
    for one in client.items(suite.path):
        print(escape_controls(_line(one)))
    return ExitCode.OK


def compare(client: Client, suite: ServicePlace, arguments: argparse.Namespace) -> int:
    """Print what differs between two runs, by their numbers; return the exit status."""
    known = {str(one["number"]): one["id"] for one in client.items(suite.path)}
    for word in arguments.words:
        if word not in known:
            raise UsageError(f"unknown run {word}; gtp-harness runs list shows the numbers")
    return _tell_comparison(client.compare(suite, *(known[word] for word in arguments.words)))


def _line(run: dict[str, Any]) -> str:
    counts = f"{run['passed']} of {run['tests']} passed, {run['failed']} FAILED"
    parts = [f"run {run['number']}", run["started"], run["engine"], run["revision"][:12], counts]
    if run["undecided"]:
        parts.append(f"{run['undecided']} not run or not judged")
    if run["broken"]:
        parts.append(f"the engine failed in {number_of(run['broken'], 'file')}")
    return "  ".join(filter(None, parts))


def _tell_comparison(comparison: dict[str, Any]) -> int:
    """Print how a run differs from a former one; return the exit status."""
    print(f"Compared with run {comparison['former']}:")
    sections = {
        name: [
            f"{one['path']}:{one['line']}  {one['command']}  "
            + " → ".join(filter(None, (one["before"], one["now"])))
            for one in comparison[name]
        ]
        for name in _KINDS
    }
    sections |= {heading: comparison[name] for name, heading in _SENTENCES.items()}
    for heading, lines in sections.items():
        if lines:
            print(f"  {heading} ({len(lines)})")
            print("".join(escape_controls(f"    {line}") + "\n" for line in lines), end="")
    if not any(sections.values()):
        print("  all verdicts are the same")
    return ExitCode.FAILED if comparison["is_worse"] else ExitCode.OK


# With the numbers of words that may follow ADDRESS.
_ACTIONS: dict[str, tuple[Callable[[Client, ServicePlace, argparse.Namespace], int], range]] = {
    "push": (push, range(1, 2)),
    "cases": (send_cases, range(1, 2)),
    "list": (list_runs, range(1)),
    "compare": (compare, range(1, 3)),
}


def _add_runs_options(parser: argparse.ArgumentParser) -> None:
    hidden = argparse.SUPPRESS
    parser.add_argument("action", nargs="?", choices=tuple(_ACTIONS), help=hidden)
    parser.add_argument("address", nargs="?", metavar="ADDRESS", help=hidden)
    parser.add_argument("words", nargs="*", metavar="FILE", help=hidden)
    add = parser.add_argument
    add_shared(add, "--token-file", "--allow-http")
    add("--revision", default="", metavar="TEXT",
        help="name of this build of the engine (default: the commit, in"
        f" {' or '.join(_COMMITS)}, else a digest of the program)")  # fmt: skip
    add("--command", default="", metavar="TEXT",
        help="with cases: command that starts an engine; {folder} is its folder")  # fmt: skip
    add("--build", default="", metavar="TEXT",
        help="with cases: command that builds an engine first, in its folder")  # fmt: skip


RUNS = Command("runs", _RUNS_PAGE, _add_runs_options, _run_runs)
