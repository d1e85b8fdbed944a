"""The same file run several times: one result, and which verdicts cannot be relied on."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

from harness.core.errors import EngineError, SandboxError, StarvedError
from harness.core.records import (
    CaseFile,
    Exchange,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Verdict,
)
from harness.core.text import encode
from harness.engine.engine_session import quote
from harness.engine.launch import UNBUFFERED
from harness.engine.process import EngineProcess
from harness.engine.replies import Protocol
from harness.running import protocol_facts
from harness.running.file_runner import RunContext, case_folder
from oracle.command_properties import PropertyTable

# Which of several verdicts on one test is shown: the one that has most to be explained.
_GRAVEST_FIRST = (
    Verdict.FAILED,
    Verdict.NOT_RUN,
    Verdict.NOT_JUDGED,
    Verdict.UNEXPECTED_PASS,
    Verdict.EXPECTED_FAIL,
    Verdict.PASSED,
    Verdict.IGNORED,
)


def merge(results: Sequence[FileResult]) -> FileResult:
    """Return one result of several runs of a file.

    It is that of the first run in which the engine failed, or else of the first; each outcome is
    the gravest of all runs, and flaky if they do not agree.
    """
    shown = next((result for result in results if result.failure is not None), results[0])
    outcomes = []
    for runs in zip(*(result.outcomes for result in results), strict=True):
        gravest = min(runs, key=lambda outcome: _GRAVEST_FIRST.index(outcome.verdict))
        outcomes.append(gravest._replace(flaky=len({outcome.verdict for outcome in runs}) > 1))
    return shown._replace(outcomes=tuple(outcomes))


# --- moves that an engine chooses ----------------------------------------------------------------

_TIMED = (FailureKind.CPU, FailureKind.TIMEOUT)  # these are judged by the limits


def fails_by_choice(result: FileResult, command_properties: PropertyTable) -> bool:
    """Whether a test failed that a player with a clock and dice might have passed.

    Such a test is believed to have failed only when it fails again, alone on the machine: an
    instructor's own engine fails one in seven of them on a busy one.
    """
    chosen = _choosing_steps(result.case, command_properties)
    broke = {one.step for one in result.failures if one.kind not in _TIMED}
    return any(
        outcome.verdict is Verdict.FAILED
        or (outcome.verdict is Verdict.NOT_RUN and outcome.step in broke)
        for outcome in result.outcomes
        if outcome.step in chosen
    )


def _choosing_steps(case: CaseFile, command_properties: PropertyTable) -> set[int]:
    """Return the steps that choose a move, or come after one on the same board."""
    found, is_chosen = set(), False
    for index, step in enumerate(case.steps):
        properties = command_properties[step.name]
        is_chosen = is_chosen and not properties.begins_board
        is_chosen = is_chosen or (properties.chooses and properties.thinks)
        if is_chosen:
            found.add(index)
    return found


def believe(
    first: FileResult,
    second: FileResult,
    command_properties: PropertyTable,
    counts: Callable[[Outcome], bool] = lambda _: True,
) -> FileResult:
    """Return a file's second result, with the tests of a choice that passed in the first one.

    Nobody loses by the second run what another choice had passed in the first. ``counts``: says
    of such a pass whether it counts, for it may have taken too long.
    """
    chosen = _choosing_steps(first.case, command_properties)
    pairs = zip(first.outcomes, second.outcomes, strict=True)
    better = [
        one if one.step in chosen and _passes(one) and not _passes(two) and counts(one) else two
        for one, two in pairs
    ]
    return second._replace(outcomes=tuple(better))


def _passes(outcome: Outcome) -> bool:
    return outcome.verdict in (Verdict.PASSED, Verdict.UNEXPECTED_PASS)


# --- Why an engine that hung wrote nothing: another start is asked the same, with nothing held ---
# Most languages keep what a program prints until a few thousand bytes have come or the program
# ends, unless it is told to flush. So nothing tells a reply that lacks its empty line, or one that
# is right and was not flushed, from no reply at all. The commands up to the one that was not
# answered are sent once more, to a start that Python does not buffer for; what still says nothing
# then is told that no more commands follow, which makes any other language write what it holds
# back.
#
# This is only to say why: no verdict depends on it, and an engine that computed when it hung did
# not wait for us and is not asked. It takes two seconds at most.


_START, _COMMAND, _ALL = 1.5, 1.0, 2.0  # seconds: limits of a new start, of an answer, of all
_PATIENCE = 0.3  # seconds, for an engine that has answered before and sleeps now
_AT_END = 0.5  # seconds in which it has to end when its input does
_COMPUTED = 0.1  # of a limit: an engine that computed for more did not wait for us
_UNBUFFERED = " ".join(map("=".join, UNBUFFERED.items()))


def explain_silence(result: FileResult, setting: RunContext) -> FileResult:
    """Return a file's result with the reason of its first hang, if another start shows it."""
    silent = (  # it slept instead of answering, and nothing is known of its output
        index
        for index, one in enumerate(result.failures)
        if one.kind is FailureKind.TIMEOUT
        and (one.limit and one.limit.name) in ("command", "start")
        and one.rest == "."
        and one.computed < _COMPUTED
    )
    index = next(silent, None)
    if index is None or monotonic() >= setting.ends:
        return result
    lines = _conversation(result, index, setting)
    reason = ""
    with suppress(EngineError, SandboxError, StarvedError, OSError):
        reason = _ask_again(lines, result, setting)
    failures = list(result.failures)
    failures[index] = failures[index]._replace(rest=f"{failures[index].rest}{reason}")
    return result._replace(failures=tuple(failures))


