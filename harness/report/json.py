"""A run as JSON, for other programs and for ``--baseline``.

The document is an object with these members (version 1; members may be added, and then the
version stays; whatever else changes makes it 2)::

    schema    "gtp-harness/run", and version: 1
    program, started (ISO 8601, UTC), host, options (as given)
    tally     {tests, failed, expected_fails, unexpected_passes, passed, errors, seconds,
               cpu_seconds, not_run, ignored, flaky, not_judged}; errors are refused setup commands
    errors    what is wrong with case files, one sentence each
    faults    failures of the harness itself, one sentence each
    unfinished  case files not run, or not to their end, because of a Ctrl-C
    diagnoses what explains failures, as far as known: objects with sets (of mistakes {name,
              sentence}; each set explains the same by itself), failures (how many they explain),
              total (how many there are) and text, for a reader
    files     in the order they were named:
      path, engine {name, version}, tally, warnings, stderr
      failure   null, or {kind, message, line, command, not_run, restarted}: how the engine failed
                the first time; kind is one of
                "not started", "died", "timeout", "too much output", "protocol", "setup" or a limit
                of the sandbox: "processor time", "memory", "processes", "disk"; not_run is how
                many tests had no answer for it, and restarted the line from which the engine,
                started again, went on, or null; where a limit was hit, there is limit {name, used
                (null in a grading), allowed, unit}
      failures  all of them, in the order of the file
      tests     in the order of the file:
        id        -1 for none
        line      1-based, in the case file
        command   without the id
        expected  the pattern between the brackets, or null for any answer but an error
        verdict   "passed", "PASSED", "failed", "FAILED", "not run", "not judged" or
                  "ignored"
        flaky     whether another run of --rerun gave another verdict
        reply     the engine's text, or null when there was none
        ok        whether the reply began with =
        seconds   until the reply came
        text      a digest of all commands up to the test and of its expectation: it is the same
                  until one of these is another
        and where the verdict is "FAILED", if they are known:
        comment   above its setup, and its own
        because   why the right answer is right, as the oracle says
        loaded    the file that its setup loads, from where the run was started
        again     a command line, for a shell, that repeats just this test
"""

import codecs
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import starmap

from harness.core.errors import UsageError
from harness.core.records import CaseFile, Diagnosis, FileResult, Outcome, RunResult, Step, Verdict
from harness.core.text import encode_without_surrogates
from harness.report import report_files
from harness.report.file_view import FileView, breaks
from harness.report.reporters import Context, Contexts, Finished, of_run
from harness.report.tally import Tally, total

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


SCHEMA, VERSION = "gtp-harness/run", 1
_quoted: Callable[[str], str] = json.encoder.encode_basestring


def report(path: str, finished: Finished) -> None:
    """Write a run as JSON; see :class:`~harness.report.reporters.Reporter`."""
    report_files.write(
        path, parts(finished.result, finished.tallies, finished.views), encode_without_surrogates
    )


def parts(
    run: RunResult, tallies: Sequence[Tally], views: Sequence[FileView] = ()
) -> Iterator[str]:
    """Yield the document, a line for each test, so that two of them can be compared.

    ``views``: of the files, for more details of failed tests; without them those are left out.

    To be written with :func:`encode_without_surrogates`: half a surrogate pair is not text.
    """
    head = {
        "schema": SCHEMA,
        "version": VERSION,
        "program": run.program,
        "started": run.started,
        "host": run.host,
        "options": run.options,
        "tally": _tally(total(tallies)),
        "errors": run.errors,
        "faults": run.faults,
        "unfinished": run.unfinished,
        "diagnoses": [*map(_diagnosis, run.diagnoses)],
    }
    texts = ([*digests(file.case.steps)] for file in run.files)
    files = zip(run.files, tallies, of_run(run, views), texts, strict=True)
    yield from with_list(head, "files", starmap(file_parts, files))
    yield "\n"


def _diagnosis(diagnosis: Diagnosis) -> dict[str, object]:
    sets = [
        [{"name": one.name, "sentence": one.sentence} for one in mistakes]
        for mistakes in diagnosis.sets
    ]
    return {**diagnosis._asdict(), "sets": sets, "text": str(diagnosis)}


