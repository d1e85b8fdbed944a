"""The log page: the GTP stream as it was, with the file's comments, and standard error apart.

A file may have 100,000 commands, so that whole stretches of the stream are joined and escaped at
once; only tests and errors are markup of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import add, attrgetter

from harness.records import Exchange, FileResult, Reply, RunResult, Step
from harness.report.html.page_names import LogPages, link, log_links, log_name, part_name
from harness.report.html.parts import (
    PageFrame,
    box,
    filter_tools,
    page,
    part_links,
    run_facts,
)
from harness.report.html.trouble import warnings
from harness.report.markup import NOTHING, Markup, join_markup
from harness.typed import NamedTuple

_NO_CARDS: Mapping[int, tuple[str, str]] = {}
_HEAD = Markup('<b id="%sL%s">%s</b>\n')
_ANY, _BLANK = Markup("%s"), Markup("%s\n")
_TEST = Markup('<b id="%sL%s">%s</b>\n%s\n\n')
_LINKED = Markup('<b id="%sL%s"><a href="%s" class="%s">%s</a></b>\n')
_REPLY, _NO_REPLY = Markup("%s\n\n"), Markup("<i>no reply</i>\n\n")
_COMMENT, _ERROR = Markup("<i>%s</i>\n"), Markup('<span class="e">%s</span>\n\n')
_STRAY = Markup('<span class="e">%s</span>\n')
_STREAM = Markup("<h2>GTP stream</h2>\n")
_FEW = 10  # commands that need no filter
_KINDS = (("all", "All"), ("c", "Commands"), ("r", "Replies"), ("f", "FAILED"), ("e", "Errors"))
_FILTER = filter_tools("Filter the stream", None, [(kind, word, "") for kind, word in _KINDS])
_AT_ONCE = 500  # commands
_RAW, _INVALID = attrgetter("raw"), attrgetter("invalid")
_PART = 2_000_000  # characters of one page; markup and escapes come on top of it


class Links(NamedTuple):
    """What links lead to and from a stream.

    ``cards``: by line the address of a test's card, and a class for its verdict.
    ``prefix``: what the names of its lines begin with.
    """

    cards: Mapping[int, tuple[str, str]] = _NO_CARDS
    prefix: Markup = NOTHING


_NO_LINKS = Links()


def log_pages(
    file: FileResult,
    run: RunResult,
    name: str,
    begin: Sequence[int] = (),
    cards: Mapping[int, tuple[str, str]] = _NO_CARDS,
) -> Iterator[tuple[str, Iterator[Markup]]]:
    """Yield the names and the contents of the pages of one file's log.

    ``name`` is that of the page about its tests. ``begin``: what :func:`part_cuts` returns, if it
    is known. ``cards``: by line the addresses of tests' cards, and a class for their verdicts.
    """
    cuts = [*(begin or part_cuts(file)), len(file.case.steps)]
    for part, (first, end) in enumerate(pairwise(cuts), 1):
        stream = _stream(*_piece(file, first, end), Links(cards))
        body = _body(file, run, name, (part, len(cuts) - 1), (end - first, stream))
        heading = f"Log: {file.case.path}" + (f", part {part}" if part > 1 else "")
        crumbs = (("All files", "index.html"), (file.case.path, link(name)), ("Log", ""))
        frame = PageFrame(crumbs, script=end - first > _FEW, log=True)
        yield part_name(log_name(name), part), page(heading, body, frame)


def log_of(file: FileResult, name: str, begin: Sequence[int] = ()) -> LogPages:
    """Return the addresses of one file's log; ``begin`` as above."""
    steps = file.case.steps
    starts = [1, *(steps[cut - 1].line + 1 for cut in (begin or part_cuts(file))[1:])]
    return LogPages(log_links(name, len(starts)), starts)


def part_cuts(file: FileResult) -> list[int]:
    """Return the steps with which the parts of a log begin."""
    cuts, begun = [0], 0
    answered = list(filter(None, file.replies))
    at_most = sum(map(len, file.case.lines)) + 4 * len(file.case.steps)
    at_most += sum(map(len, map(_RAW, answered))) + sum(map(len, map(_INVALID, answered)))
    if at_most <= _PART:
        return cuts  # without looking closer
    replies = [len(reply[2]) + len(reply[4]) if reply else 0 for reply in file.replies]
    texts = [len(step.text) + 4 for step in file.case.steps]
    if sum(replies) + sum(texts) <= _PART:
        return cuts
    for index, size in enumerate(accumulate(map(add, texts, replies), initial=0)):
        if size - begun > _PART and index < len(texts):
            cuts.append(index)
            begun = size
    return cuts