def _conversation(result: FileResult, index: int, setting: RunContext) -> list[bytes]:
    """Return what was sent to the engine with that failure, up to what it did not answer."""
    restart = result.restarts[index - 1] if index else None
    sent: Sequence[Exchange] = restart.sent if restart else result.before
    own = [encode(one.text) + b"\n" for one in sent]
    for place, one in enumerate(sent):
        if one.reply is None:
            return own[: place + 1]
    step = result.failures[index].step
    lines = protocol_facts.as_sent(result.case, setting.protocol)
    return [] if step is None else own + lines[restart.step if restart else 0 : step + 1]


def _ask_again(lines: Sequence[bytes], result: FileResult, setting: RunContext) -> str:
    """Return why nothing was heard: a sentence after a blank; "" if that does not show."""
    if not lines:  # it was asked nothing of the file's when it hung
        return ""
    options, protocol = setting.options, setting.protocol
    limits = options.limits._replace(timeout=_COMMAND, startup=_START, file=0.0)
    # Started as it was, but so that Python writes at once.
    process = EngineProcess(
        setting.unbuffered(result.case),
        list(setting.words),
        options.folder or case_folder(result.case),
        limits,
        options.pty,
        protocol=protocol,
    )
    replies: list[Reply] = []
    output, is_at_end = b"", False
    try:
        session = setting.session(
            process, limits, run_ends=monotonic() + _ALL, patience=_PATIENCE, protocol=protocol
        )
        with suppress(EngineError):
            session.ask(lines[:1], replies)  # what its start computes ends here
            if more := lines[1:]:
                session.ask(more, replies)
        output = session.unfinished
    finally:
        is_at_end = not replies and not output
        end = process.finish(_AT_END if is_at_end else 0.0)
    if is_at_end:
        output = end.output
        whole = protocol.end(output)
        replies = protocol.splitter(strict=False).split(output[:whole])
        output = output[whole:]
    return _describe(lines, replies, output, is_at_end, protocol)


def _describe(
    lines: Sequence[bytes],
    replies: Sequence[Reply],
    output: bytes,
    is_at_end: bool,
    protocol: Protocol,
) -> str:
    start = "Started again" if is_at_end else f"Started again with {_UNBUFFERED}"
    when = " once its input had ended" if is_at_end else ""
    if len(replies) >= len(lines):
        answer = quote(encode(replies[len(lines) - 1].raw))
        return f" {start}, it answered {answer}{when}: does it flush its output after each reply?"
    if output.strip() and len(replies) == len(lines) - 1:
        wrote = f" {start}, it wrote {quote(output)}{when}, but {protocol.lacking(output)}."
        return f"{wrote} Flush the output after each reply, too."
    return ""
