"""The conversation: what is sent when, and how long things take."""

import itertools
import re
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import EngineError, UsageError
from harness.core.options import Limits
from harness.core.records import FailureKind
from harness.core.text import decode
from harness.engine.engine_session import WINDOW, EngineSession, groups
from harness.engine.launch import PlainLauncher, split_program, with_seed
from harness.engine.process import EngineProcess
from harness.engine.replies import Splitter, end_of_last_reply
from harness.running.runs import Options, run
from tests.harness.silent_process import SilentProcess

ENGINES = Path(__file__).parent.parent / "engines"


def engine(name: str) -> str:
    return f"{sys.executable} {ENGINES / name}.py"


# --- cutting output into replies


@given(st.lists(st.sampled_from([b"= a\n\n", b"? b\nc\n\n", b"=1 \n\n", b"\n", b"x\n"])))
def test_replies_are_the_same_however_the_output_is_cut(pieces: list[bytes]) -> None:
    output = b"".join(pieces) + b"= end\n\n"
    whole = Splitter().split(output)
    splitter, bits = Splitter(), []
    pending = b""
    for byte in output:
        pending += bytes([byte])
        end = end_of_last_reply(pending)
        bits += splitter.split(pending[:end]) if end else []
        pending = pending[end:]
    assert bits == whole
    assert sum(len(reply.invalid.replace("\n", "")) for reply in whole) == pieces.count(
        b"x\n"
    ) - sum(reply.raw.count("x") for reply in whole)


@given(st.binary().map(lambda output: output + b"\n\n"))
def test_any_output_is_cut(output: bytes) -> None:
    splitter = Splitter()
    end = end_of_last_reply(output)
    replies = splitter.split(output[:end])
    assert output[end:].strip(b"\r\n") == b""
    assert all(reply.raw[0] in "=?" and "\n\n" not in reply.raw for reply in replies)
    kept = "".join(reply.invalid + reply.raw for reply in replies) + decode(splitter.invalid)
    ends = str.maketrans("", "", "\r\n")
    assert kept.translate(ends) == decode(output).translate(ends)


REPLIES = [
    (b"= \n\n", (True, "", "= ", "")),
    (b"=\n\n", (True, "", "=", "")),
    (b"=12 A1\n\n", (True, "A1", "=12 A1", "")),
    (b"=12\nA1 B2\n\n", (True, "B2", "=12\nA1 B2", "")),
    (b"?1  no \n \t\n\n", (False, "no", "?1  no \n \t", "")),
    (b"\n\n= a\n\n", (True, "a", "= a", "")),
    (b"hello\n\nyou\n= a\n\n", (True, "a", "= a", "hello\n\nyou")),
    (b"= \xc3\xa9\n\n", (True, "é", "= é", "")),
    (b"= \xe9\n\n", (True, "\udce9", "= \udce9", "")),
]


@pytest.mark.parametrize(("output", "expected"), REPLIES)
def test_a_reply(output: bytes, expected: tuple[bool, str, str, str]) -> None:
    (reply,) = Splitter().split(output)
    assert (reply.ok, reply.text, reply.raw, reply.invalid) == expected


# --- sending ahead

LINES = st.lists(st.integers(1, 6000).map(lambda size: b"x" * size), max_size=40)


@given(LINES, st.randoms(use_true_random=False))
def test_groups_are_as_long_as_they_may_be(lines: list[bytes], random) -> None:  # type: ignore[no-untyped-def]
    alone = [random.random() < 0.1 for _ in lines]
    found = list(groups(lines, alone))
    assert [index for start, end in found for index in range(start, end)] == list(
        range(len(lines))
    )
    sizes = [sum(map(len, lines[start:end])) for start, end in found]
    for (start, end), size in zip(found, sizes, strict=True):
        assert size <= WINDOW or end - start == 1
        assert not any(alone[start : end - 1])
    for ((_, end), size), (start, _) in zip(
        zip(found, sizes, strict=True), found[1:], strict=False
    ):
        assert alone[end - 1] or size + len(lines[start]) > WINDOW