def _body(
    file: FileResult,
    run: RunResult,
    name: str,
    part: tuple[int, int],
    stream: tuple[int, Iterator[Markup]],
) -> Iterator[Markup]:
    """Yield what a page shows; ``stream``: how many commands it has, and all of it."""
    count, said = stream
    links = part_links(log_name(name), *part)
    yield from (Markup("<h1>Log of %s</h1>") % file.case.path, links)
    if part[0] == 1:
        yield from (run_facts(run, file), _STREAM, _exchanges(file.before))
    yield _FILTER if count > _FEW else NOTHING
    yield Markup('<pre class="log" id="stream" tabindex="0">')
    yield from said
    yield Markup("</pre>%s") % links
    if part[0] == part[1]:
        yield from (_exchanges(one.sent) for one in file.restarts)
        yield from (_exchanges(file.after), _failures(file), warnings(file), _stderr(file))


def conversation(file: FileResult, begin: Sequence[int], links: Links) -> Iterator[Markup]:
    """Yield all that was said, for a page that has more than that; of long ones the beginning.

    ``begin``: what :func:`part_cuts` returns.
    """
    end = [*begin, len(file.case.steps)][1]
    yield _exchanges(file.before)
    yield Markup('<pre class="log" tabindex="0">')
    yield from _stream(*_piece(file, 0, end), links)
    yield Markup("</pre>")
    if end < len(file.case.steps):
        yield Markup("<p>The %s commands after these are not shown.</p>") % (
            len(file.case.steps) - end
        )
    yield from (_exchanges(one.sent) for one in file.restarts)
    yield _exchanges(file.after)


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


def _exchanges(exchanges: Sequence[Exchange]) -> Markup:
    if not exchanges:
        return NOTHING
    filled = _FilledLog()
    for sent, reply in exchanges:
        filled.add(_BLANK, sent)
        _add_reply(filled, reply)
    shown = Markup(
        "<details><summary>Sent by the harness</summary>"
        '<pre class="log" tabindex="0">%s</pre></details>'
    )
    return shown % filled.markup


def _add_reply(filled: _FilledLog, reply: Reply | None) -> None:
    if reply is None:
        filled.add(_NO_REPLY)
        return
    if reply.invalid:
        filled.add(_STRAY, reply.invalid)
    filled.add(_REPLY, reply.raw)


def _stream(file: FileResult, done: int, links: Links = _NO_LINKS) -> Iterator[Markup]:
    """Yield the file line by line, comments too, each command with its reply after it.

    ``done``: lines of the source that are written.
    """
    again = {one.step: one for one in file.restarts}
    for start, end in pairwise(_cuts(file)):
        if start in again:
            yield Markup("<i>The engine was started again.</i>\n")
        if file.replies[start] is None:
            yield _render_unanswered(file, (start, end), done, links)
        else:
            yield from _render_answered(file, (start, end), done, links)
        done = _end(file, end)
    yield _between(file.case.lines[done:])


def _cuts(file: FileResult) -> Iterator[int]:
    """Yield where stretches of the file begin that were answered, or were not, and its end."""
    again = {one.step for one in file.restarts}
    if not again and file.replies and all(file.replies):  # as nearly always
        yield from (0, len(file.replies))
        return
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


class _FilledLog:
    """Markup with places and what fills them, put together at once, which is faster."""

    def __init__(self) -> None:
        self._parts: list[Markup] = []
        self._values: list[object] = []

    def add(self, part: Markup, *values: object) -> None:
        """Put something after all there is."""
        self._parts.append(part)
        self._values += values

    @property
    def markup(self) -> Markup:
        """All of it."""
        return join_markup(self._parts) % tuple(self._values)


