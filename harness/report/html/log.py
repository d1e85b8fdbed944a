"""The log page: the GTP stream as it was, with the file's comments, and standard error apart.

A file may have 100,000 commands, so that whole stretches of the stream are joined and escaped at
once; only tests and errors are markup of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.records import Exchange, FileResult, Reply, RunResult, Step
from harness.report.html.names import link
from harness.report.html.parts import box, items, page, run_facts
from harness.report.markup import escape


def log_page(file: FileResult, run: RunResult, name: str) -> Iterator[str]:
    """Yield the log of one file; ``name`` is that of the page about its tests."""
    return page(f"Log: {file.case.path}", _body(file, run, name))


def _body(file: FileResult, run: RunResult, name: str) -> Iterator[str]:
    yield from (
        f'<nav><a href="index.html">Summary</a><a href="{link(name)}">Tests</a></nav>',
        f"<h1>Log of {escape(file.case.path)}</h1>",
        run_facts(run, file),
        "<h2>GTP stream</h2>\n",
        _exchanges(file.before),
        '<pre class="log">',
    )
    yield from _stream(file)
    yield "</pre>"
    yield from (_exchanges(file.after), _failure(file), _warnings(file), _stderr(file))


def _exchanges(exchanges: Sequence[Exchange]) -> str:
    if not exchanges:
        return ""
    text = "".join(f"{text}\n{_reply(reply)}" for text, reply in exchanges)
    return (
        f'<details><summary>Sent by the harness</summary><pre class="log">{text}</pre></details>'
    )


def _reply(reply: Reply | None) -> str:
    if reply is None:
        return "<i>no reply</i>\n\n"
    invalid = f'<span class="e">{escape(reply.invalid)}</span>\n' if reply.invalid else ""
    return f"{invalid}{escape(reply.raw)}\n\n"


def _stream(file: FileResult) -> Iterator[str]:
    """Yield the file line by line, comments too, each command with its reply after it."""
    lines = file.case.lines
    done = 0  # lines of the source that are written
    plain: list[str] = []  # escaped together when something else comes
    for index, (step, reply) in enumerate(zip(file.case.steps, file.replies, strict=True)):
        if reply is None:
            yield _plain(plain) + _unanswered(file, index, done)
            return
        if step.line > done + 1:
            yield _plain(plain)
            plain.clear()
            yield _between(lines[done : step.line - 1])
        done = step.line
        if reply.ok and not step.is_test and not reply.invalid:
            plain += (step.text, "\n", reply.raw, "\n\n")
        else:
            yield _plain(plain) + _special(step, reply)
            plain.clear()
    yield _plain(plain) + _between(lines[done:])


def _unanswered(file: FileResult, index: int, done: int) -> str:
    """The rest of the file, from the command that got no reply."""
    named = {step.line for step in file.case.steps[index:] if step.is_test}
    parts = []
    if file.failure and file.failure.step == index:
        step = file.case.steps[index]
        parts += [_between(file.case.lines[done : step.line - 1]), _special(step, None)]
        done = step.line
    parts.append("<i>not sent:</i>\n")
    for number, line in enumerate(file.case.lines[done:], done + 1):
        anchor = f' id="L{number}"' if number in named else ""
        parts.append(f"<i{anchor}>{escape(line)}</i>\n")
    return "".join(parts)


def _plain(parts: list[str]) -> str:
    text = "".join(parts)
    if "&" in text or "<" in text or ">" in text:
        return escape(text)
    return text


def _between(lines: Sequence[str]) -> str:
    """Comments, expectations and blank lines."""
    text = escape("\n".join(lines))
    return f"<i>{text}</i>\n" if text.strip() else "\n" * len(lines)


def _special(step: Step, reply: Reply | None) -> str:
    """A test, which links lead to, or a command that went wrong."""
    command = escape(step.text)
    head = f'<b id="L{step.line}">{command}</b>\n'
    if reply is None or reply.ok:
        return head + _reply(reply)
    return f'{head}<span class="e">{escape(reply.raw)}</span>\n\n'


def _failure(file: FileResult) -> str:
    if file.failure is None:
        return ""
    return box(f"The engine broke: {file.failure.kind.value}", escape(file.failure.message))


def _warnings(file: FileResult) -> str:
    return box("Protocol warnings", items(file.warnings), "warn") if file.warnings else ""


def _stderr(file: FileResult) -> str:
    if not file.stderr:
        return ""
    return f'<h2 id="stderr">Standard error</h2>\n<pre class="log">{escape(file.stderr)}</pre>'
