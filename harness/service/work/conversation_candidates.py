"""Tests of drawn conversations as candidates, for a game that a teacher declared.

Nobody here knows the rules: the reference answers, and the programs that the assignment declares
to be wrong say what a test is worth. A board is drawn where the reports draw one.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from harness.assignments import banked
from harness.assignments.assignment import Assignment
from harness.banks.bank_runs import EngineBench
from harness.declared.declaration import Declaration
from harness.declared.engine import ReferenceEngine
from harness.generating.choices import Choices
from harness.generating.own import openings, test_production, test_text
from harness.generating.own.records import Draft
from harness.generating.own.test_drafting import Drafter
from harness.generating.own.test_production import ProducedTests, TestRequest
from harness.judging.board_replay import boards
from harness.reading import casefile
from harness.records import FileResult, Reply
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
from harness.service.work.watched_asking import MOST_HUNG, WatchedAsker
from harness.specifications.record import Specification
from harness.work import canonical_json

_ROUNDS = 4  # of drawing at most: somebody waits in front of a page
_OTHERS = 20  # tests of a command that are kept to be exchanged for


class ConversationMaker:
    """Makes candidates of tests of conversations."""

    def find(self, sought: Sought) -> DraftFindings:
        """Return tests that catch what nothing has caught, and some that could be used instead."""
        assignment, declaration = sought.assignment, sought.assignment.declaration
        assert declaration
        choices = Choices(secrets.token_bytes(32))  # private: nobody can draw the same
        records = openings.Records(sought.specification, declaration, choices, private=None)
        positions = [
            *records.openings(sought.games),
            *openings.of_cases(sought.private, declaration),
        ]
        drafter = Drafter(sought.specification, declaration, assignment.place, positions)
        with banked.engines(assignment, (), (), sought.sandbox) as engines:
            commands, protocol = sought.specification.commands, assignment.protocol
            asked = WatchedAsker(commands, sought.sandbox, protocol, sought.on_ask, MOST_HUNG)
            bench = EngineBench(engines, sought.specification, assignment.place, asked)
            request = _request(sought, declaration, choices, bench)
            produced = test_production.produce(request, drafter, bench, sought.on_step)
            drafts = _measure([*produced.drafts, *_others(produced)], bench)
            caught = bench.list_caught(sought.public)
        chosen = {one.identity for one in produced.drafts}
        return DraftFindings(
            tuple(_candidate(one, sought) for one in drafts),
            tuple(place for place, one in enumerate(drafts) if one.identity in chosen),
            tuple(f"{one.name}: {one.sentence}" for one in bench.engines),
            produced.beside,
            candidates.remarks(records.counts),
            tuple(
                PublicCatch(Path(case.path).name, bits)
                for case, bits in zip(sought.public, caught, strict=True)
            ),
            asked.given_up,
        )

    def write(
        self, assignment: Assignment, chosen: Sequence[Candidate]
    ) -> tuple[str, Mapping[str, bytes]]:
        """Return the text of a case file, and the files that its commands name."""
        assert assignment.declaration
        drafts = [canonical_json.loads(Draft, one.record) for one in chosen]
        names = test_text.find_named_files(drafts, assignment.declaration, assignment.place)
        beside = {name: (assignment.place / name).read_bytes() for name in names}
        return test_text.case_file(drafts, HEADING), beside


def _request(
    sought: Sought, declaration: Declaration, choices: Choices, bench: EngineBench
) -> TestRequest:
    known = {
        one
        for case in (*sought.private, *sought.public)
        for one in openings.identities(case, declaration)
    }
    beside = bench.find_caught(sought.private)
    return TestRequest(choices, sought.tests, known, beside, rounds=_ROUNDS)


def _others(produced: ProducedTests) -> Iterator[Draft]:
    """Yield some tests of each command that were not chosen: those that catch most, the short."""
    chosen = {one.identity for one in produced.drafts}
    left = [one for one in produced.candidates if one.identity not in chosen]
    left.sort(key=lambda one: (-one.caught.bit_count(), len(one.setup)))
    for name in sorted(produced.drawn):
        yield from islice((one for one in left if one.name == name), _OTHERS)


def _measure(drafts: Sequence[Draft], bench: EngineBench) -> list[Draft]:
    """Return the tests that the reference passes, with what each catches by itself.

    What an engine fails in a move of its own choice hangs on chance: it has to fail again.
    """
    text, places = test_text.plain(drafts)
    bad = bench.find_wrong(text) if drafts else set()
    (caught,) = bench.map_catches([text], (1 << len(bench.engines)) - 1)
    return [
        one._replace(caught=caught.get(line, 0) & (one.caught if one.is_free else -1))
        for one, line in zip(drafts, places, strict=True)
        if line not in bad
    ]


def _candidate(one: Draft, sought: Sought) -> Candidate:
    columns, rows = one.size
    told = one._replace(origin=candidates.without_folder(one.origin, sought.games))
    return Candidate(
        kind=one.name,
        sentence=f"On a board of {columns}×{rows}",
        origin=test_text.describe_origin(told),
        board=_board(one, sought.specification),
        setup=one.setup,
        tests=(_test(one, sought.specification),),
        identities=(candidates.digest(one.identity),),
        caught=one.caught,
        record=canonical_json.dumps(told),
    )


def _test(one: Draft, specification: Specification) -> CandidateTest:
    told = candidates.word_test(specification, one.command, one.expression, "")
    if candidates.is_told_by_words(one.expression):
        return told
    engine = specification.reference_engine()
    assert isinstance(engine, ReferenceEngine)
    right = engine.replies((*one.setup, one.command))[-1].text
    return told._replace(answer=f"{right}, or an answer that the declaration treats alike")


def _board(one: Draft, specification: Specification) -> CandidateBoard | None:
    """Return the board at a test as reports draw it; None if unknown or without a board."""
    case = casefile.parse(test_text.plain([one])[0].encode(), "draft.gtp")
    replies = [_reply(is_ok=place not in one.refused) for place in range(len(one.setup))]
    last = len(one.setup)
    result = FileResult(case, (), (*replies, None), (), (), 0, (), (), "", "", "", 0.0, 0.0)
    found = boards(result, {last}, specification.commands, specification.board).get(last)
    return CandidateBoard.of(found.position, found.letters) if found else None


def _reply(*, is_ok: bool) -> Reply:
    return Reply(is_ok, "", "", 0.0)
