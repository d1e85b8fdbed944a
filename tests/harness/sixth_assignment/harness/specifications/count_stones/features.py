"""What tests of count-stones look at: stones of both colors, and stones that were captured."""

from __future__ import annotations

from random import Random

from harness.vocabulary import made_positions
from harness.vocabulary.scenes import (
    Feature,
    FeatureKind,
    SceneCommand,
    SceneMoment,
    up_to_last,
    whole,
)


def _both_colors(moment: SceneMoment) -> str:
    return "both" if moment.board.black and moment.board.white else ""


def _capture(moment: SceneMoment) -> str:
    return "captured" if moment.taken else ""


def _ask_count(moment: SceneMoment, random: Random) -> list[SceneCommand]:
    loser = "bw"[moment.color == 1]
    return [*up_to_last(moment, random), SceneCommand(f"stones {loser}", asked=True)]


def _anytime(random: Random) -> SceneMoment | None:
    return made_positions.go_anytime(random, (3, 4, 5))


FEATURES = (
    Feature("both-colors", "stones of one color only", _both_colors, _ask_count, _anytime),
    Feature("capture", "captured stones are gone", _capture, _ask_count, _anytime),
)
KIND = FeatureKind("go", range(2, 20), FEATURES, whole, swaps=True)
