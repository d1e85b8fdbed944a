"""``gtp-harness verify``: its command line, and its findings in each format.

Sources of the formats that code hosts and editors show in place: "Workflow commands for GitHub
Actions"; OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0; Language Server Protocol
3.17, ``textDocument/publishDiagnostics``.
"""

import json
import os
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from harness import find_assignment
from harness.assignments.assignment import specification_of
from harness.banks.banks import EngineAsker
from harness.cli.commandline import Command, add_shared
from harness.cli.console import paint_for
from harness.core import requirements
from harness.core.errors import CaseError, ExitCode, HarnessError
from harness.core.options import SANDBOXES, STATUS_LAST
from harness.core.records import CaseFile
from harness.core.text import escape_controls, number_of, one_line, plural, without_surrogates
from harness.reading.dialect import find_dialect
from harness.reading.suite import gather
from harness.report import report_files
from harness.report.paint import Paint
from harness.verifying.expectation_judge import CaseFinding, FindingKind, Verified
from harness.verifying.verification import verify
from oracle import __version__


def with_questions(
    result: Verified, cases: Sequence[CaseFile], commands: Sequence[str], asker: EngineAsker
) -> Verified:
    """Return what was found; a wrong test that all other programs pass is a question instead.

    Raises:
        SandboxError: the harness failed, or there is no sandbox here.
    """
    from harness.assignments import banked

    wrong = {(one.path, one.line) for one in result.findings if one.kind is FindingKind.WRONG}
    asked = [case for case in cases if any(path == case.path for path, _ in wrong)]
    for command in commands if wrong else ():
        wrong -= asker.find_failed(asked, banked.engine_of(command, command))
    agree = "agrees" if len(commands) == 1 else "agree"
    text = f"{number_of(len(commands), 'other program')} {agree} with the test, and only the"
    text += " reference disagrees: who is right?"
    findings = (
        one._replace(kind=FindingKind.QUESTION, message=text)
        if (one.path, one.line) in wrong
        else one
        for one in result.findings
    )
    return result._replace(findings=tuple(findings))


_TEXT = "text"
_LONG = 300  # characters of an expectation
_WRAP = 76
_COLORS = {FindingKind.WRONG: "bad", FindingKind.DUPLICATE: "odd"}  # others: warn

_PAGE = """\
usage: gtp-harness verify CASES… [OPTION…]

Check every expectation of the case files against the oracle: is the answer right,
and does the pattern accept exactly what the specification accepts?

CASES are .gtp or .tst files, folders of them, @FILE, a list of such names, or
@NAME, cases that ship (gtp-harness cases lists them).
What may be found:
  wrong           the right answer is refused
  too loose       a wrong answer is accepted: a mutant's (gtp-oracle gtp --mistake list),
                  or one close to the right answer
  too tight       a form of the right answer is refused, such as B+4.0 for B+4
  underspecified  the assignment leaves open the answer, but the test does not; or it
                  leaves open what a setup command does (once in a file per reason)
  unreachable     a setup command is refused, with an ID or without, and each test
                  that depends on it; the game is over before a move; the engine
                  has quit before a test
  a question      the reference finds it wrong but stands alone: all programs of
                  --against answer what the test expects
  duplicate       an earlier test asks the same, up to the symmetries of the board
                  and an exchange of colors

[options]

Exit status:
    0  nothing was found
    1  something was found that --allow does not name
    2  the input was bad, or there was nothing to check: no test, or none of a command
       that has right and wrong answers

A file's assignment is given by --assignment, its folder, or its commands. Tests of
settings, and of commands that the assignment does not define, are counted and not
checked. Asking again on the same board is not a duplicate.

Examples:
  gtp-harness verify cases/
  gtp-harness verify private/*.gtp --assignment go-scoring --json found.json
  gtp-harness verify cases/ --format sarif > verified.sarif"""


def _run(arguments: Namespace) -> int:
    if not arguments.cases:
        VERIFY.refuse("give CASES")
    if arguments.against and not arguments.assignment:
        VERIFY.refuse("--against needs --assignment: its reference is compared with the others")
    report_files.try_to_write(arguments.json)
    gathered = gather(arguments.cases, find_dialect(arguments.dialect), protocol=STATUS_LAST)
    if arguments.against:
        requirements.need_engines("--against")
    own = find_assignment(arguments.assignment) if arguments.assignment else None
    specification = specification_of(own) if own else None
    found = verify(gathered.cases, specification, arguments.dialect)
    if arguments.against and own and specification:
        asker = EngineAsker(
            specification.commands, arguments.sandbox, arguments.dialect, protocol=own.protocol
        )
        found = with_questions(found, gathered.cases, arguments.against, asker)
    shown = [one for one in found.findings if one.kind.value not in arguments.allow]
    if arguments.format == _TEXT:
        paint = paint_for(arguments)
        for one in shown:
            print("\n".join(_paragraph(one, paint)) + "\n")
        print(_summary(found))
    else:
        checked = VerifiedText(gathered.cases, shown, gathered.refusals, Path.cwd())
        for line in FORMATS[arguments.format](checked):
            print(without_surrogates(line))
    for error in gathered.errors:
        print(f"gtp-harness: {one_line(error)}", file=sys.stderr)
    if arguments.json:
        report_files.write_json(arguments.json, "gtp-harness/verify", _document(found))
    is_bad = bool(gathered.errors) or _is_vain(found)
    return ExitCode.BROKEN if is_bad else ExitCode.FAILED if shown else ExitCode.OK


