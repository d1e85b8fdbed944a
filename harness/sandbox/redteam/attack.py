"""The description of an attack: one row of a roster."""

from __future__ import annotations

from typing import NamedTuple

PYTHON = ("attacks", "holding", "spending", "reaching", "breaking", "channels")


class Attack(NamedTuple):
    """One hostile program, or two where the second one profits from the first."""

    program: str  # a function of the file ``source``
    title: str  # follows "an engine that tries to"
    layer: dict[int, str]  # level → what stops it
    then: str = ""  # the program that runs in the next box
    leaks: frozenset[int] = frozenset()  # levels that cannot hold it, and say so
    patience: float = 8.0  # seconds until it is ended
    source: str = "attacks"  # the file beside this one without its ending, or a language
    cpu: float = 20.0  # the limit of CPU time, in seconds
    at: str = "run"  # or "build": the same program as a build step, which may write
    receiver: str = (
        ""  # of a channel: "next", in the next box, or "beside", in one at the same time
    )
    bits: int = 256  # that are sent through a channel

    @property
    def name(self) -> str:
        """By which the threat model knows it."""
        source = "" if self.source in PYTHON else f".{self.source}"
        where = self.receiver or ("" if self.at == "run" else self.at)
        return f"{self.program}{source}{where and '@'}{where}"


def at_build(attack: Attack, layer: str = "") -> Attack:
    """Return the same attack as a build step; ``layer``: what stops it there, if not the same."""
    layers = dict.fromkeys((3, 2, 1), layer) if layer else attack.layer
    return attack._replace(at="build", title=f"{attack.title} (build)", layer=layers)
