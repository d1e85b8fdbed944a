"""Whatever bytes an engine sends: no terminal obeys them, and every report can be read back.

The worst engines run for real; what is written is looked at byte by byte and read by strict
readers.
"""

from __future__ import annotations

import json
import re
import sys
import time
from xml.etree import ElementTree

import pytest

from harness.report.file_view import view
from harness.report.paint import Paint
from harness.report.terminal_report import Terminal
from tests.harness.made_run import Line, V, made_file
from tests.harness.test_broken_engines import CASE, ENGINES
from tests.harness.test_html_pages import Page
from tests.harness.test_report_formats import check_counts, read_tap
from tests.harness.test_run_command import COMMAND, ENVIRONMENT, at_terminal

WORST = (
    *("commands_terminals", "every_byte", "formulas", "markup", "nul", "long_last_words"),
    *("reports_as_java", "leaves_a_name"),
)

# What the harness itself may tell a terminal: colors, and the moving of its live lines.
OURS = re.compile(r"\r?\x1b\[([\d;]*m|\?25l|\?25h\r?|1A|2K)")
# Controls of both sets, and what turns the direction of writing.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def program(engine: str) -> str:
    return f"{sys.executable} {ENGINES / engine}.py"


@pytest.fixture
def case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "case.gtp"
    path.write_text(CASE)
    return path


def test_what_is_looked_for_is_found():
    """The check below can fail."""
    assert OURS.sub("", "\x1b[1;31mred\x1b[0m") == "red"
    for sequence in ("\x1b[2J", "\x1b]0;title\x07", "\x1b[6n", "\x9b31m", "a\rb", "\u202e"):
        assert OBEYED.search(OURS.sub("", sequence)), sequence


@pytest.mark.processes
@pytest.mark.parametrize(
    ("engine", "option"),
    list(zip(WORST[:4], ["--report", "--plain", "--long", "--verbose"], strict=True)),
)
def test_no_terminal_obeys_it(engine, option, case):
    words = [*COMMAND, option, program(engine), str(case)]
    colors = {key: value for key, value in ENVIRONMENT.items() if key != "NO_COLOR"}
    status, written = at_terminal(words, colors)
    assert status in (0, 1, 2)
    written = OURS.sub("", written.replace("\r\n", "\n"))  # the terminal's own CR
    assert OBEYED.findall(written) == []
    assert re.search("fault|java|3 passed", written)


@pytest.mark.processes
@pytest.mark.parametrize("engine", WORST)
def test_every_report_is_read_back(engine, case, capfd):
    from harness.cli import main

    files = ["--output", "out", "--json", "x.json", "--junit", "x.xml", "--tap", "x.tap"]
    assert main(["run", "--rerun=1", *files, program(engine), str(case)]) in (0, 1, 2)
    assert OBEYED.findall("".join(capfd.readouterr())) == []
    folder = case.parent
    read_json(folder / "x.json")
    for suite in ElementTree.parse(folder / "x.xml").getroot():
        check_counts(suite, suite.findall("testcase"))
    *lines, end = (folder / "x.tap").read_bytes().decode().split("\n")
    assert end == ""
    read_tap(lines)
    for page in (folder / "out").glob("*.html"):
        text = page.read_bytes().decode()
        Page(text)
        assert OBEYED.findall(text) == []
    header, row, end = (folder / "out" / "summary.dat").read_bytes().decode("ascii").split("\n")
    assert (header.count("\t"), row.count("\t"), end) == (7, 8, "")
    assert all(float(number) >= 0 for number in row.split())


@pytest.mark.long(1)
@pytest.mark.parametrize("text", ["a" + " " * 500_000 + "x", "a" * 1_000_000], ids=len)
def test_the_longest_reply_takes_a_time_of_its_length(text):
    """It is a second of computing; were it quadratic, a quarter of an hour."""
    file = made_file("x.gtp", [Line("1 genmove b", f"= {text}", "[A1|B2]", V.FAILED)])
    begun = time.process_time()
    report = list(Terminal(Paint(on=True)).file(view(file)))
    assert time.process_time() - begun < 20
    assert text[1:-1] in "".join(report)


def read_json(path):
    """Read a file as RFC 8259 has it: UTF-8, no NaN, no number without end, no name twice."""

    def once(pairs):
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    def refuse(word):
        raise AssertionError(word)

    text = path.read_bytes().decode()
    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)
