"""Positions as candidates, as ``gtp-harness generate`` makes them where the rules are known."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.assignments.assignment import Assignment
from harness.generating import record_reading, scene_production, scene_text
from harness.generating.choices import Choices
from harness.generating.moves import Moves
from harness.generating.record_reading import Harvest
from harness.generating.records import Staged
from harness.judging import strength
from harness.records import CaseFile
from harness.service.work import candidates
from harness.service.work.candidates import (
    HEADING,
    Candidate,
    CandidateBoard,
    CandidateTest,
    DraftFindings,
    PublicCatch,
    Sought,
)
from harness.work import canonical_json


class SceneMaker:
    """Makes candidates of scenes."""

    def find(self, sought: Sought) -> DraftFindings:
        """Return scenes that catch what nothing has caught, and all that could be used instead."""
        request = scene_production.SceneRequest(
            sought.specification,
            Choices(secrets.token_bytes(32)),  # private: nobody can draw the same
            sought.specification.kind.sizes,
            sought.tests,
            secret=True,
            beside=sought.private,
            excluded=sought.public,
        )
        harvest = _harvest(sought.games, request)
        produced = scene_production.produce(request, harvest, sought.on_step)
        places = {id(one): place for place, one in enumerate(produced.candidates)}
        return DraftFindings(
            tuple(_candidate(one, sought) for one in produced.candidates),
            tuple(places[id(one)] for one in produced.scenes),
            tuple(one.sentence for one in produced.mistakes),
            produced.caught_beside,
            candidates.remarks(harvest.counts),
            tuple(_measure_public(one, sought) for one in sought.public),
        )

    def write(
        self, assignment: Assignment, chosen: Sequence[Candidate]
    ) -> tuple[str, Mapping[str, bytes]]:
        """Return the text of a case file, and the files that its commands name."""
        specification = assignment.specification
        assert specification
        staged = [canonical_json.loads(Staged, one.record) for one in chosen]
        commands = specification.commands
        text = scene_text.case_file(specification.kind, staged, HEADING, commands)
        files = scene_text.files(staged)
        return text, {name: files[name].encode() for name in files}


def _measure_public(case: CaseFile, sought: Sought) -> PublicCatch:
    found = strength.measure([case], sought.specification)
    return PublicCatch(Path(case.path).name, found.caught)


def _harvest(games: Sequence[str], request: scene_production.SceneRequest) -> Harvest:
    if not games:
        return Harvest.empty()
    kind, sizes = request.specification.kind, request.sizes
    wanted = record_reading.HarvestOptions(kind, request.choices, Moves(), sizes, private=None)
    return record_reading.harvest(games, wanted, 1, lambda *_: None)


def _candidate(one: Staged, sought: Sought) -> Candidate:
    find = one.scene.find
    kept = _strip_origin(one, sought.games)
    sentences = {each.name: each.sentence for each in sought.specification.kind.features}
    return Candidate(
        kind=find.feature.replace("-", " "),
        sentence=sentences[find.feature],
        origin=scene_text.provenance(kept.scene.find.moment),
        board=CandidateBoard.of(find.moment.position(), sought.specification.board.letters),
        setup=(),
        tests=_tests(one, sought),
        identities=tuple(candidates.digest(test.identity) for test in one.asked),
        caught=one.caught,
        record=canonical_json.dumps(kept),
    )


def _tests(one: Staged, sought: Sought) -> tuple[CandidateTest, ...]:
    return tuple(
        candidates.word_test(sought.specification, test.command, test.expression, test.reason)
        for test in one.asked
    )


def _strip_origin(one: Staged, games: Sequence[str]) -> Staged:
    """Return a scene as it is kept: nothing of where the server has its games."""
    find = one.scene.find
    origin = find.moment.origin
    told = origin._replace(text=candidates.without_folder(origin.text, games))
    asked = tuple(test._replace(identity=()) for test in one.asked)
    moment = find.moment._replace(origin=told)
    return one._replace(scene=one.scene._replace(find=find._replace(moment=moment)), asked=asked)