def _render_answered(
    file: FileResult,
    stretch: tuple[int, int],
    done: int,
    links: Links,
) -> Iterator[Markup]:
    steps, replies = file.case.steps[slice(*stretch)], file.replies[slice(*stretch)]
    for start in range(0, len(steps), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        yield _exchange_lines(file, steps[some], replies[some], done, links)
        done = steps[some][-1].line


def _exchange_lines(
    file: FileResult,
    steps: Sequence[Step],
    replies: Sequence[Reply | None],
    done: int,
    links: Links,
) -> Markup:
    filled, begin = _FilledLog(), 0
    for place in _find_marked(steps, replies):
        done = _add_plain(filled, file, (steps[begin:place], replies[begin:place]), done)
        step, reply, begin = steps[place], replies[place], place + 1
        _add_between(filled, file, done, step.line)
        if reply and reply.ok and not reply.invalid and step.line not in links.cards:  # most tests
            filled.add(_TEST, links.prefix, step.line, step.text, reply.raw)
        else:
            filled.add(_ANY, _special(step, reply, links))
        done = step.line
    _add_plain(filled, file, (steps[begin:], replies[begin:]), done)
    return filled.markup


def _find_marked(steps: Sequence[Step], replies: Sequence[Reply | None]) -> list[int]:
    """Return the places with markup of their own: tests, errors, replies after stray text."""
    pairs = enumerate(zip(steps, replies, strict=True))
    # By their places, and not their names: there may be 100,000 of them.
    return [place for place, (step, one) in pairs if step[4] or not one or not one[0] or one[4]]


def _add_plain(
    filled: _FilledLog,
    file: FileResult,
    said: tuple[Sequence[Step], Sequence[Reply | None]],
    done: int,
) -> int:
    """Add commands that need no markup, with what stands between them; return the last line."""
    steps, replies = said
    for begin, end in pairwise(_gaps(steps)):
        _add_between(filled, file, done, steps[begin].line)
        pairs = zip(steps[begin:end], replies[begin:end], strict=True)
        texts = [f"{step[1]}\n{reply[2]}\n\n" for step, reply in pairs if reply]
        filled.add(_ANY, "".join(texts))  # escaped together
        done = steps[end - 1].line
    return done


def _gaps(steps: Sequence[Step]) -> list[int]:
    """Return the places of commands before which other lines stand; the first and the end too."""
    if not steps:
        return []
    gaps: list[int] = []
    if steps[-1].line - steps[0].line >= len(steps):
        pairs = enumerate(pairwise(steps), 1)
        gaps = [place for place, (one, other) in pairs if other.line > one.line + 1]
    return [0, *gaps, len(steps)]


def _add_between(filled: _FilledLog, file: FileResult, done: int, line: int) -> None:
    """Add the lines between two commands, as they stand there."""
    if line > done + 1:
        between = "\n".join(file.case.lines[done : line - 1])
        filled.add(_COMMENT if between.strip() else _BLANK, between)


def _render_unanswered(
    file: FileResult, stretch: tuple[int, int], done: int, links: Links
) -> Markup:
    """Return commands without a reply; the first was sent if the engine failed at it."""
    start, end = stretch
    lines, steps = file.case.lines, file.case.steps[start:end]
    named = {step.line for step in steps if step.is_test}
    parts = []
    if any(failure.step == start for failure in file.failures):
        parts += [_between(lines[done : steps[0].line - 1]), _special(steps[0], None, links)]
        done = steps[0].line
    if done < _end(file, end) or end == len(file.replies):
        parts.append(Markup("<i>not sent:</i>\n"))
    for number, line in enumerate(lines[done : _end(file, end)], done + 1):
        anchor = Markup(' id="%sL%s"') % (links.prefix, number) if number in named else NOTHING
        parts.append(Markup("<i%s>%s</i>\n") % (anchor, line))
    return join_markup(parts)


def _between(lines: Sequence[str]) -> Markup:
    """Comments, expectations and blank lines."""
    text = "\n".join(lines)
    return _COMMENT % text if text.strip() else Markup("\n" * len(lines))


def _special(step: Step, reply: Reply | None, links: Links) -> Markup:
    """A test, which links lead to and from, or a command that went wrong."""
    filled = _FilledLog()
    if card := links.cards.get(step.line):
        filled.add(_LINKED, links.prefix, step.line, *card, step.text)
    else:
        filled.add(_HEAD, links.prefix, step.line, step.text)
    if reply is None or reply.ok:
        _add_reply(filled, reply)
    else:
        filled.add(_ERROR, f"{reply.invalid}\n{reply.raw}" if reply.invalid else reply.raw)
    return filled.markup


def _failures(file: FileResult) -> Markup:
    return join_markup(
        box(f"Engine failure: {one.kind.value}", Markup("<p>%s</p>") % one.message)
        for one in file.failures
    )


def _stderr(file: FileResult) -> Markup:
    if not file.stderr:
        return NOTHING
    shown = Markup('<h2 id="stderr">Standard error</h2>\n<pre class="log" tabindex="0">%s</pre>')
    return shown % file.stderr
