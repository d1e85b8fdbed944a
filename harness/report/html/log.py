"""The log page: the GTP stream as it was, with the file's comments, and standard error apart.

A file may have 100,000 commands, so that whole stretches of the stream are joined and escaped at
once; only tests and errors are markup of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, pairwise
from operator import add, attrgetter

from harness.core.records import FileResult, Reply, RunResult, Step
from harness.core.typed import NamedTuple
from harness.report.html.page_names import LogPages, link, log_name, part_name
from harness.report.html.parts import PageFrame, page, part_links, warnings
from harness.report.html.templates import Markup, Template

_NO_CARDS: Mapping[int, tuple[str, str]] = {}
_FEW = 10  # commands that need no filter
_AT_ONCE = 50  # commands
_RAW, _INVALID = attrgetter("raw"), attrgetter("invalid")
_PART = 2_000_000  # characters of one page; markup and escapes come on top of it


class Links(NamedTuple):
    """Links to and from a stream.

    ``cards``: by line the address of a test's card, and a class for its verdict.
    ``prefix``: what the names of its lines begin with.
    """

    cards: Mapping[int, tuple[str, str]] = _NO_CARDS
    prefix: str = ""


_template = Template("report/html/log.html")


def log_pages(
    file: FileResult,
    run: RunResult,
    name: str,
    begin: Sequence[int],
    cards: Mapping[int, tuple[str, str]],
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the names and the contents of the pages of one file's log.

    ``name`` is that of the page about its tests. ``begin``: what :func:`part_cuts` returns.
    ``cards``: by line the addresses of tests' cards, and a class for their verdicts.
    """
    cuts = [*begin, len(file.case.steps)]
    count = len(cuts) - 1
    for part, (first, end) in enumerate(pairwise(cuts), 1):
        links = part_links(log_name(name), part, count)
        body = chain(
            [_template.start(run, file, part == 1, links, end - first)],
            _stream(*_piece(file, first, end), Links(cards)),
            [_template.end(file, part == count, links, warnings(file))],
        )
        heading = f"Log: {file.case.path}" + (f", part {part}" if part > 1 else "")
        crumbs = (("All files", "index.html"), (file.case.path, link(name)), ("Log", ""))
        frame = PageFrame(crumbs, script=end - first > _FEW, log=True)
        yield part_name(log_name(name), part), page(heading, body, frame)


def log_of(file: FileResult, name: str, begin: Sequence[int]) -> LogPages:
    """Return the addresses of one file's log; ``begin`` as above."""
    steps = file.case.steps
    starts = [1, *(steps[cut - 1].line + 1 for cut in begin[1:])]
    names = (part_name(log_name(name), part) for part in range(1, len(starts) + 1))
    return LogPages([*map(link, names)], starts)


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


def conversation(file: FileResult, begin: Sequence[int], links: Links) -> Iterator[Markup]:
    """Yield all that was said, for a page that has more than that; of long ones the beginning.

    ``begin``: what :func:`part_cuts` returns.
    """
    end = [*begin, len(file.case.steps)][1]
    yield _template.before(file)
    yield from _stream(*_piece(file, 0, end), links)
    yield _template.after(file, len(file.case.steps) - end)


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


# A part of a stream: its kind; the name, the text, the reply and the card of a command.
_Part = tuple[str, str, str, Reply | str | None, tuple[str, str] | None]


def _stream(file: FileResult, line_count: int, links: Links) -> Iterator[Markup]:
    """Yield the file line by line, comments too, each command with its reply after it.

    ``line_count``: lines of the source that are written.
    """
    parts = _parts(file, line_count, links)
    while some := list(islice(parts, _AT_ONCE)):
        yield _template.stream(some)


def _parts(file: FileResult, line_count: int, links: Links) -> Iterator[_Part]:
    again = {one.step for one in file.restarts}
    for start, end in pairwise(_cuts(file)):
        if start in again:
            yield _text("comment", "The engine was started again.")
        if file.replies[start] is None:
            yield from _unanswered(file, (start, end), line_count, links)
        else:
            steps, replies = file.case.steps[start:end], file.replies[start:end]
            yield from _answered(file.case.lines, steps, replies, line_count, links)
        line_count = _end(file, end)
    yield from _between(file.case.lines[line_count:])


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


def _answered(
    lines: Sequence[str],
    steps: Sequence[Step],
    replies: Sequence[Reply | None],
    line_count: int,
    links: Links,
) -> Iterator[_Part]:
    # What has markup of its own: tests, errors, replies after stray text. By their places, and not
    # their names: there may be 100,000 of them.
    pairs = enumerate(zip(steps, replies, strict=True))
    marked = [place for place, (step, one) in pairs if step[4] or not one or not one[0] or one[4]]
    begin = 0
    for place in [*marked, len(steps)]:
        # Commands that need no markup are escaped together.
        for first, end in pairwise(_gaps(steps[begin:place]) if begin < place else ()):
            some = slice(begin + first, begin + end)
            yield from _between(lines[line_count : steps[some.start].line - 1])
            exchanges = zip(steps[some], replies[some], strict=True)
            texts = [f"{step[1]}\n{one[2]}\n\n" for step, one in exchanges if one]
            yield _text("plain", "".join(texts))
            line_count = steps[some.stop - 1].line
        if place < len(steps):
            step, reply, begin = steps[place], replies[place], place + 1
            yield from _between(lines[line_count : step.line - 1])
            yield _command(step, reply, links)
            line_count = step.line


def _gaps(steps: Sequence[Step]) -> list[int]:
    """Return the places of commands before which other lines stand; the first and the end too."""
    gaps: list[int] = []
    if steps[-1].line - steps[0].line >= len(steps):
        pairs = enumerate(pairwise(steps), 1)
        gaps = [place for place, (one, other) in pairs if other.line > one.line + 1]
    return [0, *gaps, len(steps)]


def _between(lines: Sequence[str]) -> Iterator[_Part]:
    """Yield comments, expectations and blank lines as they stand between two commands."""
    if lines:
        text = "\n".join(lines)
        yield _text("comment", text) if text.strip() else _text("plain", f"{text}\n")


def _unanswered(
    file: FileResult, stretch: tuple[int, int], line_count: int, links: Links
) -> Iterator[_Part]:
    """Yield commands without a reply; the first was sent if the engine failed at it."""
    start, end = stretch
    lines, steps = file.case.lines, file.case.steps[start:end]
    named = {step.line for step in steps if step.is_test}
    if any(failure.step == start for failure in file.failures):
        yield from _between(lines[line_count : steps[0].line - 1])
        yield _command(steps[0], None, links)
        line_count = steps[0].line
    if line_count < _end(file, end) or end == len(file.replies):
        yield _text("comment", "not sent:")
    for number, line in enumerate(lines[line_count : _end(file, end)], line_count + 1):
        name = f"{links.prefix}L{number}"
        yield ("unsent", name, line, None, None) if number in named else _text("comment", line)


def _command(step: Step, reply: Reply | None, links: Links) -> _Part:
    """Return a test, which links lead to and from, or a command that went wrong."""
    name, card = f"{links.prefix}L{step.line}", links.cards.get(step.line)
    if reply and reply.ok and not reply.invalid and not card:  # most tests
        return "test", name, step.text, reply.raw, None
    return "command", name, step.text, reply, card


def _text(kind: str, text: str) -> _Part:
    return kind, "", text, None, None