@pytest.mark.processes
def test_what_waits_behind_a_command(tmp_path: Path) -> None:
    """The engine answers with the number of bytes it has been sent beyond the command."""
    setup = [f"play b {column}{row}" for column in "ABCDEFGH" for row in range(100, 200)]
    lines = [*setup, "10 test", "after", "reg_genmove b", "after", "20 test", "last"]
    (tmp_path / "x.gtp").write_text("\n".join(lines))
    (file,) = run(engine("counts_waiting"), [str(tmp_path / "x.gtp")]).files
    waiting = [int(reply.text) for reply in file.replies if reply]
    assert len(waiting) == len(lines)
    assert max(waiting) > WINDOW // 2
    assert all(
        bytes_ + len(line) + 1 <= WINDOW for bytes_, line in zip(waiting, lines, strict=True)
    )
    alone = [number for number, line in enumerate(lines) if "test" in line or "genmove" in line]
    assert [waiting[number] for number in alone] == [0, 0, 0]
    assert waiting[lines.index("after")] == len("reg_genmove b\n")


@pytest.mark.processes
def test_lockstep_sends_one_command_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "x.gtp").write_text("a\nb\nc\n10 d\n")
    (file,) = run(
        engine("counts_waiting"), [str(tmp_path / "x.gtp")], Options(lockstep=True)
    ).files
    exchanges = [exchange.reply for exchange in file.before]
    assert {reply.text for reply in [*file.replies, *exchanges] if reply} == {"0"}


@pytest.mark.processes
def test_replies_bigger_than_the_pipe_to_commands_bigger_than_the_pipe(tmp_path: Path) -> None:
    """Neither side may wait for the other to read."""
    (tmp_path / "x.gtp").write_text(f"fault {'x' * 200_000}\n" * 3 + "10 end\n#? [end]\n")
    (file,) = run(engine("big_reply"), [str(tmp_path / "x.gtp")]).files
    assert file.failure is None
    assert [len(reply.text) for reply in file.replies if reply] == [599_999] * 3 + [3]


@pytest.mark.processes
@pytest.mark.parametrize("seconds", [0, float("inf")])
def test_without_limits(seconds: float, tmp_path: Path) -> None:
    (tmp_path / "x.gtp").write_text(f"10 fault {'x' * 200_000}\n" * 2)
    options = Options(limits=Limits(timeout=seconds, startup=seconds, file=0, max_output=0))
    (file,) = run(engine("big_reply"), [str(tmp_path / "x.gtp")], options).files
    assert file.failure is None
    assert [len(reply.text) for reply in file.replies if reply] == [599_999] * 2


@pytest.mark.processes
def test_a_command_bigger_than_the_pipe_to_an_engine_that_never_reads(tmp_path: Path) -> None:
    (tmp_path / "x.gtp").write_text(f"10 {'x' * 200_000}\n")
    limits = Limits(timeout=0.5)
    (file,) = run(engine("never_reads"), [str(tmp_path / "x.gtp")], Options(limits=limits)).files
    assert file.failure is not None
    assert file.failure.kind is FailureKind.TIMEOUT
    assert re.fullmatch(
        r"The engine did not answer '10 x+…' within 0\.5 s\.", file.failure.message
    )


# --- time


@pytest.mark.processes
def test_each_command_has_its_own_time(tmp_path: Path) -> None:
    """Also when it was sent ahead: the clock starts when the reply before it came."""
    (tmp_path / "x.gtp").write_text("a\nb\nfault\nc\n10 d\n")
    (file,) = run(engine("answers_late"), [str(tmp_path / "x.gtp")]).files
    seconds = [reply.seconds for reply in file.replies if reply]
    assert seconds[2] > 0.4
    assert max(seconds[3:]) < seconds[2]  # from its sending on it would be more
    assert file.seconds >= sum(seconds) - 0.001


@pytest.mark.processes
def test_the_limit_holds_for_each_command_not_for_what_was_sent_together(tmp_path: Path) -> None:
    (tmp_path / "x.gtp").write_text("fault\n" * 6 + "10 d\n")
    options = Options(limits=Limits(timeout=2))
    (file,) = run(engine("answers_late"), [str(tmp_path / "x.gtp")], options).files
    assert file.failure is None
    assert file.seconds > 2


@pytest.mark.processes
def test_the_engine_has_its_start_up_time_for_itself(tmp_path: Path) -> None:
    """Only the first reply may take as long as --startup-timeout says."""
    (tmp_path / "x.gtp").write_text("10 fault\n")
    slow = f"sh -c 'sleep 1; exec {engine('in_order')}'"
    options = Options(limits=Limits(timeout=0.5, startup=20))
    (file,) = run(slow, [str(tmp_path / "x.gtp")], options).files
    assert file.failure is None


