"""JSON, JUnit and TAP are read back by strict readers, and say what the run says."""

from __future__ import annotations

import json as stdlib_json
import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.errors import UsageError
from harness.core.options import GIB, Limit
from harness.core.records import Failure, FailureKind
from harness.core.text import escape_controls, without_surrogates
from harness.report import json, junit, tap
from harness.report.tally import tally, total, troubles
from tests.harness.made_run import GREEN, RUN, Line, V, made_file

# Whatever an engine or a case file may hold: markup, control characters, undecoded bytes.
anything = st.text(st.characters(exclude_categories=()), max_size=30)
# The only lone surrogates in a case file stand for bytes.
written = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.characters(categories=["Cs"], min_codepoint=0xDC80, max_codepoint=0xDCFF),
    max_size=30,
)
figures = st.floats(0, 1e12)
limits = st.builds(
    Limit,
    st.sampled_from(["command", "file", "memory", "all output"]),
    st.none() | figures,
    figures,
    st.sampled_from(["seconds", "bytes", "files"]),
)


@st.composite
def runs(draw):
    verdicts = st.sampled_from([v for v in V if v is not V.NOT_RUN])
    lines = draw(
        st.lists(
            st.builds(
                lambda text, reply, pattern, verdict, flaky: Line(
                    f"1 {text}".replace("\n", " "), f"= {reply}", f"[{pattern}]", verdict, flaky
                ),
                written,
                anything,
                written,
                verdicts,
                st.booleans(),
            ),
            max_size=3,
        )
    )
    failure = st.builds(
        Failure, st.sampled_from(FailureKind), anything, st.none(), limit=st.none() | limits
    )
    failures = tuple(draw(st.lists(failure, max_size=3)))
    file = made_file(
        draw(anything), lines, stderr=draw(anything), failures=failures, warnings=(draw(anything),)
    )
    errors = tuple(draw(st.lists(anything, max_size=2)))
    return RUN._replace(files=(file,), errors=errors, program=draw(anything), faults=errors[:1])


def tallies(run):
    return [tally(file) for file in run.files]


# --- JSON --------------------------------------------------------------------------------------


def read_json(run):
    return stdlib_json.loads(without_surrogates("".join(json.parts(run, tallies(run)))).encode())


def test_json_says_what_the_run_says():
    document = read_json(RUN)
    assert (document["schema"], document["version"]) == ("gtp-harness/run", 1)
    assert document["errors"] == list(RUN.errors)
    assert document["tally"]["tests"] == total(tallies(RUN)).tests
    for file, read in zip(RUN.files, document["files"], strict=True):
        assert read["path"] == file.case.path
        assert len(read["tests"]) == len(file.outcomes)
        for outcome, test in zip(file.outcomes, read["tests"], strict=True):
            step = file.case.steps[outcome.step]
            assert (test["id"], test["line"], test["command"]) == (
                step.id,
                step.line,
                step.command,
            )
            assert test["expected"] == (step.pattern.text if step.pattern else None)
            assert (test["verdict"], test["flaky"]) == (outcome.verdict.value, outcome.flaky)
            assert test["ok"] == (outcome.reply.ok if outcome.reply else None)
            assert test["seconds"] == (outcome.reply.seconds if outcome.reply else None)
    assert document["files"][0]["tests"][2]["reply"] == "<score> & \"more\" 'quotes'"
    assert document["files"][1]["failure"] == {
        "kind": "died",
        "message": "The engine was ended by SIGSEGV (segmentation fault).",
        "line": 9,
        "command": "2 gogui-rules_legal_moves",
        "not_run": 2,
        "restarted": None,
    }
    assert document["files"][1]["failures"] == [document["files"][1]["failure"]]
    assert document["files"][1]["tests"][0]["reply"] == "\x1b[31mbl\x00ack\ufffd"


def test_json_tells_a_limit_in_figures():
    limit = Limit("memory", 1.5 * GIB, GIB, "bytes")
    failure = Failure(FailureKind.MEMORY, "It went over its ", limit=limit, rest=".")
    file = made_file("a.gtp", [], failures=(failure,))
    told = read_json(RUN._replace(files=(file,)))["files"][0]["failure"]
    assert told["message"] == "It went over its memory limit: 1.5 GiB used, 1 GiB allowed."
    assert told["limit"] == limit._asdict()


