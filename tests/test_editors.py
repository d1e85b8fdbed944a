"""The editor grammar reads our own case files as we read them."""

import json
import plistlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.core.errors import CaseError
from harness.core.records import CaseFile
from harness.reading import casefile
from tests import golden

ROOT = Path(__file__).parents[1]
VSCODE = ROOT / "editors" / "vscode"
SUBLIME = ROOT / "editors" / "sublime" / "GTP.tmLanguage"
GRAMMAR = json.loads((VSCODE / "gtp.tmLanguage.json").read_text())
Token = tuple[str, str]  # scope and text


class Tokenizer:
    """As much of TextMate as the grammar uses: match, captures, include and patterns."""

    def __init__(self) -> None:
        self._rules = {name: self._flat(one) for name, one in GRAMMAR["repository"].items()}

    def line(self, text: str) -> list[Token]:
        """Return what has a scope in a line, in order."""
        return list(self._tokens(GRAMMAR["patterns"], text, 0, len(text)))

    def _flat(self, rule: dict) -> list[dict]:
        return rule.get("patterns", [rule])

    def _tokens(self, patterns: list[dict], text: str, start: int, end: int) -> Iterator[Token]:
        rules = [rule for one in patterns for rule in self._rules[one["include"][1:]]]
        while start < end:
            tried = [(re.compile(rule["match"]).search(text, start, end), rule) for rule in rules]
            found = [(match.start(), place, match, rule)
                     for place, (match, rule) in enumerate(tried) if match]  # fmt: skip
            if not found:
                return
            _, _, match, rule = min(found, key=lambda one: one[:2])
            yield from self._captured(match, rule, text)
            start = max(match.end(), start + 1)

    def _captured(self, match: re.Match, rule: dict, text: str) -> Iterator[Token]:
        if "name" in rule:
            yield rule["name"], match[0]
        for number, own in sorted(rule.get("captures", {}).items()):
            if match[int(number)]:
                if "name" in own:
                    yield own["name"], match[int(number)]
                yield from self._tokens(own.get("patterns", []), text, *match.span(int(number)))


TOKENIZER = Tokenizer()


def read(line: str) -> dict[str, str]:
    """Return what is in a line by the scope; of texts with the same one the last."""
    return dict(TOKENIZER.line(line))


def own_files() -> list[CaseFile]:
    folders = [ROOT / "cases", ROOT / "tests" / "harness"]
    paths = sorted(path for one in folders for path in one.rglob("*.gtp"))
    found = []
    for path in paths:
        try:
            found.append(casefile.read(str(path)))
        except CaseError:
            continue
    return found


def test_our_case_files_are_read_as_we_read_them() -> None:
    files = own_files()
    assert len(files) > 60
    for case in files:
        steps = {step.line: step for step in case.steps}
        for number, line in enumerate(case.lines, 1):
            found, step = read(line), steps.get(number)
            place = f"{case.path}:{number}"
            command = found.get("entity.name.function.command.gtp")
            assert command == (step.command.split()[0] if step else None), place
            id_ = found.get("constant.numeric.id.gtp")
            assert (int(id_) if id_ else -1) == (step.id if step else -1), place
            is_expectation = "keyword.control.expectation.gtp" in found
            assert is_expectation == line.strip().startswith("#?"), place
            assert not [scope for scope in found if scope.startswith("invalid")], place
            if is_expectation and (pattern := steps[number - 1].pattern):
                assert found.get("string.regexp.gtp", "").strip() == pattern.text, place
                assert ("keyword.operator.negation.gtp" in found) == pattern.negated, place


@pytest.mark.parametrize("line", ["#? [0", "#? 0]", "#? [0] x", "#? [0]**", "#? x"])
def test_what_is_refused_is_marked(line: str) -> None:
    with pytest.raises(CaseError):
        casefile.parse(f"10 score\n{line}\n".encode(), "a.gtp")
    assert read(line) == {"invalid.illegal.expectation.gtp": line}


def test_both_editors_have_the_same_grammar() -> None:
    golden.check(SUBLIME, plistlib.dumps(GRAMMAR).decode())
    assert plistlib.loads(SUBLIME.read_bytes()) == GRAMMAR
