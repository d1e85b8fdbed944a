"""What people read of a run, against the file that was looked at and found good.

``tests/contract`` holds what programs read. The files stand in ``golden``, the pages without their
style: see :mod:`tests.golden`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.records import Repeat
from harness.core.text import without_surrogates
from harness.report import baseline, html, json
from harness.report.file_view import view
from harness.report.html.board_drawing import DEFINITIONS
from harness.report.html.page_names import LOG_SCRIPT, PLAIN, SCRIPT, STYLE
from harness.report.paint import Paint
from harness.report.tally import summary, tally
from harness.report.terminal_report import Terminal
from tests import golden
from tests.harness.made_run import RUN as MADE

GOLDEN = Path(__file__).parent / "golden"
RUN = MADE._replace(repeat=Repeat("gtp-harness run ./engine"))
TALLIES = [tally(file) for file in RUN.files]
VIEWS = [view(file) for file in RUN.files]


def terminal(*, color: bool, unicode: bool) -> str:
    paint = Paint(color)
    paragraphs = [
        paragraph
        for file in RUN.files
        for paragraph in Terminal(paint, unicode=unicode, repeat=RUN.repeat).file(view(file))
    ]
    return "\n".join([*paragraphs, summary(RUN, TALLIES, paint)]) + "\n"


def compare_documents() -> str:
    import json as stdlib_json

    former = stdlib_json.loads(without_surrogates("".join(json.parts(RUN, TALLIES))))
    former["files"][0]["tests"][0]["verdict"] = "FAILED"
    former["files"][0]["tests"][1]["verdict"] = "passed"
    former["files"][0]["tests"][2]["id"] = 35
    former["files"][1]["failure"] = None
    comparison = baseline.compare(former, RUN)
    return "".join(
        "\n    ".join([heading, *lines]) + "\n" for heading, lines in comparison.sections()
    )


TEXTS = {
    "terminal.txt": lambda: terminal(color=False, unicode=True),
    "terminal-ascii.txt": lambda: terminal(color=False, unicode=False),
    "terminal-color.txt": lambda: terminal(color=True, unicode=True),
    "baseline.txt": compare_documents,
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name):
    golden.check(GOLDEN / name, TEXTS[name]())


# What all pages have, and tells nothing of a run.
LONG = (
    (STYLE, "(style)"),
    (PLAIN, "(style)"),
    (SCRIPT, "(script)"),
    (LOG_SCRIPT, "(script of logs)"),
    (DEFINITIONS, "(gradients)"),
)


def test_pages(tmp_path):
    html.write(tmp_path, RUN, VIEWS)
    written = {path.name for path in tmp_path.iterdir()}
    for name in sorted(written):
        page = (tmp_path / name).read_bytes().decode()
        for long, short in LONG:
            page = page.replace(long, short)
        golden.check(GOLDEN / "pages" / name, page)
    assert written == {path.name for path in (GOLDEN / "pages").iterdir()}
