"""A run made by hand, with one of everything: what the reporters are tested on."""

from __future__ import annotations

from typing import NamedTuple

from harness.core.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Pattern,
    Reply,
    RunResult,
    Step,
    Verdict,
)

V = Verdict


class Line(NamedTuple):
    """A line of a case file with what became of it; a command has a reply, None if not sent."""

    text: str
    reply: str | None = ""
    pattern: str | None = None
    verdict: Verdict | None = None
    flaky: bool = False
    invalid: str = ""


def comment(text: str) -> Line:
    return Line(text, None)


def reply_of(raw: str, seconds: float = 0.25, invalid: str = "") -> Reply:
    return Reply(raw.startswith("="), raw.partition(" ")[2].strip(), raw, seconds, invalid)


def pattern_of(text: str) -> Pattern:
    inner, _, star = text.rpartition("]")
    inner = inner.removeprefix("[").strip()
    return Pattern(inner, inner.removeprefix("!"), inner.startswith("!"), star == "*")


def made_file(path: str, lines: list[Line], **rest: object) -> FileResult:
    """Lay lines out as a file; a pattern is the line after its command."""
    source: list[str] = []
    steps: list[Step] = []
    replies: list[Reply | None] = []
    outcomes: list[Outcome] = []
    for line in lines:
        source.append(line.text)
        if not line.text or line.text.startswith("#"):
            continue
        first, _, others = line.text.partition(" ")
        id_, command = (int(first), others) if first.isdigit() else (-1, line.text)
        test = line.verdict is not None
        pattern = pattern_of(line.pattern) if line.pattern else None
        reply = None if line.reply is None else reply_of(line.reply or "=", invalid=line.invalid)
        steps.append(Step(len(source), line.text, id_, command, test, pattern))
        replies.append(reply)
        if line.pattern:
            source.append(f"#? {line.pattern}")
        if line.verdict is not None:
            outcomes.append(Outcome(len(steps) - 1, line.verdict, reply, line.flaky))
    errors = sum(
        1 for s, r in zip(steps, replies, strict=True) if r and not r.ok and not s.is_test
    )
    values: dict[str, object] = {
        "before": (
            Exchange("name", reply_of("= Made Up")),
            Exchange("version", reply_of("= 0.1 <beta>")),
            Exchange("cputime", reply_of("= 0.02")),
        ),
        "after": (Exchange("cputime", reply_of("= 1.3")), Exchange("quit", reply_of("="))),
        "errors": errors,
        "warnings": (),
        "failures": (),
        "stderr": "",
        "name": "Made Up",
        "version": "0.1 <beta>",
        "seconds": 2.25,
        "cpu_seconds": 1.28,
    }
    values |= rest
    case = CaseFile(path, tuple(steps), tuple(source))
    return FileResult(case, tuple(outcomes), tuple(replies), **values)  # type: ignore[arg-type]


SCORE = made_file(
    "go/score.tst",
    [
        comment("# Go: area scores"),
        comment(""),
        comment("# One stone owns the whole board."),
        Line("boardsize 5"),
        Line("clear_board"),
        Line("komi 0.5"),
        Line("play b c3"),
        Line("10 score", "=10 B+24.5", r"[B\+24.5]", V.PASSED),
        comment(""),
        comment("# A captured stone is gone:"),
        comment("# White's A1 has no liberty left."),
        Line("play w a1"),
        Line("play b a2"),
        Line("play b b1"),
        Line("20 score", "=20 B+23.5", r"[B\+24.5(\.0)?]", V.FAILED),
        Line("play w c9", "? illegal move"),
        Line("30 score", "? <score> & \"more\" 'quotes'", "[!0]", V.FAILED),
        Line("40 genmove w", "=40 D2", "[D3|D4|pass]*", V.EXPECTED_FAIL),
        Line("50 list_stones black", "=50 C3 B1 A2", "[A2 B1 C3]", V.FAILED),
        Line("60 known_command score", "=60 true", "[true]*", V.UNEXPECTED_PASS),
        Line("70 showboard", "=70 \n  A B\n1 . X", "[]", V.FAILED),
        Line("80 reg_genmove b", "=80 E5", None, V.PASSED, flaky=True),
        Line("90 undo", "? cannot undo", None, V.FAILED),
        Line("final_score", "= ]]>", r"[B\+.*]", V.FAILED),
    ],
)

RULES = made_file(
    "gomoku/rules & more.gtp",
    [
        comment("# Five in a row end the game."),
        Line("boardsize 7"),
        Line("clear_board", "=", None, None, invalid="debug: <hello>"),
        Line("play b a1"),
        Line("play w a1", '= illegal move: "a1" occupied'),
        Line("play w b2"),
        Line("1 gogui-rules_final_result", "=1 \x1b[31mbl\x00ack\udcff", "[unknown]", V.FAILED),
        Line("2 gogui-rules_legal_moves", None, "[.*]", V.NOT_RUN),
        Line("play b c3", None),
        Line("3 gogui-rules_final_result", None, None, V.NOT_RUN),
    ],
    warnings=("line 6: the reply has the id 7 instead of 1",),
    failures=(
        Failure(FailureKind.DIED, "The engine was ended by SIGSEGV (segmentation fault).", step=6),
    ),
    stderr="starting\x07 up\n<b>Traceback</b>\n  File \"x.py\", line 1\nKeyError: '\udc80'\n",
    after=(),
    seconds=0.04,
    cpu_seconds=0.0,
)

PASSING = made_file(
    "other/score.tst",
    [
        Line("1 protocol_version", "=1 2", "[2]", V.PASSED),
        Line("2 name", "=2 Made Up", None, V.PASSED),
    ],
    seconds=1.0,
    cpu_seconds=0.5,
)

RUN = RunResult(
    program="./engine --level '<1>'",
    files=(SCORE, RULES, PASSING),
    errors=("bad.gtp:3: found ']', expected '#? [PATTERN]'",),
    started="2024-05-17T09:30:00Z",
    host="hostname (2 cores)",
    options={"dialect": "gogui", "jobs": 2},
)

GREEN = RUN._replace(files=(PASSING,), errors=())
