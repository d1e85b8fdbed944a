"""The findings of verifying, in formats that code hosts and editors show in place.

Sources: "Workflow commands for GitHub Actions"; OASIS, Static Analysis Results Interchange Format
(SARIF) 2.1.0; Language Server Protocol 3.17, ``textDocument/publishDiagnostics``.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_UNREADABLE, _UNREADABLE_TEXT = "unreadable", "A case file cannot be read, and nothing is tested."
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


def github(checked: VerifiedText) -> Iterator[str]:
    """Yield a workflow command of GitHub Actions for each finding and each error."""
    for one in checked.findings:
        place = {"file": _relative(one.path, checked.folder), "line": str(one.line)}
        title = f"{_TOOL}: {one.kind.value}"
        yield _command(_LEVELS[one.kind], place | {"title": title}, _message(one))
    for error in checked.errors:
        place = _place_of_error(error, checked.folder)
        yield _command("error", place | {"title": _TOOL}, _text_of_error(error))


def _command(level: str, members: Mapping[str, str], message: str) -> str:
    listed = ",".join(f"{name}={_escape(text, ':,')}" for name, text in members.items())
    return f"::{level} {listed}::{_escape(message)}"


def _place_of_error(error: HarnessError, folder: Path) -> dict[str, str]:
    """Return the file, and the line if one is to blame; nothing if no single file is."""
    if not isinstance(error, CaseError):
        return {}
    return {"file": _relative(error.file, folder), "line": str(error.line or 1)}


def _text_of_error(error: HarnessError) -> str:
    """Return what is wrong, without the place if that is known."""
    return escape_controls(error.message if isinstance(error, CaseError) else str(error))


def _escape(text: str, more: str = "") -> str:
    for char in f"%\r\n{more}":
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def lsp_lines(checked: VerifiedText) -> Iterator[str]:
    """Yield for each case file the parameters of ``publishDiagnostics``, one line of JSON.

    A file without findings has an empty list, which clears what an editor showed before. A file
    that could not be read has one diagnostic: why.
    """
    for case in checked.cases:
        found = [one for one in checked.findings if one.path == case.path]
        yield _publish(checked, case.path, [_diagnostic(one, case) for one in found])
    for error in checked.errors:
        if isinstance(error, CaseError):
            yield _publish(checked, error.file, [_diagnostic_of_error(error)])


def _publish(checked: VerifiedText, path: str, diagnostics: Sequence[object]) -> str:
    uri = Path(os.path.normpath(checked.folder / path)).as_uri()
    return json.dumps({"uri": uri, "diagnostics": diagnostics}, ensure_ascii=False)


def _diagnostic_of_error(error: CaseError) -> dict[str, object]:
    line = (error.line or 1) - 1
    return {
        "range": {
            "start": {"line": line, "character": 0},
            "end": {"line": line + 1, "character": 0},
        },
        "severity": _SEVERITIES["error"],
        "code": _UNREADABLE,
        "source": _TOOL,
        "message": _text_of_error(error),
    }


def _diagnostic(one: CaseFinding, case: CaseFile) -> dict[str, object]:
    line = one.line - 1
    return {
        "range": {
            "start": {"line": line, "character": 0},
            "end": {
                "line": line,
                "character": (len(case.lines[line].encode("utf-16-le", "surrogatepass")) // 2),
            },
        },
        "severity": _SEVERITIES[_LEVELS[one.kind]],
        "code": one.kind.value,
        "source": _TOOL,
        "message": _message(one),
    }


def sarif(checked: VerifiedText) -> Iterator[str]:
    """Yield the lines of a SARIF log."""
    run = {
        "tool": {"driver": {"name": _TOOL, "version": __version__, "rules": [*_rules()]}},
        "columnKind": "utf16CodeUnits",
        "invocations": [_invocation(checked.errors)],
        "results": [*_results(checked)],
    }
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    yield json.dumps(document, ensure_ascii=False, indent=1)


def _rules() -> Iterator[dict[str, object]]:
    for kind, text in _RULES.items():
        yield _rule_about(_rule(kind), text, _LEVELS[kind])
    yield _rule_about(_UNREADABLE, _UNREADABLE_TEXT, "error")


def _rule_about(name: str, text: str, level: str) -> dict[str, object]:
    return {
        "id": name,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": level},
    }


def _rule(kind: FindingKind) -> str:
    return kind.value.replace(" ", "-")


def _invocation(errors: Sequence[HarnessError]) -> dict[str, object]:
    texts = [escape_controls(str(error)) for error in errors]
    notes = [{"level": "error", "message": {"text": text}} for text in texts]
    return {"executionSuccessful": not errors, "toolExecutionNotifications": notes}


def _results(checked: VerifiedText) -> Iterator[dict[str, object]]:
    """Yield a result for each finding, and for each file that could not be read."""
    for one in checked.findings:
        yield {
            "ruleId": _rule(one.kind),
            "ruleIndex": [*_RULES].index(one.kind),
            "level": _LEVELS[one.kind],
            "message": {"text": _message(one)},
            "locations": [_location(one.path, one.line, checked.folder)],
        }
    for error in checked.errors:
        if isinstance(error, CaseError):
            yield {
                "ruleId": _UNREADABLE,
                "ruleIndex": len(_RULES),
                "level": "error",
                "message": {"text": _text_of_error(error)},
                "locations": [_location(error.file, error.line or 1, checked.folder)],
            }


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