@pytest.mark.parametrize(
    ("answers", "limits", "run_ends", "expected"),
    [
        ((5,), Limits(timeout=120), 1e9, "did not answer '20 b' within 120 s."),
        ((5,), Limits(timeout=0.25), 1e9, "did not answer '20 b' within 0.25 s."),
        ((), Limits(startup=60), 1e9, "gave no reply within 60 s of its start."),
        (
            (5, 179.99),  # both are over when it is looked at: the command's was so first
            Limits(timeout=120, file=295),
            1e9,
            "did not answer '20 b' within 120 s.",
        ),
        (
            (5, 180.01),
            Limits(timeout=120, file=295),
            1e9,
            "ran out of time at '20 b': the file's 295 s were used up.",
        ),
        (
            (5,),
            Limits(timeout=120, total=100),
            100,
            "ran out of time at '20 b': the whole run's 100 s were used up.",
        ),
    ],
)
def test_the_time_limit_that_ended_first_is_told(
    answers: tuple[float, ...], limits: Limits, run_ends: float, expected: str
) -> None:
    process = SilentProcess(answers=answers)
    session = EngineSession(cast("EngineProcess", process), limits, run_ends=run_ends)
    with pytest.raises(EngineError) as error:
        if answers:
            session.ask([b"name\n"], [])
            session.begin_file()
            for _ in answers[1:]:
                session.ask([b"10 a\n"], [])
        session.ask([b"20 b\n"], [])
    failure = error.value.failure
    assert failure.message == f"The engine {expected}"
    assert failure.limit is not None
    field = {"command": "timeout", "start": "startup", "file": "file", "run": "total"}
    allowed = getattr(limits, field[failure.limit.name])
    assert failure.limit.allowed == allowed
    assert failure.limit.used == pytest.approx(allowed + 0.05)


# --- the session by itself


@pytest.fixture
def session() -> EngineSession:
    limits = Limits(timeout=5)
    process = EngineProcess(PlainLauncher(), split_program(engine("in_order")), "/", limits)
    return EngineSession(process, limits)


def test_no_descriptor_is_left(session: EngineSession) -> None:
    session.leave()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name, pty in itertools.product(["in_order", "dies_at_start"], [False, True]):
        limits = Limits(timeout=5)
        process = EngineProcess(PlainLauncher(), split_program(engine(name)), "/", limits, pty)
        other = EngineSession(process, limits)
        other.leave()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.processes
def test_the_stream_can_be_followed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.gtp").write_text("a\n10 b\n")
    run(engine("in_order"), [str(tmp_path / "x.gtp")], Options(verbose=True))
    lines = capfd.readouterr().err.splitlines()
    assert lines[lines.index(">> a") :][:4] == [">> a", ">> 10 b", "<< = a", "<< "]
    assert "<< =10 b" in lines


# --- the program's command

PROGRAMS = [
    ("gnugo --mode gtp", ["gnugo", "--mode", "gtp"]),
    ("'./my engine' -x \"a b\"", ["./my engine", "-x", "a b"]),
    ("a $HOME *; b", ["a", "$HOME", "*;", "b"]),
]


@pytest.mark.parametrize(("program", "words"), PROGRAMS)
def test_a_command_is_split_but_given_to_no_shell(program: str, words: list[str]) -> None:
    assert split_program(program) == words


def test_a_random_seed() -> None:
    seeds = {int(with_seed("-seed %SRAND").split()[1]) for _ in range(20)}
    assert len(seeds) > 1
    assert all(0 <= seed < 32768 for seed in seeds)


@pytest.mark.parametrize("program", ["", "  ", "'open"])
def test_a_command_that_cannot_be_split(program: str) -> None:
    with pytest.raises(UsageError):
        split_program(program)


@pytest.mark.processes
def test_a_relative_program_is_one_of_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "x.gtp").write_text("10 fault\n")
    (tmp_path / "engine").write_text(f"#!/bin/sh\nexec {engine('in_its_folder')}\n")
    (tmp_path / "engine").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    (file,) = run("./engine", ["cases/x.gtp"]).files
    assert [outcome.reply.text for outcome in file.outcomes if outcome.reply] == ["cases"]


def test_an_engine_that_answered_too_often_is_given_longer_to_do_it_again() -> None:
    """Others are hardly waited for, since that is done before each test."""
    waited: list[float] = []
    process: Any = SilentProcess(answers=(0.1,))
    process.take = lambda seconds: bool(waited.append(seconds)) or b"= more\n\n"
    session = EngineSession(process, Limits(), strict=True)
    session.ask([b"name\n"], [])
    for judged in (True, True, False):
        session.leave_out_unasked(judged)
    once, often, never = waited
    assert never == 0.0 < once < often
    assert len(session.warnings) == 1
