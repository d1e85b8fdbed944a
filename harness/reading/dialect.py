"""Ways to read the same case files: gogui-regress's, ours and to the letter, and GNU Go's own.

They differ in which pattern belongs to which test and in what a pattern is matched against. A
:class:`Dialect` has all of the difference. A file in a format of its own is judged in its own way,
whatever the dialect: :func:`harness.reading.casefile.dialect_of` knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from harness.core.errors import PatternError, UndecidedError, UsageError
from harness.core.records import Outcome, Pattern, Reply, Step, Verdict
from harness.core.text import BLANKS
from harness.reading import pattern


class Dialect:
    """Dialect of gogui-regress."""

    name = "gogui"
    needs_tests = True  # whether a run in which nothing is tested is an error
    needs_answers = True  # whether an error fails the run where no pattern is expected
    settles_late = False  # whether an outcome may be another one at the end of the file
    expects_errors = False  # whether an error may be the answer that is expected
    # Returns a reply with the text that is judged; None if that is its text.
    judged: Callable[[Reply], Reply] | None = None

    def pattern_part(self, line: str) -> str | None:
        """Return the rest of a line that begins with ``#?``."""
        return line.strip(BLANKS)[2:]

    def read_pattern(self, text: str) -> Pattern | None:
        """Read what follows ``#?``; None for a test without a pattern."""
        return pattern.read_gogui(text)

    def refuse_pattern(self, *, second: bool) -> None:
        """Refuse a pattern that does not follow its command, or is its second; or let it pass.

        Raises:
            PatternError: always, in this dialect.
        """
        if second:
            raise PatternError("found a second pattern for one command, expected a command")
        raise PatternError(
            "found a pattern that belongs to no command,"
            " expected it in the line right after its command"
        )

    def find_refusal(self, expected: Pattern) -> str:
        """Return why no reply can be matched with a pattern that was read; "" if it can."""
        return ""

    def settle(self, steps: list[Step]) -> list[Step]:
        """Return the steps of a whole file as they are to be judged."""
        return steps

    def verdict(self, expected: Pattern | None, reply: Reply) -> Verdict:
        """Judge a reply. One that begins with ``?`` fails, whatever is expected.

        Raises:
            UndecidedError: matching takes too long.
        """
        if expected is None:
            return Verdict.PASSED if reply.ok else Verdict.FAILED
        matches = reply.ok and bool(pattern.matcher(expected.expression)(reply.text))
        return _verdict(expected, reply.ok and matches is not expected.negated)

    def settle_outcomes(self, steps: Sequence[Step], outcomes: list[Outcome]) -> list[Outcome]:
        """Return the outcomes of a whole file as they are to be reported."""
        return outcomes


class Compatible(Dialect):
    """Dialect of gogui-regress with its exit statuses.

    It looks at a pattern when the command is answered without an error, and not before.
    """

    name = "compatible"
    needs_tests = False
    needs_answers = False

    def read_pattern(self, text: str) -> Pattern | None:
        return pattern.split_gogui(text)

    def find_refusal(self, expected: Pattern) -> str:
        try:
            pattern.matcher(expected.expression)
        except PatternError as error:
            return str(error)
        return ""

    def verdict(self, expected: Pattern | None, reply: Reply) -> Verdict:
        """Judge a reply.

        Raises:
            UndecidedError: the pattern is refused, or matching takes too long.
        """
        try:
            return super().verdict(expected, reply)
        except PatternError as error:
            raise UndecidedError(str(error)) from None


class GnuGo(Dialect):
    """GNU Go's ``regress.awk``: it keeps one pattern and one reply for each id."""

    name = "gnugo"
    settles_late = True

    def pattern_part(self, line: str) -> str | None:
        return line[2:] if line.startswith("#?") else None

    def read_pattern(self, text: str) -> Pattern | None:
        return pattern.read_gnugo(text)

    def refuse_pattern(self, *, second: bool) -> None:
        """A second one replaces the first; any other is kept under an id that no test has."""

    def settle(self, steps: list[Step]) -> list[Step]:
        """The last pattern of an id is that of all its tests; without one, nothing is expected."""
        last = {step.id: step.pattern for step in steps if step.pattern is not None}
        nothing = pattern.read_gnugo("[]")
        return [
            step._replace(
                is_test=step.id >= 0, pattern=last.get(step.id, nothing) if step.id >= 0 else None
            )
            for step in steps
        ]

    def verdict(self, expected: Pattern | None, reply: Reply) -> Verdict:
        assert expected is not None  # settle() gave every test one
        if expected.ignored:
            return Verdict.IGNORED
        matches = bool(pattern.searcher(expected.expression)(_first_line(reply)))
        return _verdict(expected, matches is not expected.negated)

    def settle_outcomes(self, steps: Sequence[Step], outcomes: list[Outcome]) -> list[Outcome]:
        """The last reply with an id is that of all its tests, and its first line is all of it."""
        last = {
            steps[outcome.step].id: outcome._replace(reply=reply._replace(text=_first_line(reply)))
            for outcome in outcomes
            if (reply := outcome.reply)
        }
        return [
            last[steps[outcome.step].id]._replace(step=outcome.step) if outcome.reply else outcome
            for outcome in outcomes
        ]


GOGUI = Dialect()
DIALECTS = {dialect.name: dialect for dialect in (GOGUI, Compatible(), GnuGo())}


def find_dialect(name: str) -> Dialect:
    """Return the dialect called ``name``.

    Raises:
        UsageError: there is none.
    """
    try:
        return DIALECTS[name]
    except KeyError:
        known = ", ".join(sorted(DIALECTS))
        raise UsageError(f"unknown dialect {name!r}; there are {known}") from None


def _first_line(reply: Reply) -> str:
    # regress.awk takes the id and the blanks after it off the first line, nothing off its end.
    return re.sub("[=?][0-9]* *", "", reply.raw.partition("\n")[0], count=1)


def _verdict(expected: Pattern, passes: bool) -> Verdict:
    if expected.expected_fail:
        return Verdict.UNEXPECTED_PASS if passes else Verdict.EXPECTED_FAIL
    return Verdict.PASSED if passes else Verdict.FAILED
