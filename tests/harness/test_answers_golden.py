"""Every output format of a run of answers with status lines, against files found good.

They stand in ``golden/answers`` (see :mod:`tests.golden`). The run is judged, not made: what the
engine says is here, and the verdicts are the harness's.
"""

from __future__ import annotations

from pathlib import Path

from harness.core.records import FileResult, Outcome, Repeat, Reply, RunResult, Step
from harness.reading import casefile
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.report import html, saved_failures
from harness.report.file_view import view
from harness.report.paint import Paint
from harness.report.reporters import Finished
from harness.report.tally import summary, tally
from harness.report.terminal_report import Terminal
from harness.running import protocol_facts
from tests import golden
from tests.harness.test_answers import print_reply

GOLDEN = Path(__file__).parent / "golden" / "answers"
CASE = b"""\
# Zeros and ones on a small board.
game 3 2
= 1
play 9 9 9
= -1
hint
= 1

# A cell is free once.
?play 0 0 1
= 1
?play 0 0 1
= illegal move: 0 0 1 occupied
?legal 0 0 1
no
= 1
?show
1 . .
. . .
= 1
?genmove
@[0-2] [01] [01]
= 1
?nonsense
= -1
"""
SAID = (
    *("= 1", "= -1", "= -1", "= 1", "= illegal move: 0 0 1 taken", "no\n= 1"),
    *("1 . .\n. . <\n= 1", "3 0 1\n= 1", "= 1"),
)


def made_run() -> RunResult:
    case = casefile.parse(CASE, "zeros/public.txt")
    dialect = dialect_of(case, find_dialect("gogui"))
    replies = tuple(print_reply(text)._replace(seconds=0.25) for text in SAID)

    def outcome(index: int, step: Step, reply: Reply) -> Outcome:
        assert dialect.judged
        return Outcome(index, dialect.verdict(step.pattern, reply), dialect.judged(reply))

    pairs = enumerate(zip(case.steps, replies, strict=True))
    file = FileResult(
        case=case,
        outcomes=tuple(outcome(index, *pair) for index, pair in pairs if pair[0].is_test),
        replies=replies,
        before=(),
        after=(),
        errors=protocol_facts.count_errors(case.steps, replies),
        warnings=(),
        failures=(),
        stderr="",
        name="",
        version="",
        seconds=2.25,
        cpu_seconds=0.0,
    )
    return RunResult("./zeros", (file,), (), "2026-09-01T12:00:00Z", "host", {})


RUN = made_run()._replace(repeat=Repeat("gtp-harness run --protocol=status-last ./zeros"))
TALLIES = [tally(file) for file in RUN.files]
VIEWS = [view(file) for file in RUN.files]


def terminal() -> str:
    paint = Paint(False)
    shown = Terminal(paint, unicode=True, repeat=RUN.repeat).file(VIEWS[0])
    return "\n".join([*shown, summary(RUN, TALLIES, paint)]) + "\n"


def test_what_a_terminal_shows() -> None:
    golden.check(GOLDEN / "terminal.txt", terminal())


def test_failures_are_saved_in_the_same_format(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("failed").mkdir()
    saved_failures.report("failed", Finished(RUN, VIEWS))
    written = sorted(Path("failed").iterdir())
    assert [path.name for path in written] == [f"public-line{n}.txt" for n in (12, 17, 21, 24)]
    golden.check(GOLDEN / written[1].name, written[1].read_text())
    for path in written:
        assert sum(step.is_test for step in casefile.read(str(path)).steps) == 1


def test_the_page_shows_answers_with_their_status(tmp_path: Path) -> None:
    html.write(tmp_path, RUN, VIEWS)
    page = (tmp_path / "public.txt.html").read_text()
    assert "= illegal move: 0 0 1 <mark>occupied</mark>" in page
    assert "= illegal move: 0 0 1 <mark>taken</mark>" in page
    log = (tmp_path / "public.txt.out.html").read_text()
    assert "= illegal move: 0 0 1 taken" in log
