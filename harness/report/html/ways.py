"""The ways in which tests failed: equal failures together, the most frequent first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.reading.expectation import ANY, EMPTY, in_words
from harness.records import Outcome, Step, Verdict
from harness.report.html.file import card_addresses
from harness.report.markup import NOTHING, Markup
from harness.report.view import FileView
from harness.text import more, number_of
from harness.typed import NamedTuple
from harness.visible import one_line

_SHOWN, _LINKS = 3, 8  # ways, and tests of one that are linked
_ROOM = 160  # characters of an answer

_CARD = Markup(
    '<article class="card gp"><p class="cn"><b>%s</b><span class="sub">%s</span></p>'
    "<h3><code>%s</code></h3>"
    '<p class="lab">&#10003; Expected</p><pre class="okc">%s</pre>'
    '<p class="lab">&#10005; Got</p><pre class="noc">%s</pre><p class="sub">%s</p></article>\n'
)
_SECTION = Markup(
    '<section aria-label="Ways of failing"><div class="sec-h"><h2>Ways of failing</h2>'
    '<p class="sub">equal failures together%s</p></div><div class="gps">%s</div></section>\n'
)


class _Way(NamedTuple):
    """What is the same for failures of one kind."""

    command: str  # its name
    expected: str  # "": the reply is an error, whatever was expected
    got: str


class _Failed(NamedTuple):
    """One test that failed."""

    view: FileView
    step: Step
    address: str


def ways(views: Sequence[FileView], names: Sequence[str]) -> Markup:
    """Return the ways that are more than one test's; ``names``: of the files' pages."""
    found: dict[_Way, list[_Failed]] = {}
    for view, name in zip(views, names, strict=True):
        for way, failed in _failures(view, name):
            found.setdefault(way, []).append(failed)
    often = [(way, tests) for way, tests in found.items() if len(tests) > 1]
    if not often:
        return NOTHING
    often.sort(key=lambda pair: -len(pair[1]))
    left = len(found) - len(often[:_SHOWN])
    more = f"; {number_of(left, 'other way')} not listed here" if left else ""
    cards = NOTHING.join(_card(way, tests) for way, tests in often[:_SHOWN])
    return _SECTION % (more, cards)


def _failures(view: FileView, name: str) -> Iterator[tuple[_Way, _Failed]]:
    if not view.tally.failed:
        return
    addresses = card_addresses(view, name)
    for outcome in view.remarkable:
        if outcome.verdict is Verdict.FAILED and outcome.reply:
            step = view.file.case.steps[outcome.step]
            yield _way(step, outcome), _Failed(view, step, addresses[step.line][0])


def _way(step: Step, outcome: Outcome) -> _Way:
    reply, name = outcome.reply, step.command.partition(" ")[0]
    assert reply is not None
    got = one_line(reply.text if reply.ok else f"an error: {reply.text}", _ROOM)  # without its id
    return _Way(name, one_line(in_words(step.pattern), _ROOM) if reply.ok else "", got)


def _card(way: _Way, tests: Sequence[_Failed]) -> Markup:
    paths = dict.fromkeys(one.view.file.case.path for one in tests)
    count = f"tests in {number_of(len(paths), 'file')}"
    named = Markup(", ").join(_link(one) for one in tests[:_LINKS])
    rest = more(len(tests) - _LINKS, " and {} more")
    expected, got = way.expected or ANY, way.got or EMPTY
    return _CARD % (len(tests), count, way.command, expected, got, named + rest)


def _link(one: _Failed) -> Markup:
    path = one.view.file.case.path
    name = f"{path.rpartition('/')[2]}:{one.step.line}"
    return Markup('<a href="%s">%s</a>') % (one.address, name)