@settings(max_examples=60)
@given(runs())
def test_json_is_read_whatever_it_holds(run):
    document = read_json(run)
    text = stdlib_json.dumps(document, ensure_ascii=False)
    text.encode()
    for outcome, test in zip(run.files[0].outcomes, document["files"][0]["tests"], strict=True):
        assert test["reply"] == re.sub("[\ud800-\udfff]", "\ufffd", outcome.reply.text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "was not written by --json"),
        ('{"schema": "else"}', "was not written by --json"),
        ('{"schema": "gtp-harness/run", "version": 2}', "has version 2 of its format, expected 1"),
    ],
)
def test_json_that_is_none_of_ours(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        json.load(str(path))


# --- JUnit -------------------------------------------------------------------------------------


def check_counts(suite, cases):
    """The counts of a suite must be those of its test cases."""
    for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped",) * 2):
        assert int(suite.get(attribute)) == sum(case.find(element) is not None for case in cases)
    assert int(suite.get("tests")) == len(cases)


def read_junit(run):
    root = ElementTree.fromstring(
        escape_controls("".join(junit.document(run.files, tallies(run), troubles(run)))).encode()
    )
    assert root.tag == "testsuites"
    for suite in root:
        check_counts(suite, suite.findall("testcase"))
    check_counts(root, list(root.iter("testcase")))
    return root


def test_junit_says_what_the_run_says():
    score, rules, other, trouble = read_junit(RUN)
    results = [case[0].tag if len(case) else "passed" for case in score.findall("testcase")]
    assert results == [
        *("passed", "failure", "failure", "skipped", "failure"),
        *("system-out", "failure", "system-out", "failure", "failure"),
    ]
    failure = score[1][0]
    assert failure.get("message") == "expected B+24.5 or B+24.5.0, got 'B+23.5'"
    assert score[6][0].get("message") == "expected (nothing), got 'A B\n1 . X'"
    assert [case[0].tag for case in rules.findall("testcase")][1:] == ["skipped"] * 2 + ["error"]
    assert rules.findtext("system-err").startswith("starting\\x07 up\n<b>Traceback</b>\n")
    assert [len(case) for case in other] == [0, 0]
    assert trouble[0][0].get("message") == RUN.errors[0]
    assert len(read_junit(GREEN)) == 1


@settings(max_examples=60)
@given(runs())
def test_junit_is_read_whatever_it_holds(run):
    read_junit(run)


# --- TAP ---------------------------------------------------------------------------------------


class Point(NamedTuple):
    ok: bool
    text: str
    directive: str
    details: dict


POINT = re.compile(r"(ok|not ok) (\d+) - ((?:[^#\\]|\\[#\\])*?)(?: # (TODO|SKIP) [^#\\]*)?")


def read_tap(document: Iterator[str]) -> list[tuple[Point, list[Point]]]:
    """Read a TAP 14 document of one level of subtests, refusing all that is not of that form."""
    first, *lines = document
    assert first == "TAP version 14"
    files: list[tuple[Point, list[Point]]] = []
    inside: list[Point] = []
    subtest = None
    while lines:
        line = lines.pop(0)
        if line.startswith("# Subtest: "):
            assert subtest is None
            subtest = line.removeprefix("# Subtest: ")
            planned = int(re.fullmatch(r"    1\.\.(\d+)", lines.pop(0))[1])
        elif line.startswith("    "):
            assert subtest is not None
            inside.append(read_point(line[4:], lines, len(inside) + 1, "    "))
        elif line.startswith("1.."):
            assert line == f"1..{len(files)}"
            assert not lines
        else:
            point = read_point(line, lines, len(files) + 1, "")
            assert subtest in (None, point.text)
            assert subtest is None or planned == len(inside)
            files.append((point, inside))
            inside, subtest = [], None
    return files


def read_point(line: str, lines: list[str], number: int, indent: str) -> Point:
    found = POINT.fullmatch(line)
    assert found, line
    assert int(found[2]) == number
    details = {}
    if lines and lines[0] == f"{indent}  ---":
        lines.pop(0)
        while (line := lines.pop(0)) != f"{indent}  ...":
            name, colon, value = line.removeprefix(f"{indent}  ").partition(": ")
            assert colon
            assert name.isidentifier()
            details[name] = stdlib_json.loads(value)
    return Point(found[1] == "ok", found[3], found[4] or "", details)


def test_tap_says_what_the_run_says():
    found = read_tap(tap.lines(RUN))
    (score, tests), (rules, broken), (other, passed), (unread, none) = found
    assert [score.ok, rules.ok, other.ok, unread.ok] == [False, False, True, False]
    assert [point.ok for point in tests] == [
        *(True, False, False, False, False),
        *(True, False, True, False, False),
    ]
    assert [point.directive for point in tests].count("TODO") == 2
    assert tests[1].details["expected"] == r"B\+24.5(\.0)?"
    assert tests[6].details["got"] == "A B\n1 . X"
    assert tests[7].details["flaky"] is True
    assert [point.directive for point in broken] == ["", "SKIP", "SKIP", ""]
    assert broken[3].details["kind"] == "died"
    assert all(point.ok for point in passed)
    assert unread.details == {"message": RUN.errors[0]}
    assert none == []


@settings(max_examples=60)
@given(runs())
def test_tap_is_read_whatever_it_holds(run):
    read_tap(tap.lines(run))
