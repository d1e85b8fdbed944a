"""The count of a right score as a table, made from the facts of its explanation. Pure."""

from __future__ import annotations

from harness.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.explanation import Explanation, Fact, Sentence

# Facts of a sentence that adds up the points of a color, by their names, and what they are called.
_COLUMNS = {
    "stones": "Stones",
    "prisoners": "Prisoners",
    "points": "Territory",
    "territory": "Territory",
    "komi": "Komi",
    "total": "Total",
}
_NONE = "–"  # in the place of what a color does not have


class Count(NamedTuple):
    """How a score is counted."""

    heads: tuple[str, ...]  # of the figures
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # a color, and its figures
    result: tuple[str, str] = ("", "")  # who leads and by how much; of both colors only


def counts(found: Mapping[int, Explanation]) -> dict[int, Count]:
    """Return the tables of those explanations that add up something."""
    made = ((step, count_of(why)) for step, why in found.items())
    return {step: count for step, count in made if count}


def count_of(why: Explanation) -> Count | None:
    """Return the table of an explanation; None if it adds up nothing."""
    sums = [_facts(one) for one in why.sentences]
    sums = [facts for facts in sums if "color" in facts and "total" in facts]
    if not sums:
        return None
    names = [name for name in _COLUMNS if any(name in facts for facts in sums)]
    rows = tuple((_who(facts), tuple(_figure(facts, name) for name in names)) for facts in sums)
    return Count(tuple(_COLUMNS[name] for name in names), rows, _result(sums))


def _facts(sentence: Sentence) -> dict[str, Fact]:
    return {part.name: part for part in sentence.parts if not isinstance(part, str)}


def _who(facts: dict[str, Fact]) -> str:
    return str(facts["color"]).capitalize()


def _figure(facts: dict[str, Fact], name: str) -> str:
    if name not in facts:
        return _NONE
    value = facts[name].value  # the words of a whole number have its noun
    return str(value) if isinstance(value, int) else str(facts[name])


def _result(sums: Sequence[dict[str, Fact]]) -> tuple[str, str]:
    if len(sums) != len(("Black", "White")):
        return "", ""
    from oracle.komi import exact, plain_text

    (one, points), (other, others) = ((_who(facts), facts["total"].value) for facts in sums)
    is_whole = isinstance(points, int) and isinstance(others, int)
    more = points - others if is_whole else exact().subtract(points, others)
    if not more:
        return "A draw", plain_text(more)
    return f"{one if more > 0 else other} leads by", plain_text(abs(more))
