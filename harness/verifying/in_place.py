"""The findings of verifying, in formats that code hosts and editors show in place.

Sources: "Workflow commands for GitHub Actions"; OASIS, Static Analysis Results Interchange Format
(SARIF) 2.1.0; Language Server Protocol 3.17, ``textDocument/publishDiagnostics``.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from harness.errors import CaseError, HarnessError
from harness.records import CaseFile
from harness.text import escape_controls
from harness.verifying.expectation_judge import CaseFinding, FindingKind
from oracle import __version__

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_TOOL = "gtp-harness verify"
_RULES = {
    FindingKind.WRONG: "The right answer is refused, in every form.",
    FindingKind.LOOSE: "A wrong answer is accepted.",
    FindingKind.TIGHT: "A form of the right answer is refused.",
    FindingKind.OPEN: "The assignment leaves the answer open, and the test does not.",
    FindingKind.UNREACHABLE: "A command of the setup is refused, or the test is never reached.",
    FindingKind.QUESTION: "The reference stands alone against programs that agree with the test.",
    FindingKind.DUPLICATE: "An earlier test asks the same.",
}
_UNREADABLE = "unreadable"
_LEVELS = dict.fromkeys(FindingKind, "warning") | {
    FindingKind.WRONG: "error",
    FindingKind.UNREACHABLE: "error",
}
_SEVERITIES = {"error": 1, "warning": 2}  # of the Language Server Protocol


class VerifiedText(NamedTuple):
    """Results to be written in a format."""

    cases: Sequence[CaseFile]
    findings: Sequence[CaseFinding]  # those that are to be shown
    errors: Sequence[HarnessError]  # a CaseError for each file that could not be read
    folder: Path  # absolute; names are relative to it


class _Entry(NamedTuple):
    """A finding, or what is wrong with a file that could not be read."""

    path: str | None  # None if no single file is to blame
    line: int
    kind: str
    level: str
    message: str


def _entries(checked: VerifiedText) -> Iterator[_Entry]:
    for one in checked.findings:
        yield _Entry(one.path, one.line, one.kind.value, _LEVELS[one.kind], _message(one))
    for error in checked.errors:
        if isinstance(error, CaseError):
            path, line, text = error.file, error.line or 1, error.message
            yield _Entry(path, line, _UNREADABLE, "error", escape_controls(text))
        else:
            yield _Entry(None, 0, _UNREADABLE, "error", escape_controls(str(error)))


def github(checked: VerifiedText) -> Iterator[str]:
    """Yield a workflow command of GitHub Actions for each finding and each error."""
    for one in _entries(checked):
        members = {"title": _TOOL if one.kind == _UNREADABLE else f"{_TOOL}: {one.kind}"}
        if one.path is not None:
            file = _relative(one.path, checked.folder)
            members = {"file": file, "line": str(one.line)} | members
        listed = ",".join(f"{name}={_escape(text, ':,')}" for name, text in members.items())
        yield f"::{one.level} {listed}::{_escape(one.message)}"


def _escape(text: str, more: str = "") -> str:
    for char in f"%\r\n{more}":
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def lsp_lines(checked: VerifiedText) -> Iterator[str]:
    """Yield for each case file the parameters of ``publishDiagnostics``, one line of JSON.

    A file without findings has an empty list, which clears what an editor showed before. A file
    that could not be read has one diagnostic: why.
    """
    entries = list(_entries(checked))
    findings = [one for one in entries if one.kind != _UNREADABLE]
    shown: list[tuple[str, CaseFile | None, list[_Entry]]] = [
        (case.path, case, [one for one in findings if one.path == case.path])
        for case in checked.cases
    ]
    errors = [one for one in entries if one.kind == _UNREADABLE]
    shown += [(one.path, None, [one]) for one in errors if one.path is not None]
    for path, case, found in shown:
        uri = Path(os.path.normpath(checked.folder / path)).as_uri()
        told = {"uri": uri, "diagnostics": [_diagnostic(one, case) for one in found]}
        yield json.dumps(told, ensure_ascii=False)


def _diagnostic(one: _Entry, case: CaseFile | None) -> dict[str, object]:
    line = one.line - 1
    end = {"line": line + 1, "character": 0}
    if case:
        length = len(case.lines[line].encode("utf-16-le", "surrogatepass")) // 2
        end = {"line": line, "character": length}
    return {
        "range": {"start": {"line": line, "character": 0}, "end": end},
        "severity": _SEVERITIES[one.level],
        "code": one.kind,
        "source": _TOOL,
        "message": one.message,
    }


def sarif(checked: VerifiedText) -> Iterator[str]:
    """Yield the lines of a SARIF log."""
    rules = [(kind.value, text, _LEVELS[kind]) for kind, text in _RULES.items()]
    rules.append((_UNREADABLE, "A case file cannot be read, and nothing is tested.", "error"))
    kinds = [kind for kind, _, _ in rules]
    notes = [escape_controls(str(error)) for error in checked.errors]
    run = {
        "tool": {
            "driver": {
                "name": _TOOL,
                "version": __version__,
                "rules": [
                    {
                        "id": kind.replace(" ", "-"),
                        "shortDescription": {"text": text},
                        "defaultConfiguration": {"level": level},
                    }
                    for kind, text, level in rules
                ],
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {
                "executionSuccessful": not checked.errors,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": text}} for text in notes
                ],
            }
        ],
        "results": [
            {
                "ruleId": one.kind.replace(" ", "-"),
                "ruleIndex": kinds.index(one.kind),
                "level": one.level,
                "message": {"text": one.message},
                "locations": [_location(one.path, one.line, checked.folder)],
            }
            for one in _entries(checked)
            if one.path is not None
        ],
    }
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    yield json.dumps(document, ensure_ascii=False, indent=1)


def _location(path: str, line: int, folder: Path) -> dict[str, object]:
    name = _relative(path, folder)
    if Path(name).is_absolute():
        place = {"uri": Path(name).as_uri()}
    else:
        place = {"uri": quote(name, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": place, "region": {"startLine": line}}}


def _message(one: CaseFinding) -> str:
    """Return all that is said of a finding, a line for each thing."""
    lines = [
        f"{one.command}: {one.message}",
        f"found: {one.found}" if one.found else "",
        f"expected: {one.expected}" if one.expected else "",
        one.reason,
    ]
    return escape_controls("\n".join(line for line in lines if line))


def _relative(path: str, folder: Path) -> str:
    """Return a name relative to a folder with ``/``, or an absolute one of what lies elsewhere."""
    full = Path(os.path.normpath(folder / path))
    return (full.relative_to(folder) if full.is_relative_to(folder) else full).as_posix()


FORMATS: dict[str, Callable[[VerifiedText], Iterator[str]]] = {
    "github": github,
    "sarif": sarif,
    "lsp-lines": lsp_lines,
}