def _is_vain(result: Verified) -> bool:
    """Whether nothing could be found, because no test has right and wrong answers."""
    return result.tests == result.unchecked and not result.findings


def _add_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("cases", nargs="*", metavar="CASES", help="case files, folders, @FILE, @NAME")
    add("--assignment", metavar="A", help="the assignment, by name or folder (default: see below)")
    add("--against", action="append", default=[], metavar="PROGRAM",
        help="another program for the assignment. If all of them answer as a test expects and the"
        " reference does not, that is a question to the teacher; may be repeated")  # fmt: skip
    add("--sandbox", choices=SANDBOXES, default="auto",
        help="sandbox level of these programs; auto: the strongest that works (default:"
        " auto)")  # fmt: skip
    add("--allow", action="append", default=[], choices=[kind.value for kind in FindingKind],
        metavar="KIND", help="let findings of one of the above kinds pass; may be"
        " repeated")  # fmt: skip
    add("--json", metavar="FILE", help="write all findings as JSON, allowed ones as well")
    add("--format", choices=(_TEXT, *FORMATS), default=_TEXT,
        help="format of standard output: text; annotations for GitHub Actions; a SARIF 2.1.0 log;"
        " for each file a line of JSON, as a language server publishes diagnostics (default:"
        " %(default)s)")  # fmt: skip
    add_shared(add, "--dialect", "--no-color")


def _paragraph(finding: CaseFinding, paint: Paint) -> Iterator[str]:
    kind = paint(_COLORS.get(finding.kind, "warn"), f"✗ {finding.kind.value.upper()}")
    place = paint("dim", one_line(f"{finding.path}:{finding.line}"))
    yield f"{kind}  {paint('bold', one_line(finding.command, 200))}  {place}"
    yield f"    {one_line(finding.message)}"
    if finding.found:
        yield f"    found     {one_line(finding.found, _LONG)}"
    if finding.expected:
        yield f"    expected  {one_line(finding.expected, _LONG)}"
    for place_, line in enumerate(textwrap.wrap(one_line(finding.reason), _WRAP)):
        yield f"    {'' if place_ else 'because':10}{line}"


def _summary(result: Verified) -> str:
    """Return the last line: what was looked at, and how much was found."""
    counts = Counter(one.kind for one in result.findings)
    listed = ", ".join(f"{counts[kind]} {kind.value}" for kind in FindingKind if counts[kind])
    line = f"{result.tests:,} {plural(result.tests, 'test')}"
    line += f" in {result.files:,} {plural(result.files, 'file')}"
    if result.unchecked:
        line += f", {result.unchecked:,} not checked (no answer to them is wrong)"
    if _is_vain(result):
        return f"{line}: nothing checked, so this says nothing about the expectations"
    return f"{line}: {listed or 'nothing found'}"


def _document(result: Verified) -> dict[str, object]:
    """Return the findings of ``verify`` as JSON.

    The document is an object with these members::

        schema     "gtp-harness/verify", and version: 1
        files      how many case files were read, and tests: how many tests they have
        unchecked  how many tests were not checked: of settings, and of commands that the
                   assignment does not define
        findings   [{kind, path, line, command, message, found, expected, reason}]
    """
    return {
        "files": result.files,
        "tests": result.tests,
        "unchecked": result.unchecked,
        "findings": [one._asdict() | {"kind": one.kind.value} for one in result.findings],
    }


# --- The findings as code hosts and editors show them in place ----------------------------------


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
        lines = [
            f"{one.command}: {one.message}",
            f"found: {one.found}" if one.found else "",
            f"expected: {one.expected}" if one.expected else "",
            one.reason,
        ]
        text = escape_controls("\n".join(filter(None, lines)))
        yield _Entry(one.path, one.line, one.kind.value, _LEVELS[one.kind], text)
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
    described = [
        {
            "id": kind.replace(" ", "-"),
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        }
        for kind, text, level in rules
    ]
    notes = [
        {"level": "error", "message": {"text": escape_controls(str(error))}}
        for error in checked.errors
    ]
    results = [
        {
            "ruleId": one.kind.replace(" ", "-"),
            "ruleIndex": kinds.index(one.kind),
            "level": one.level,
            "message": {"text": one.message},
            "locations": [_location(one.path, one.line, checked.folder)],
        }
        for one in _entries(checked)
        if one.path is not None
    ]
    run = {
        "tool": {"driver": {"name": _TOOL, "version": __version__, "rules": described}},
        "columnKind": "utf16CodeUnits",
        "invocations": [{"executionSuccessful": not notes, "toolExecutionNotifications": notes}],
        "results": results,
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


def _relative(path: str, folder: Path) -> str:
    """Return a name relative to a folder with ``/``, or an absolute one of what lies elsewhere."""
    full = Path(os.path.normpath(folder / path))
    return (full.relative_to(folder) if full.is_relative_to(folder) else full).as_posix()


FORMATS = {"github": github, "sarif": sarif, "lsp-lines": lsp_lines}


VERIFY = Command("verify", _PAGE, _add_options, _run)
