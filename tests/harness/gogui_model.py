"""What gogui-regress does with one case file, written anew and as short as it can be.

From the behavior of GoGui 1.5: a line at a time, each sent when it is read, judged when the next
one comes. Where something is wrong the whole program ends, with exit status 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.text import BLANKS

_ID = re.compile(r"[+-]?[0-9]+")


class GoguiRegress:
    """A run of one case file; ``replies``: as the engine writes them, status and id included."""

    def __init__(self, *, long: bool) -> None:
        self.long = long
        self.lines: list[str] = []
        self.has_failed = False
        self.counts = dict.fromkeys(("passed", "PASSED", "failed", "FAILED"), 0)
        self.command = ""
        self.id = -1
        self.reply: str | None = None  # that is not judged yet

    def run(self, text: str, replies: Iterator[str]) -> int:
        """Read the file; return the exit status."""
        try:
            for line in re.split(r"\r\n|\r|\n", text):
                self.read(line.strip(BLANKS), replies)
        except (ValueError, re.error):
            return 2
        self.judge_without_pattern()
        if self.long:
            passes = self.counts["passed"] + self.counts["PASSED"]
            self.lines.append(
                f"Summary: {passes}/{sum(self.counts.values())} passes."
                f" {self.counts['PASSED']} unexpected passes,"
                f" {self.counts['FAILED']} unexpected failures"
            )
        return int(self.has_failed)

    def read(self, line: str, replies: Iterator[str]) -> None:
        if line.startswith("#?"):
            if self.reply is None:
                raise ValueError("no command before it")
            self.judge(line[2:].strip(BLANKS))
            self.reply = None
            return
        self.judge_without_pattern()
        if line and not line.startswith("#"):
            word, blank, _ = line.replace("\t", " ").partition(" ")
            number = int(word) if blank and _ID.fullmatch(word) else -1
            self.id = number if 0 <= number < 2**31 else -1
            self.reply = next(replies)

    def judge_without_pattern(self) -> None:
        if self.reply is not None and self.id >= 0:
            is_error = self.reply.startswith("?")
            self.counts["FAILED" if is_error else "passed"] += 1
            if is_error:  # which is told, and does not change the exit status
                _, blank, rest = self.reply.partition(" ")
                text = rest if blank else self.reply[1:]
                told = f": '{text}'" if text else ""
                self.lines.append(f"{self.id} unexpected FAIL{told}")
        self.reply = None

    def judge(self, pattern: str) -> None:
        if not pattern:
            self.judge_without_pattern()
            return
        assert self.reply is not None
        body = pattern.removesuffix("*")
        if not (body.startswith("[") and body.endswith("]") and len(body) > 1):
            raise ValueError("a bracket is missing")
        expected = body[1:-1].strip(BLANKS)
        text = self.reply.partition(" ")[2].strip(BLANKS)
        passes = self.reply.startswith("=") and self.matches(expected, text)
        self.tell(passes, expected, text, is_starred=pattern.endswith("*"))

    def matches(self, expected: str, text: str) -> bool:
        is_negated = expected.startswith("!")
        compiled = re.compile(expected.removeprefix("!"), re.DOTALL | re.MULTILINE | re.ASCII)
        return (compiled.fullmatch(text) is not None) is not is_negated

    def tell(self, passes: bool, expected: str, text: str, *, is_starred: bool) -> None:
        verdict = "passed" if passes else "failed"
        verdict = verdict if passes is not is_starred else verdict.upper()
        self.counts[verdict] += 1
        self.has_failed |= verdict == "FAILED"
        mismatch = f"Correct '{expected}', got '{text}'"
        long = f"{verdict}: {mismatch}" if not passes else verdict
        plain = {"FAILED": f"unexpected FAIL: {mismatch}", "PASSED": "unexpected PASS!"}
        if self.long or verdict in plain:
            self.lines.append(f"{self.id} {long if self.long else plain[verdict]}")