def open_object(members: Mapping[str, object]) -> str:
    """Return an object without its closing brace, a line for each member."""
    written = {
        name: json.dumps(value, ensure_ascii=False, default=str) for name, value in members.items()
    }
    return "{" + ",\n".join(f'"{name}": {value}' for name, value in written.items())


def with_list(
    members: Mapping[str, object], name: str, items: Iterable[Iterable[str]]
) -> Iterator[str]:
    """Yield an object whose last member is a list, which may be long; a line for each member.

    ``items``: the items of the list, each as pieces of JSON.
    """
    yield f'{open_object(members)},\n"{name}": ['
    between = "\n"
    for item in items:
        yield between
        yield from item
        between = ",\n"
    yield "\n]}"


def _tally(counts: Tally) -> dict[str, object]:
    return {
        name: round(value, 6) if isinstance(value, float) else value
        for name, value in counts._asdict().items()
    }


def file_parts(
    file: FileResult,
    counts: Tally,
    context: Contexts = lambda _: Context(),
    texts: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the object about one file; ``context`` tells what surrounds a failed test.

    ``texts``: a digest for each step (see :mod:`harness.report.json`); if empty, they
    are left out.
    """
    failures = [
        {
            "kind": failure.kind.value,
            "message": failure.message,
            "line": step.line if step else None,
            "command": step.text if step else None,
            "not_run": not_run,
            "restarted": goes_on.line if goes_on else None,
        }
        | ({"limit": failure.limit._asdict()} if failure.limit else {})
        for failure, step, not_run, goes_on in breaks(file)
    ]
    head = {
        "path": file.case.path,
        "engine": {"name": file.name, "version": file.version},
        "tally": _tally(counts),
        "warnings": file.warnings,
        "stderr": file.stderr,
        "failure": failures[0] if failures else None,
        "failures": failures,
    }
    tests = _tests(file.case, file.outcomes, context, texts)
    yield from with_list(head, "tests", ([test] for test in tests))


def _tests(
    case: CaseFile, outcomes: Sequence[Outcome], context: Contexts, texts: Sequence[str]
) -> Iterator[str]:
    """Yield an object for each test; written out by hand, for there may be 100,000."""
    passed = Verdict.PASSED.value  # an enumeration takes its time to tell
    for index, verdict, reply, flaky in outcomes:
        step = case.steps[index]
        expected = _quoted(step.pattern.text) if step.pattern else "null"
        got = '"reply": null, "ok": null, "seconds": null'
        if reply:
            ok = "true" if reply.ok else "false"
            got = f'"reply": {_quoted(reply.text)}, "ok": {ok}, "seconds": {reply.seconds:.6f}'
        word = passed if verdict is Verdict.PASSED else verdict.value
        if texts:
            got += f', "text": "{texts[index]}"'
        if verdict is Verdict.FAILED:
            known = context(index).known.items()
            got += "".join(f', "{name}": {_quoted(text)}' for name, text in known)
        yield (
            f'{{"id": {step.id}, "line": {step.line}, "command": {_quoted(step.command)}, '
            f'"expected": {expected}, "verdict": "{word}", '
            f'"flaky": {"true" if flaky else "false"}, {got}}}'
        )


def begins_document(data: bytes) -> bool:
    """Whether bytes begin an object of JSON, as documents are, and not an archive.

    Some editors and shells write a byte order mark before it.
    """
    return data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


def load(path: str) -> "dict[str, Any]":
    """Read a document back.

    Raises :class:`UsageError` when the file cannot be read or is not a run of this version.
    """
    try:
        with open(path, "rb") as file:
            document = json.loads(file.read())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UsageError(f'{path} was not written by --json: expected "schema": "{SCHEMA}"')
    if document.get("version") != VERSION:
        found = document.get("version")
        raise UsageError(f"{path} has version {found} of its format, expected {VERSION}")
    return document


# --- The fingerprint of a test: a digest of all that its result depends on -----------------------


def digests(steps: Sequence[Step]) -> Iterator[str]:
    """Yield for each test a digest of all commands up to it, and of its expectation.

    For a step that is not a test it is empty.
    """
    sent = hashlib.blake2b(digest_size=8)
    for step in steps:
        sent.update(f"{step.command}\n".encode("utf-8", "surrogateescape"))
        if not step.is_test:
            yield ""
            continue
        own = sent.copy()
        own.update(repr(step.pattern).encode("utf-8", "surrogateescape"))
        yield own.hexdigest()
