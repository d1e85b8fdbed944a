"""Candidates for a draft of private cases of any game: tests with what they catch."""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from harness.assignments import banked
from harness.assignments.assignment import Assignment
from harness.banks.banks import EngineBench
from harness.core.records import CaseFile, FileResult, Pattern, Reply
from harness.declared.engine import ReferenceEngine
from harness.generating import drafts as openings
from harness.generating import record_reading, scene_production, scene_text, test_production
from harness.judging import strength
from harness.judging.board_replay import boards
from harness.reading import casefile, expectation
from harness.service.jobs.private_cases import MOST_HUNG, WatchedAsker
from harness.specifications.record import Specification
from harness.vocabulary import answers
from harness.work import canonical_json
from oracle.draw import Diagram
from oracle.position import Position, grid

HEADING = ("Private cases", "Made on the pages of gtp-harness serve.")


class CandidateTest(NamedTuple):
    """A test, in words for a teacher."""

    question: str
    answer: str
    reason: str  # empty: the reference knows, and tells none


class CandidateBoard(NamedTuple):
    """A board; stones are bits of :mod:`oracle.position`."""

    columns: int
    rows: int
    black: int
    white: int
    letters: str  # of the columns

    @classmethod
    def of(cls, position: Position, letters: str) -> "CandidateBoard":
        """Return the board of a position."""
        shape = position.grid
        return cls(shape.columns, shape.rows, position.black, position.white, letters)

    @property
    def position(self) -> Position:
        """Return its stones."""
        return Position(grid(self.rows, self.columns), self.black, self.white)

    def diagram(self) -> Diagram:
        """Return what is drawn."""
        return Diagram(self.position, letters=self.letters)

    def text(self) -> list[str]:
        """Return its rows, the top one first: ``.`` empty, ``X`` black, ``O`` white."""
        return ["".join(".XO"[color] for color in row) for row in self.position.to_rows()]


class Candidate(NamedTuple):
    """One or more tests that are chosen, dropped and exchanged together."""

    kind: str  # what it is about; it is exchanged for another one of the kind first
    sentence: str
    origin: str  # a sentence
    board: CandidateBoard | None  # None: the game has none
    setup: tuple[str, ...]  # the commands that lead to it, where nobody else tells
    tests: tuple[CandidateTest, ...]
    identities: tuple[str, ...]  # the same for tests that are the same
    caught: int  # mistakes, as bits of their places
    record: str  # what its maker writes it from


class PublicCatch(NamedTuple):
    """Catch of a public case file."""

    file: str
    caught: int  # mistakes, as bits of their places


class DraftFindings(NamedTuple):
    """Result of a worker."""

    candidates: tuple[Candidate, ...]
    first: tuple[int, ...]  # places of those that were chosen
    mistakes: tuple[str, ...]  # in the order of the bits of what is caught; none: none are known
    beside: int  # what other private case files catch, as bits
    remarks: tuple[str, ...]  # why some games were not used
    public: tuple[PublicCatch, ...] = ()
    given_up: tuple[str, ...] = ()  # wrong programs that hung too often to be asked to the end


class CandidateQuery(NamedTuple):
    """Request for candidates."""

    assignment: Assignment
    specification: Specification
    games: Sequence[str]  # paths of game records
    tests: int  # at most
    private: tuple[CaseFile, ...]  # the existing ones
    public: tuple[CaseFile, ...]
    sandbox: str  # for programs that are wrong
    on_step: Callable[[str], None] = lambda _: None  # hears what is done now
    on_ask: Callable[[str], None] = lambda _: None  # hears the name of the program that is asked


def word_test(
    specification: Specification, command: str, expression: str, reason: str
) -> CandidateTest:
    """Return a test in words."""
    question = answers.word_question(specification.wordings, command) or command
    return CandidateTest(question, expectation.in_words(_pattern(expression)), reason)


def _pattern(expression: str) -> Pattern:
    return Pattern(expression, expression, negated=False, expected_fail=False)


def digest(identity: object) -> str:
    """Return a short name of what is the same for tests that are the same."""
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]


def without_folder(text: str, games: Sequence[str]) -> str:
    """Return where something is from, with nothing of where the server has its game records."""
    return text.replace(f"{Path(games[0]).parent}/", "record ") if games else text


