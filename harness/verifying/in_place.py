"""The findings of verifying, in formats that code hosts and editors show in place.

Sources: "Workflow commands for GitHub Actions"; OASIS, Static Analysis Results Interchange Format
(SARIF) 2.1.0; Language Server Protocol 3.17, ``textDocument/publishDiagnostics``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from harness.escaping import escape_controls
from harness.records import CaseFile
from harness.verifying.records import CaseFinding, FindingKind
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
_LEVELS = dict.fromkeys(FindingKind, "warning") | {
    FindingKind.WRONG: "error",
    FindingKind.UNREACHABLE: "error",
}
_SEVERITIES = {"error": 1, "warning": 2}  # of the Language Server Protocol


class VerifiedText(NamedTuple):
    """What is written in one of the formats."""

    cases: Sequence[CaseFile]
    findings: Sequence[CaseFinding]  # those that are to be shown
    errors: Sequence[str]  # a sentence for each file that could not be read
    folder: Path  # absolute; names are relative to it


def github(checked: VerifiedText) -> Iterator[str]:
    """Yield a workflow command of GitHub Actions for each finding and each error."""
    for one in checked.findings:
        place = _relative(one.path, checked.folder)
        title = f"{_TOOL}: {one.kind.value}"
        members = {"file": place, "line": str(one.line), "title": title}
        listed = ",".join(f"{name}={_escape(text, ':,')}" for name, text in members.items())
        yield f"::{_LEVELS[one.kind]} {listed}::{_escape(_message(one))}"
    for error in checked.errors:
        yield f"::error title={_TOOL}::{_escape(escape_controls(error))}"


def _escape(text: str, more: str = "") -> str:
    for char in f"%\r\n{more}":
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def lsp_lines(checked: VerifiedText) -> Iterator[str]:
    """Yield for each case file the parameters of ``publishDiagnostics``, one line of JSON.

    A file without findings has an empty list, which clears what an editor showed before.
    """
    for case in checked.cases:
        found = [one for one in checked.findings if one.path == case.path]
        uri = Path(os.path.normpath(checked.folder / case.path)).as_uri()
        diagnostics = [_diagnostic(one, case) for one in found]
        yield json.dumps({"uri": uri, "diagnostics": diagnostics}, ensure_ascii=False)


def _diagnostic(one: CaseFinding, case: CaseFile) -> dict[str, object]:
    line = one.line - 1
    return {
        "range": {
            "start": {"line": line, "character": 0},
            "end": {"line": line, "character": _units(case.lines[line])},
        },
        "severity": _SEVERITIES[_LEVELS[one.kind]],
        "code": one.kind.value,
        "source": _TOOL,
        "message": _message(one),
    }


def _units(text: str) -> int:
    """Return the length of a text in UTF-16, in which the protocol counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def sarif(checked: VerifiedText) -> Iterator[str]:
    """Yield the lines of a SARIF log."""
    run = {
        "tool": {"driver": {"name": _TOOL, "version": __version__, "rules": [*_rules()]}},
        "columnKind": "utf16CodeUnits",
        "invocations": [_invocation(checked.errors)],
        "results": [_result(one, checked.folder) for one in checked.findings],
    }
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    yield json.dumps(document, ensure_ascii=False, indent=1)


def _rules() -> Iterator[dict[str, object]]:
    for kind, text in _RULES.items():
        yield {
            "id": _rule(kind),
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": _LEVELS[kind]},
        }


def _rule(kind: FindingKind) -> str:
    return kind.value.replace(" ", "-")


def _invocation(errors: Sequence[str]) -> dict[str, object]:
    notes = [{"level": "error", "message": {"text": escape_controls(error)}} for error in errors]
    return {"executionSuccessful": not errors, "toolExecutionNotifications": notes}


def _result(one: CaseFinding, folder: Path) -> dict[str, object]:
    name = _relative(one.path, folder)
    if Path(name).is_absolute():
        place = {"uri": Path(name).as_uri()}
    else:
        place = {"uri": quote(name, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}
    location = {"artifactLocation": place, "region": {"startLine": one.line}}
    return {
        "ruleId": _rule(one.kind),
        "ruleIndex": [*_RULES].index(one.kind),
        "level": _LEVELS[one.kind],
        "message": {"text": _message(one)},
        "locations": [{"physicalLocation": location}],
    }


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
