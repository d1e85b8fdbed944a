"""Why an engine that hung wrote nothing: another start is asked the same, with nothing held back.

Most languages keep what a program prints until a few thousand bytes have come or the program ends,
unless it is told to flush. So nothing tells a reply that lacks its empty line, or one that is
right and was not flushed, from no reply at all. The commands up to the one that was not answered
are sent once more, to a start that Python does not buffer for; what still says nothing then is
told that no more commands follow, which makes any other language write what it holds back.

This is only to say why: no verdict depends on it, and an engine that computed when it hung did not
wait for us and is not asked. It takes two seconds at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

from harness.engine.engine_session import quote
from harness.engine.launch import UNBUFFERED
from harness.engine.process import EngineProcess
from harness.errors import EngineError, SandboxError, StarvedError
from harness.options import Limits
from harness.records import Exchange, Failure, FailureKind, FileResult, Reply
from harness.running import protocol_facts
from harness.running.file_runner import RunContext, case_folder
from harness.text import encode

_START, _COMMAND, _ALL = 1.5, 1.0, 2.0  # seconds: limits of a new start, of an answer, of all
_PATIENCE = 0.3  # seconds, for an engine that has answered before and sleeps now
_AT_END = 0.5  # seconds in which it has to end when its input does
_COMPUTED = 0.1  # of a limit: an engine that computed for more did not wait for us
_UNBUFFERED = " ".join(map("=".join, UNBUFFERED.items()))


def explain_silence(result: FileResult, setting: RunContext) -> FileResult:
    """Return a file's result with the reason of its first hang, if another start shows it."""
    index = next((i for i, one in enumerate(result.failures) if _is_silence(one)), None)
    if index is None or monotonic() >= setting.ends:
        return result
    lines = _conversation(result, index, setting)
    reason = ""
    with suppress(EngineError, SandboxError, StarvedError, OSError):
        reason = _ask_again(lines, result, setting)
    failures = list(result.failures)
    failures[index] = failures[index]._replace(rest=f"{failures[index].rest}{reason}")
    return result._replace(failures=tuple(failures))


def _is_silence(failure: Failure) -> bool:
    """Return whether an engine slept instead of answering, and nothing is known of its output."""
    limit = failure.limit.name if failure.limit else ""
    is_own = failure.kind is FailureKind.TIMEOUT and limit in ("command", "start")
    return is_own and failure.rest == "." and failure.computed < _COMPUTED


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
    limits = setting.options.limits._replace(timeout=_COMMAND, startup=_START, file=0.0)
    process = _start(result, setting, limits)
    replies: list[Reply] = []
    output, is_at_end = b"", False
    try:
        session = setting.session(
            process,
            limits,
            run_ends=monotonic() + _ALL,
            patience=_PATIENCE,
            protocol=setting.protocol,
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
        whole = setting.protocol.end(output)
        replies = setting.protocol.splitter(strict=False).split(output[:whole])
        output = output[whole:]
    return _describe(lines, replies, output, is_at_end, setting)


def _start(result: FileResult, setting: RunContext, limits: Limits) -> EngineProcess:
    """Start the engine as it was, but so that Python writes at once."""
    folder = setting.options.folder or case_folder(result.case)
    launcher = setting.unbuffered(result.case)
    pty, protocol = setting.options.pty, setting.protocol
    return EngineProcess(launcher, list(setting.words), folder, limits, pty, protocol=protocol)


def _describe(
    lines: Sequence[bytes],
    replies: Sequence[Reply],
    output: bytes,
    is_at_end: bool,
    setting: RunContext,
) -> str:
    start = "Started again" if is_at_end else f"Started again with {_UNBUFFERED}"
    when = " once its input had ended" if is_at_end else ""
    if len(replies) >= len(lines):
        answer = quote(encode(replies[len(lines) - 1].raw))
        return f" {start}, it answered {answer}{when}: does it flush its output after each reply?"
    if output.strip() and len(replies) == len(lines) - 1:
        lacking = setting.protocol.lacking(output)
        wrote = f" {start}, it wrote {quote(output)}{when}, but {lacking}."
        return f"{wrote} Flush the output after each reply, too."
    return ""
