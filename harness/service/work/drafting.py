"""Positions for private case files: found or made by a worker, chosen by a teacher.

A worker does what ``gtp-harness generate`` does with game records, and keeps all positions that
can be used. A teacher looks at those that were chosen, drops some and exchanges others, and makes
a case file of the rest. The kill rate of any choice is known at once: each position has with it
which mistakes its tests catch.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.errors import UsageError
from harness.generating import record_reading, scene_production, scene_text
from harness.generating.choices import Choices
from harness.generating.moves import Moves
from harness.generating.pool import Pool
from harness.generating.record_reading import Harvest
from harness.generating.records import Staged
from harness.reading import casefile
from harness.service.courses import cases
from harness.service.records import Job
from harness.service.work.grounds import Ground
from harness.work import canonical_json

_HEADING = ("Private cases", "Made on the pages of gtp-harness serve.")
_GAMES, _FOUND, _KEPT = "games", "found.json", "kept.json"


class Wish(NamedTuple):
    """What somebody wants positions for."""

    tests: int  # at most


class DraftFindings(NamedTuple):
    """What a worker found."""

    candidates: tuple[Staged, ...]
    first: tuple[int, ...]  # places of those that were chosen
    mistakes: tuple[str, ...]  # in the order of the bits of what is caught
    beside: int  # what other private case files catch, as bits
    remarks: tuple[str, ...]  # why some games were not used


class KeptCandidates(NamedTuple):
    """What somebody chose of it: places of candidates."""

    chosen: tuple[int, ...]
    dropped: tuple[int, ...] = ()


class DraftFolder:
    """The folder of a draft."""

    def __init__(self, made: Path, name: str) -> None:
        """``made``: the folder of the assignment; ``name``: the id of the draft."""
        self.folder = made / "drafts" / name

    def begin(self, wish: Wish, games: Iterable[bytes]) -> None:
        """Write down what is wanted, and the game records that it is to be made of."""
        (self.folder / _GAMES).mkdir(mode=0o700, parents=True)
        for number, data in enumerate(games, 1):
            (self.folder / _GAMES / f"{number}.sgf").write_bytes(data)
        self._write("wish.json", wish)

    @property
    def games(self) -> list[str]:
        """The game records."""
        return [str(path) for path in sorted((self.folder / _GAMES).iterdir())]

    def wish(self) -> Wish:
        """Return what is wanted."""
        return canonical_json.loads(Wish, (self.folder / "wish.json").read_text())

    def keep(self, found: DraftFindings) -> None:
        """Write down what was found, and that what was chosen first is chosen."""
        self._write(_FOUND, found)
        self.choose(KeptCandidates(found.first))

    def found(self) -> DraftFindings | None:
        """Return what was found; None: nothing yet."""
        path = self.folder / _KEPT  # written last
        if not path.exists():
            return None
        return canonical_json.loads(DraftFindings, (self.folder / _FOUND).read_text())

    def kept(self) -> KeptCandidates:
        """Return what is chosen."""
        return canonical_json.loads(KeptCandidates, (self.folder / _KEPT).read_text())

    def choose(self, kept: KeptCandidates) -> None:
        """Write down what is chosen now."""
        self._write(_KEPT, kept)

    def _write(self, name: str, record: object) -> None:
        unfinished = self.folder / f"{name}.new"
        unfinished.write_text(canonical_json.dumps(record))
        unfinished.replace(self.folder / name)


# --- found by a worker -------------------------------------------------------------------------


def draft(ground: Ground, job: Job) -> None:
    """Find positions.

    Raises:
        UsageError: nobody knows what is right in this assignment but its case files.
    """
    made = ground.settings.made(ground.assigned.id)
    own = DraftFolder(made, job.about)
    request = _request(ground.wanted.assignment, made, own.wish())
    harvest = _harvest(own, request)
    produced = scene_production.produce(request, harvest, lambda _: None)
    own.keep(_found(produced, harvest, str(own.folder / _GAMES)))


def can_draft(assignment: Assignment) -> bool:
    """Whether positions can be found for an assignment: somebody knows what to look for."""
    declared = assignment.declaration
    return bool(assignment.specification) and not (declared and not declared.extends)


def _request(assignment: Assignment, made: Path, wish: Wish) -> scene_production.SceneRequest:
    specification = assignment.specification
    if specification is None or not can_draft(assignment):
        raise UsageError("positions cannot be found for this assignment: upload case files")
    public = (casefile.parse(p.read_bytes(), str(p)) for p in assignment.public_cases())
    return scene_production.SceneRequest(
        specification,
        Choices(secrets.token_bytes(32)),  # private: nobody can draw the same
        specification.kind.sizes,
        wish.tests,
        secret=True,
        beside=tuple(cases.read(made)),
        excluded=tuple(public),
    )


def _harvest(own: DraftFolder, request: scene_production.SceneRequest) -> Harvest:
    games = own.games
    if not games:
        return Harvest(Pool(), Counter(), Counter())
    kind, sizes = request.specification.kind, request.sizes
    wanted = record_reading.HarvestOptions(kind, request.choices, Moves(), sizes, private=None)
    return record_reading.harvest(games, wanted, 1, lambda *_: None)


def _found(
    produced: scene_production.ProducedScenes, harvest: Harvest, folder: str
) -> DraftFindings:
    candidates = produced.candidates
    places = {id(one): place for place, one in enumerate(candidates)}
    rest = [f"{count} × {why}" for why, count in sorted(harvest.counts.items()) if " " in why]
    return DraftFindings(
        tuple(_kept(one, folder) for one in candidates),
        tuple(places[id(one)] for one in produced.scenes),
        tuple(one.sentence for one in produced.mistakes),
        produced.caught_beside,
        tuple(rest),
    )


def _kept(one: Staged, folder: str) -> Staged:
    """Return a candidate as it is kept: nothing of where the server has its games, short names."""
    find = one.scene.find
    origin = find.moment.origin
    told = origin._replace(text=origin.text.replace(f"{folder}/", "record "))
    asked = (test._replace(identity=(_digest(test.identity),)) for test in one.asked)
    moment = find.moment._replace(origin=told)
    scene = one.scene._replace(find=find._replace(moment=moment))
    return one._replace(scene=scene, asked=tuple(asked))


def _digest(identity: object) -> str:
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]


# --- chosen by a teacher -----------------------------------------------------------------------


def drop(kept: KeptCandidates, place: int) -> KeptCandidates:
    """Return a choice without a position."""
    _require(kept, place)
    chosen = tuple(one for one in kept.chosen if one != place)
    return KeptCandidates(chosen, (*kept.dropped, place))


def exchange(found: DraftFindings, kept: KeptCandidates, place: int) -> KeptCandidates:
    """Return a choice with another position for one: of its kind if there is one, else any.

    Of several the one is taken with which the choice catches most.

    Raises:
        UsageError: there is no other.
    """
    _require(kept, place)
    rest = drop(kept, place)
    able = [one for one in range(len(found.candidates)) if _is_open(found, rest, one)]
    if not able:
        raise UsageError("there is no other position that is not the same as one that is there")
    feature = found.candidates[place].scene.find.feature

    def gain(one: int) -> tuple[bool, int, int]:
        new = found.candidates[one]
        total = caught(found, (*rest.chosen, one)).bit_count()
        return new.scene.find.feature == feature, total, -one

    best = max(able, key=gain)
    return rest._replace(chosen=tuple(best if one == place else one for one in kept.chosen))


def _require(kept: KeptCandidates, place: int) -> None:
    if place not in kept.chosen:
        raise UsageError("this position is not among those chosen any more")


def _is_open(found: DraftFindings, kept: KeptCandidates, place: int) -> bool:
    if place in kept.chosen or place in kept.dropped:
        return False
    taken = {test.identity for one in kept.chosen for test in found.candidates[one].asked}
    return taken.isdisjoint(tuple(test.identity) for test in found.candidates[place].asked)


def caught(found: DraftFindings, chosen: Iterable[int]) -> int:
    """Return the mistakes that positions catch together with other case files, as bits."""
    return reduce(or_, (found.candidates[one].caught for one in chosen), found.beside)


def written(
    assignment: Assignment, found: DraftFindings, kept: KeptCandidates
) -> tuple[str, dict[str, str]]:
    """Return the case file of what is chosen, and the files that its commands name.

    Raises:
        UsageError: nothing is chosen.
    """
    specification = assignment.specification
    if specification is None or not kept.chosen:
        raise UsageError("no position is left: there is nothing to be written")
    staged = [found.candidates[place] for place in kept.chosen]
    text = scene_text.case_file(specification.kind, staged, _HEADING, specification.commands)
    return text, dict(scene_text.files(staged))
