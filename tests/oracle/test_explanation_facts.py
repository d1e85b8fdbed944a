"""Explanations and readings as records: what the words say is in the facts, all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from oracle.assignments import ASSIGNMENTS, engine_for
from oracle.errors import OracleError
from oracle.explanation import Fact
from oracle.gtp.protocol import Engine
from oracle.position import GTP_LETTERS, NAMES, SENSEI_LETTERS, parse_vertex
from tests import golden

NUMBER, VERTEX = re.compile(r"-?\d+(?:\.\d+)?"), re.compile(r"\b[A-Z]\d+\b")
SIZES = {
    "go-scoring": (2, 3, 5, 9),
    "java-go": (1, 2, 3, 5, 9),
    "gosensei": (9,),
    "gomoku-rules": (5, 7, 10),
    "gomoku-policy": (5, 7, 10),
}
QUESTIONS = {
    "go-scoring": ("score", "final_score"),
    "java-go": ("score b", "score w", "is_captured {}", "is_legal b {}", "is_legal w {}"),
    "gosensei": ("eyes", "twoeyes", "eyespaces"),
    "gomoku-rules": ("gogui-rules_final_result", "gogui-rules_legal_moves"),
    "gomoku-policy": ("policy_moves", "gogui-rules_final_result"),
}
KINDS = Path(__file__).with_name("golden_facts") / "sentences.txt"


def draw_engines(assignment: str, random: Random) -> Iterator[tuple[Engine, str]]:
    """Yield an engine with a drawn board, and each question that can be asked about it."""
    engine, size = engine_for(assignment), random.choice(SIZES[assignment])
    names = [f"{letter}{row}" for letter in GTP_LETTERS[:size] for row in range(1, size + 1)]
    density = random.choice((0, 0.1, 0.2, 0.2, 0.3, 0.5, 0.9, 1))
    share = random.choice((0.5, 0.5, 0.95))
    stones = [
        f"{'b' if random.random() < share else 'w'} {name}"
        for name in names
        if random.random() < density
    ]
    policy = random.choice(("random", "rule_based", "rule_based"))
    settings = [f"policy {policy}", f"komi {random.choice(('0', '6.5', '-3.25'))}"]
    for command in (f"boardsize {size}", *settings, " ".join(["gogui-setup", *stones])):
        engine.handle(command)
    for question in QUESTIONS[assignment]:
        yield engine, question.format(random.choice(names))


def positions(count: int) -> Iterator[tuple[str, Engine, str]]:
    random = Random(11)
    for _ in range(count):
        for assignment in ASSIGNMENTS:
            for engine, question in draw_engines(assignment, random):
                yield assignment, engine, question


# --- the facts ---------------------------------------------------------------------------------


COLORS = ("color", "me", "you", "stone")
POINTS = ("line", "four", "ends", "three", "blocks", "which", "corners", "eyes")


def read(fact: Fact, letters: str, facts: dict[str, object]) -> object:
    """Return the value that the words of a fact say; ``facts``: all of its sentence."""
    if fact.name in COLORS:
        return NAMES.index(fact.words.lower())
    if fact.name == "colors":
        both = fact.words == "stones of both colors"
        return tuple(color for color in (1, 2) if both or NAMES[color] in fact.words)
    if fact.name == "within":
        return tuple(re.findall("rows|columns", fact.words))
    if fact.name == "score":
        return fact.words
    found = [parse_vertex(name, 25, 25, letters) for name in VERTEX.findall(fact.words)]
    if fact.name in POINTS:
        return tuple(found)
    if fact.name == "completions":
        found.insert(0, facts["point"])  # it begins the sentence
        return tuple(
            (a, (b, c)) for a, b, c in zip(found[::3], found[1::3], found[2::3], strict=True)
        )
    return found[0] if found else read_numbers(fact)


def read_numbers(fact: Fact) -> object:
    if fact.words == "no liberty":
        return 0
    figures = [Decimal(figure) for figure in NUMBER.findall(fact.words)]
    if fact.name == "sizes":
        return tuple(figures)
    (figure,) = figures
    return figure


def test_every_number_point_and_color_of_a_sentence_is_a_fact():
    names: dict[tuple[str, str], set[str]] = {}
    for assignment, engine, question in positions(200):
        letters = SENSEI_LETTERS if assignment == "gosensei" else GTP_LETTERS
        for sentence in engine.explain(question).sentences:
            facts = [part for part in sentence.parts if isinstance(part, Fact)]
            plain = " ".join(part for part in sentence.parts if isinstance(part, str))
            assert not re.search(r"\d|[Bb]lack|[Ww]hite", plain), sentence
            assert len({fact.name for fact in facts}) == len(facts), sentence
            assert sentence.facts == {fact.name: fact.value for fact in facts}
            for fact in facts:
                assert read(fact, letters, sentence.facts) == fact.value, (sentence.text, fact)
            names.setdefault((assignment, sentence.name), set()).update(sentence.facts)
    # Programs read them by these names, so each kind must come up here.
    lines = [f"{', '.join((*kind, *sorted(names[kind])))}\n" for kind in sorted(names)]
    golden.check(KINDS, "".join(lines))


# --- the commands say the same -----------------------------------------------------------------


def test_a_command_that_is_refused_is_not_explained():
    with pytest.raises(OracleError):
        engine_for("java-go").explain("is_legal b Z99")


# --- records -----------------------------------------------------------------------------------
