"""Every shipped case: answered by the oracle and by a second opinion, settled, and well formed."""

from pathlib import Path

import pytest

import oracle.gtp
from harness.core.records import Reply, Verdict
from harness.engine.replies import Splitter
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from tests.oracle.second_opinion import ENGINES

CASES = Path(__file__).parents[2] / "cases"
GAMES = {
    "go-scoring": "go",
    "gomoku-rules": "gomoku",
    "gomoku-policy": "gomoku",
    "gosensei": "gosensei",
    "java-go": "java-go",
}
FILES = sorted(CASES.glob("*/**/*.gtp"))


def assignment_of(path):
    """The assignment of a case file: the first folder below cases/."""
    return path.relative_to(CASES).parts[0]


def named_by_path(path):
    return str(path.relative_to(CASES))


@pytest.fixture(params=FILES, ids=named_by_path)
def case(request, monkeypatch):
    """A case file, read, in its own folder as a run would have it."""
    monkeypatch.chdir(request.param.parent)
    return casefile.read(str(request.param))


def assignment(case):
    return assignment_of(Path(case.path))


def oracle_replies(case):
    """The reply of the oracle's engine to each step, and whether the step's answer is settled."""
    engine = oracle.gtp.new_engine(GAMES[assignment(case)])
    questions = engine.session.questions
    for step in case.steps:
        name = step.command.split()[0]
        settled = True
        if name in questions:
            settled = engine.handle(f"oracle-readings {step.command}").startswith("= settled")
        (reply,) = Splitter().split(engine.handle(step.text).encode())
        yield step, reply, settled


def second_replies(case):
    engine = ENGINES[assignment(case)]()
    for step in case.steps:
        yield step, Reply(True, engine.reply(step.command).strip(), "", 0.0)


def verdict(step, reply):
    return find_dialect("gogui").verdict(step.pattern, reply)


def test_the_oracle_passes(case):
    for step, reply, settled in oracle_replies(case):
        assert settled, f"line {step.line}: this position is underspecified"
        assert verdict(step, reply) is Verdict.PASSED, f"line {step.line}: {reply.text}"
        if not step.is_test and step.command.startswith("play"):
            assert reply.text == "", f"line {step.line}: setup must be legal"


def test_the_second_opinion_passes(case):
    for step, reply in second_replies(case):
        assert verdict(step, reply) is Verdict.PASSED, f"line {step.line}: {reply.text}"


def test_every_test_can_fail(case):
    """A pattern that an empty or an odd reply matches as well would prove nothing."""
    for step in case.steps:
        if step.is_test:
            assert step.pattern is not None
            odd = Reply(True, "nonsense", "", 0.0)
            assert verdict(step, odd) is Verdict.FAILED, f"line {step.line}"


def test_the_conventions_are_kept(case):
    """Named by its assignment; a comment above each block; numbers in tens from 10 on."""
    assert case.lines[0].startswith(f"# {assignment(case)}: ")
    blocks = "\n".join(case.lines).split("\n\n")
    assert all(block.startswith("# ") for block in blocks)
    assert not any("\t" in line or line != line.rstrip() for line in case.lines)
    ids = [step.id for step in case.steps if step.is_test]
    assert ids
    assert ids == list(range(10, 10 * len(ids) + 1, 10))
