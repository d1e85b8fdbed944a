"""The log page: the GTP stream as it was, with the file's comments, and standard error apart.

A file may have 100,000 commands, so that whole stretches of the stream are joined and escaped at
once; only tests and errors are markup of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from operator import add

from harness.records import Exchange, FileResult, Reply, RunResult, Step
from harness.report.html.names import Log, link, log_name, part_name
from harness.report.html.parts import box, items, page, part_links, run_facts
from harness.report.markup import escape

_PART = 2_000_000  # characters of one page; markup and escapes come on top of it


def log_pages(
    file: FileResult, run: RunResult, name: str, begin: Sequence[int] = ()
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the names and the contents of the pages of one file's log.

    ``name`` is that of the page about its tests. ``begin``: what :func:`part_cuts` returns, if it
    is known.
    """
    cuts = [*(begin or part_cuts(file)), len(file.case.steps)]
    for part, (first, end) in enumerate(pairwise(cuts), 1):
        body = _body(file, run, name, (part, len(cuts) - 1), (first, end))
        heading = f"Log: {file.case.path}" + (f", part {part}" if part > 1 else "")
        yield part_name(log_name(name), part), page(heading, body)


def log_of(file: FileResult, name: str, begin: Sequence[int] = ()) -> Log:
    """Return the addresses of one file's log; ``begin`` as above."""
    steps = file.case.steps
    return Log(name, [1, *(steps[cut - 1].line + 1 for cut in (begin or part_cuts(file))[1:])])


def part_cuts(file: FileResult) -> list[int]:
    """Return the steps with which the parts of a log begin."""
    cuts, begun = [0], 0
    replies = [len(reply.raw) + len(reply.invalid) if reply else 0 for reply in file.replies]
    texts = [len(step.text) + 4 for step in file.case.steps]
    if sum(replies) + sum(texts) <= _PART:
        return cuts
    for index, size in enumerate(accumulate(map(add, texts, replies), initial=0)):
        if size - begun > _PART and index < len(texts):
            cuts.append(index)
            begun = size
    return cuts


def _body(
    file: FileResult, run: RunResult, name: str, part: tuple[int, int], steps: tuple[int, int]
) -> Iterator[str]:
    links = part_links(log_name(name), *part)
    yield from (
        f'<nav><a href="index.html">Summary</a><a href="{link(name)}">Tests</a></nav>',
        f"<h1>Log of {escape(file.case.path)}</h1>",
        links,
    )
    if part[0] == 1:
        yield from (run_facts(run, file), "<h2>GTP stream</h2>\n", _exchanges(file.before))
    yield '<pre class="log">'
    yield from _stream(*_piece(file, *steps))
    yield f"</pre>{links}"
    if part[0] == part[1]:
        yield from (_exchanges(one.sent) for one in file.restarts)
        yield from (_exchanges(file.after), _failures(file), _warnings(file), _stderr(file))


def _piece(file: FileResult, first: int, end: int) -> tuple[FileResult, int]:
    """Return some steps of a file as a file, and the lines before them."""
    steps, lines = file.case.steps, file.case.lines
    if first == 0 and end == len(steps):
        return file, 0
    last = len(lines) if end == len(steps) else steps[end - 1].line
    piece = file._replace(
        case=file.case._replace(steps=steps[first:end], lines=lines[:last]),
        replies=file.replies[first:end],
        failures=tuple(
            one._replace(step=one.step - first) for one in file.failures if one.step is not None
        ),
        restarts=tuple(one._replace(step=one.step - first) for one in file.restarts),
    )
    return piece, steps[first - 1].line if first else 0


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


def _stream(file: FileResult, done: int) -> Iterator[str]:
    """Yield the file line by line, comments too, each command with its reply after it.

    ``done``: lines of the source that are written.
    """
    again = {one.step: one for one in file.restarts}
    for start, end in pairwise(_cuts(file)):
        if start in again:
            yield "<i>The engine was started again.</i>\n"
        if file.replies[start] is None:
            yield _unanswered(file, start, end, done)
        else:
            yield from _answered(file, start, end, done)
        done = _end(file, end)
    yield _between(file.case.lines[done:])


def _cuts(file: FileResult) -> Iterator[int]:
    """Yield where stretches of the file begin that were answered, or were not, and its end."""
    again = {one.step for one in file.restarts}
    answered = [reply is not None for reply in file.replies]
    for index, now in enumerate(answered):
        if index == 0 or now is not answered[index - 1] or index in again:
            yield index
    yield len(answered)


def _end(file: FileResult, end: int) -> int:
    """Return the lines up to the end of a stretch; what follows the last command is told apart."""
    if end == len(file.replies) and file.replies[end - 1] is None:
        return len(file.case.lines)
    return file.case.steps[end - 1].line


def _answered(file: FileResult, start: int, end: int, done: int) -> Iterator[str]:
    plain: list[str] = []  # escaped together when something else comes
    for step, reply in zip(file.case.steps[start:end], file.replies[start:end], strict=True):
        assert reply is not None
        line = step.line
        if line > done + 1:
            yield _plain(plain)
            plain.clear()
            yield _between(file.case.lines[done : line - 1])
        done = line
        if reply.ok and not step.is_test and not reply.invalid:
            plain += (step.text, "\n", reply.raw, "\n\n")
        else:
            yield _plain(plain) + _special(step, reply)
            plain.clear()
    yield _plain(plain)


def _unanswered(file: FileResult, start: int, end: int, done: int) -> str:
    """Return commands without a reply; the first was sent if the engine broke at it."""
    lines, steps = file.case.lines, file.case.steps[start:end]
    named = {step.line for step in steps if step.is_test}
    parts = []
    if any(failure.step == start for failure in file.failures):
        parts += [_between(lines[done : steps[0].line - 1]), _special(steps[0], None)]
        done = steps[0].line
    if done < _end(file, end) or end == len(file.replies):
        parts.append("<i>not sent:</i>\n")
    for number, line in enumerate(lines[done : _end(file, end)], done + 1):
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


def _failures(file: FileResult) -> str:
    return "".join(
        box(f"The engine broke: {one.kind.value}", escape(one.message)) for one in file.failures
    )


def _warnings(file: FileResult) -> str:
    return box("Protocol warnings", items(file.warnings), "warn") if file.warnings else ""


def _stderr(file: FileResult) -> str:
    if not file.stderr:
        return ""
    return f'<h2 id="stderr">Standard error</h2>\n<pre class="log">{escape(file.stderr)}</pre>'