def remarks(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return why some games were not used; ``counts`` has counts of others in one word, too."""
    return tuple(f"{count} × {why}" for why, count in sorted(counts.items()) if " " in why)


# --- Positions as candidates, as ``gtp-harness generate`` makes them where the rules are known ---


def find_scenes(query: CandidateQuery) -> DraftFindings:
    """Return scenes that catch what nothing has caught, and all that could be used instead."""
    request = scene_text.SceneRequest(
        query.specification,
        record_reading.Choices(secrets.token_bytes(32)),  # private: nobody can draw the same
        query.specification.kind.sizes,
        query.tests,
        secret=True,
        existing_cases=query.private,
        excluded=query.public,
    )
    harvest = record_reading.Harvest.empty()
    if query.games:
        options = record_reading.HarvestOptions(
            query.specification.kind,
            request.choices,
            record_reading.Moves(),
            request.sizes,
            private=None,
        )
        harvest = record_reading.harvest(query.games, options, 1, lambda *_: None)
    produced = scene_production.produce(request, harvest, query.on_step)
    places = {id(one): place for place, one in enumerate(produced.candidates)}
    public = (
        (Path(one.path).name, strength.measure([one], query.specification).caught)
        for one in query.public
    )
    return DraftFindings(
        tuple(_scene_candidate(one, query) for one in produced.candidates),
        tuple(places[id(one)] for one in produced.scenes),
        tuple(one.sentence for one in produced.mistakes),
        produced.other_catches,
        remarks(harvest.counts),
        tuple(PublicCatch(*one) for one in public),
    )


def write_scenes(
    assignment: Assignment, candidates: Sequence[Candidate]
) -> tuple[str, Mapping[str, bytes]]:
    """Return the text of a case file, and the files that its commands name."""
    specification = assignment.specification
    assert specification
    staged = [canonical_json.loads(scene_text.Staged, one.record) for one in candidates]
    text = scene_text.case_file(specification.kind, staged, HEADING, specification.commands)
    files = scene_text.files(staged)
    return text, {name: files[name].encode() for name in files}


def _scene_candidate(staged_scene: scene_text.Staged, query: CandidateQuery) -> Candidate:
    find = staged_scene.scene.find
    # It is kept with nothing of where the server has its games.
    origin = find.moment.origin
    told = origin._replace(text=without_folder(origin.text, query.games))
    moment = find.moment._replace(origin=told)
    scene = staged_scene.scene._replace(find=find._replace(moment=moment))
    asked = tuple(test._replace(identity=()) for test in staged_scene.asked)
    kept = staged_scene._replace(scene=scene, asked=asked)
    sentences = {each.name: each.sentence for each in query.specification.kind.features}
    return Candidate(
        kind=find.feature.replace("-", " "),
        sentence=sentences[find.feature],
        origin=scene_text.provenance(moment),
        board=CandidateBoard.of(find.moment.position(), query.specification.board.letters),
        setup=(),
        tests=tuple(
            word_test(query.specification, test.command, test.expression, test.reason)
            for test in staged_scene.asked
        ),
        identities=tuple(digest(test.identity) for test in staged_scene.asked),
        caught=staged_scene.caught,
        record=canonical_json.dumps(kept),
    )


# --- Tests of drawn conversations as candidates, for a game that a teacher declared --------------
# Nobody here knows the rules: the reference answers, and the programs that the assignment declares
# to be wrong say what a test is worth. A board is drawn where the reports draw one.


_ROUNDS = 4  # of drawing at most: somebody waits in front of a page
_OTHERS = 20  # tests of a command that are kept to be exchanged for


def find_conversations(query: CandidateQuery) -> DraftFindings:
    """Return tests that catch what nothing has caught, and some that could be used instead."""
    assignment, declaration = query.assignment, query.assignment.declaration
    assert declaration
    # Private: nobody can draw the same.
    choices = record_reading.Choices(secrets.token_bytes(32))
    records = openings.Records(query.specification, declaration, choices, private=None)
    positions = [*records.openings(query.games)]
    positions += openings.of_cases(query.private, declaration)
    drafter = openings.Drafter(query.specification, declaration, assignment.place, positions)
    with banked.engines(assignment, (), (), query.sandbox) as engines:
        commands, protocol = query.specification.commands, assignment.protocol
        asked = WatchedAsker(commands, query.sandbox, protocol, query.on_ask, MOST_HUNG)
        bench = EngineBench(engines, query.specification, assignment.place, asked)
        known = {
            one
            for case in (*query.private, *query.public)
            for one in openings.identities(case, declaration)
        }
        request = test_production.TestRequest(
            choices, query.tests, known, bench.find_caught(query.private), rounds=_ROUNDS
        )
        produced = test_production.produce(request, drafter, bench, query.on_step)
        drafts = _measure([*produced.drafts, *_others(produced)], bench)
        caught = bench.list_caught(query.public)
    chosen = {one.identity for one in produced.drafts}
    return DraftFindings(
        tuple(_conversation_candidate(one, query) for one in drafts),
        tuple(place for place, one in enumerate(drafts) if one.identity in chosen),
        tuple(f"{one.name}: {one.sentence}" for one in bench.engines),
        produced.other_catches,
        remarks(records.counts),
        tuple(
            PublicCatch(Path(case.path).name, bits)
            for case, bits in zip(query.public, caught, strict=True)
        ),
        asked.given_up,
    )


def write_conversations(
    assignment: Assignment, candidates: Sequence[Candidate]
) -> tuple[str, Mapping[str, bytes]]:
    """Return the text of a case file, and the files that its commands name."""
    assert assignment.declaration
    drafts = [canonical_json.loads(openings.Draft, one.record) for one in candidates]
    names = test_production.find_named_files(drafts, assignment.declaration, assignment.place)
    beside = {name: (assignment.place / name).read_bytes() for name in names}
    return test_production.case_file(drafts, HEADING), beside


def _others(tests: test_production.ProducedTests) -> Iterator[openings.Draft]:
    """Yield some tests of each command that were not chosen: those that catch most, the short."""
    chosen = {one.identity for one in tests.drafts}
    left = [one for one in tests.candidates if one.identity not in chosen]
    left.sort(key=lambda one: (-one.caught.bit_count(), len(one.setup)))
    for name in sorted(tests.drawn):
        yield from islice((one for one in left if one.name == name), _OTHERS)


def _measure(drafts: Sequence[openings.Draft], bench: EngineBench) -> list[openings.Draft]:
    """Return the tests that the reference passes, with what each catches by itself.

    What an engine fails in a move of its own choice hangs on chance: it has to fail again.
    """
    text, places = test_production.plain(drafts)
    bad = bench.find_wrong(text) if drafts else set()
    (caught,) = bench.map_catches([text], (1 << len(bench.engines)) - 1)
    return [
        one._replace(caught=caught.get(line, 0) & (one.caught if one.is_free else -1))
        for one, line in zip(drafts, places, strict=True)
        if line not in bad
    ]


def _conversation_candidate(draft: openings.Draft, query: CandidateQuery) -> Candidate:
    columns, rows = draft.size
    told = draft._replace(origin=without_folder(draft.origin, query.games))
    test = word_test(query.specification, draft.command, draft.expression, "")
    # If words cannot tell what matches, a teacher would have to read the pattern.
    if expectation.put_in_words(_pattern(draft.expression)).pattern:
        engine = query.specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        right = engine.replies((*draft.setup, draft.command))[-1].text
        test = test._replace(answer=f"{right}, or an answer that the declaration treats alike")
    return Candidate(
        kind=draft.name,
        sentence=f"On a board of {columns}×{rows}",
        origin=test_production.describe_origin(told),
        board=_board(draft, query.specification),
        setup=draft.setup,
        tests=(test,),
        identities=(digest(draft.identity),),
        caught=draft.caught,
        record=canonical_json.dumps(told),
    )


def _board(draft: openings.Draft, specification: Specification) -> CandidateBoard | None:
    """Return the board at a test as reports draw it; None if unknown or without a board."""
    case = casefile.parse(test_production.plain([draft])[0].encode(), "draft.gtp")
    steps = range(len(draft.setup))
    replies = [Reply((place not in draft.refused), "", "", 0.0) for place in steps]
    last = len(draft.setup)
    result = FileResult(case, (), (*replies, None), (), (), 0, (), (), "", "", "", 0.0, 0.0)
    found = boards(result, {last}, specification.commands, specification.board).get(last)
    return CandidateBoard.of(found.position, found.letters) if found else None
