"""What is sent ahead while the harness does something else: whose reply is whose, who broke."""

import sys
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.assignments import assignment
from harness.core.errors import EngineError
from harness.core.options import PROTOCOLS, Limits
from harness.core.records import Failure, FailureKind, Reply
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import Declaration
from harness.declared.game_state import AllowedLines
from harness.engine.launch import PlainLauncher
from harness.engine.protocols import Ahead, find_protocol
from harness.fuzzing.by_reference import AnsweredScript, ByReference, Likeness
from harness.fuzzing.drawing import GuessingDrawer
from harness.fuzzing.findings import Causes
from harness.fuzzing.fuzzed_engine import FuzzedProgram, UnderWay
from harness.fuzzing.judges import HeardScript
from harness.fuzzing.search import FuzzBudget, ScriptSender
from harness.specifications import specification
from harness.specifications.record import Specification
from harness.vocabulary.script import Script, Trace, name_of
from oracle.command_properties import STANDARD, PropertyTable
from tests.harness.own_games import OWN, InMemory, right

BROKEN = Failure(FailureKind.DIED, "ended")


def reply(text: str, status: str = "=") -> Reply:
    return Reply(status == "=", text, f"{status} {text}".rstrip(), 0.0)


def make_drawer(declaration: Declaration, seed: int, folder: Path) -> GuessingDrawer:
    """Return what draws conversations ahead of the replies."""
    random = Random(seed)
    return GuessingDrawer(Drawer(declaration, random, folder), random)


# --- lines under way ---------------------------------------------------------------------------


class Session:
    """A conversation on paper; what is sent is answered when it is received."""

    def __init__(self, breaks_at: int = -1) -> None:
        """``breaks_at``: how many lines it answers, and breaks; -1: it never does."""
        self.sent: list[list[bytes]] = []
        self.is_awake = False
        self.answers_too_often = False
        self._left = breaks_at

    def sleep_at_once(self) -> None:
        pass

    def stirs(self) -> bool:
        return self.is_awake

    def send(self, lines: list[bytes], replies: list[Reply]) -> None:
        self.sent.append(lines)
        self._replies = replies

    def receive(self) -> None:
        for line in self.sent[-1]:
            if self._left == 0:
                raise EngineError(BROKEN)
            self._left -= 1
            self._replies.append(reply(line.decode().strip()))


LINES = [b"a\n", b"think\n", b"b\n", b"c\n"]
ALONE = [False, True, False, False]


def texts(replies: list[Reply]) -> list[str]:
    return [one.text for one in replies]


def test_what_stands_alone_is_not_followed_before_its_reply_comes() -> None:
    session = Session()
    ahead = Ahead(session, LINES, ALONE)  # type: ignore[arg-type]
    ahead.begin()
    ahead.go_on()  # nothing has come
    assert session.sent == [LINES[:2]]
    session.is_awake = True
    ahead.go_on()
    assert session.sent == [LINES[:2], LINES[2:]]
    ahead.go_on()  # nothing is left to be sent
    assert texts(ahead.finish()) == ["a", "think", "b", "c"]
    assert session.sent == [LINES[:2], LINES[2:]]


@pytest.mark.parametrize("count", range(4))
def test_replies_before_the_engine_broke_are_kept(count: int) -> None:
    ahead = Ahead(Session(count), LINES, ALONE)  # type: ignore[arg-type]
    ahead.begin()
    with pytest.raises(EngineError):
        ahead.finish()
    assert texts(ahead.replies) == ["a", "think", "b", "c"][:count]


@given(st.lists(st.sampled_from([b"=", b" 1", b"x", b"\n", b"\r", b"\n\n", b"?"])))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_whole_ends_with_a_reply(protocol: str, pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    if find_protocol(protocol).is_whole(data):
        assert find_protocol(protocol).end(data) == len(data)


# --- scripts under way -------------------------------------------------------------------------

SCRIPTS = [Script(("a", "b")), Script(("c",)), Script(("d", "e", "f"))]


def under_way(session: Session, told: list[str]) -> UnderWay:
    """Return scripts under way; ``told``: gets a word if nobody knows whose reply is whose."""
    return UnderWay(session, SCRIPTS, PropertyTable(STANDARD), lambda: told.append("distrust"))  # type: ignore[arg-type]


def test_each_script_gets_its_own_replies() -> None:
    sent = under_way(Session(), [])
    traces = sent.traces()
    assert [trace.script for trace in traces] == SCRIPTS
    assert [texts(list(trace.replies)) for trace in traces] == [["a", "b"], ["c"], ["d", "e", "f"]]
    assert not sent.is_open


@pytest.mark.parametrize(
    ("count", "whole", "at"),
    [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 2, 0), (4, 2, 1), (5, 2, 2)],
)
def test_only_the_script_under_way_broke_the_engine(count: int, whole: int, at: int) -> None:
    """And of those after it, nothing is said."""
    *before, last = under_way(Session(count), []).traces()
    assert [one.failure for one in before] == [None] * whole
    assert last.script == SCRIPTS[whole]
    assert last.failure == BROKEN._replace(step=at)
    assert len(last.replies) == at


def test_nothing_is_said_of_an_engine_that_answers_too_often() -> None:
    session, told = Session(), list[str]()
    sent = under_way(session, told)
    session.answers_too_often = True
    assert (sent.traces(), told) == ([], ["distrust"])


def test_nothing_is_said_once_others_have_asked_the_engine() -> None:
    session = Session()
    sent = under_way(session, [])
    sent.is_open = False
    sent.go_on()
    assert sent.traces() == []


MORTAL = """\
import sys
for line in sys.stdin:
    if line.startswith("die"):
        sys.exit(3)
    print("=", line.strip(), end="\\n\\n", flush=True)
"""


class Nobody:
    """A judge whom nothing is asked."""

    specification = specification("gomoku-rules")
    folder = Path()


@pytest.mark.processes
@pytest.mark.parametrize(
    ("deadly", "place"),
    [(("die",), 0), (("x", "die", "y"), 1), (("x", "y", "die"), 3), (("die", "x", "y"), 2)],
)
def test_who_kills_an_engine_in_a_batch_is_told_and_no_other_is_blamed(
    deadly: tuple[str, ...], place: int, tmp_path: Path
) -> None:
    """The first script to a process is sent by itself, the others all at once."""
    program = tmp_path / "mortal.py"
    program.write_text(MORTAL)
    batch = [Script((f"one{i}", f"two{i}")) for i in range(4)]
    batch[place] = Script(deadly)
    words = [sys.executable, "-S", "-E", str(program)]
    with closing(FuzzedProgram(words, PlainLauncher, Limits(), tmp_path)) as piped:
        asker = ScriptSender(piped, Causes(Nobody()), FuzzBudget(0, 0))  # type: ignore[arg-type]
        for count in range(3):  # processes are sent more scripts, the later they are started
            heard = [one.trace for one in asker.begin(batch).collect()]
            assert [trace.script for trace in heard] == batch, count
            broken = [trace for trace in heard if trace.failure]
            assert [trace.script for trace in broken] == [batch[place]]
            at = deadly.index("die")
            assert broken[0].failure and broken[0].failure.step == len(broken[0].replies) == at
            others = [trace for trace in heard if not trace.failure]
            assert all(tuple(texts(list(one.replies))) == one.script.commands for one in others)


# --- likeness ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nogo() -> tuple[Specification, InMemory]:
    found = assignment.find(str(OWN / "nogo"))
    return found.specification, InMemory(right("nogo"), found.declaration, found.place)


SIDE = "gogui-rules_side_to_move"
OPENING = ("boardsize 2", "clear_board")


def likeness(nogo: tuple[Specification, InMemory]) -> Likeness:
    return Likeness(*nogo)  # type: ignore[arg-type]


def make_answered(
    commands: tuple[str, ...], got: list[Reply], said: tuple[str, ...], right_ones: list[Reply]
) -> AnsweredScript:
    trace = Trace(Script(commands), tuple(got))
    return AnsweredScript(HeardScript(trace, [trace.script], 1), said, tuple(right_ones))


def test_one_reply_that_differs_is_seen_among_many(nogo: tuple[Specification, InMemory]) -> None:
    compared, commands = likeness(nogo), (SIDE,) * 9
    same = [reply("black")] * 9
    assert compared.is_alike(make_answered(commands, same, commands, same))
    stray = [*same[:8], same[8]._replace(invalid="debug")]  # though the reply itself is known
    assert not compared.is_alike(make_answered(commands, stray, commands, same))
    for place in range(9):
        other = [*same[:place], reply("white"), *same[place + 1 :]]
        assert not compared.is_alike(make_answered(commands, other, commands, same))
        assert not compared.is_alike(make_answered(commands, same, commands, other))


def test_an_engine_that_broke_is_not_alike(nogo: tuple[Specification, InMemory]) -> None:
    one = make_answered((SIDE,), [], (SIDE,), [reply("black")])
    broken = one.script.trace._replace(failure=BROKEN)
    assert not likeness(nogo).is_alike(one._replace(script=one.script._replace(trace=broken)))
    both = make_answered((SIDE,), [reply("black")], (SIDE,), [reply("black")])
    surplus = both.script.trace._replace(has_surplus=True)
    assert not likeness(nogo).is_alike(both._replace(script=both.script._replace(trace=surplus)))


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (reply("A1"), "play w A1"),
        (reply("resign"), "genmove w"),  # no move: nobody plays it
        (reply("no idea", "?"), "genmove w"),
    ],
)
def test_the_reference_is_asked_the_moves_that_were_chosen(
    got: Reply, said: str, nogo: tuple[Specification, InMemory]
) -> None:
    script = Script((*OPENING, "genmove w", SIDE))
    trace = Trace(script, (reply(""), reply(""), got, reply("black")))
    assert likeness(nogo).list_asked_commands(trace) == (*OPENING, said, SIDE)


def test_what_was_not_answered_is_asked_as_it_was(nogo: tuple[Specification, InMemory]) -> None:
    trace = Trace(Script((*OPENING, "genmove w")), (reply(""),), BROKEN)
    assert likeness(nogo).list_asked_commands(trace) == trace.script.commands


@pytest.mark.parametrize(("right_one", "is_alike"), [(reply(""), True), (reply("", "?"), False)])
def test_a_chosen_move_is_right_if_the_reference_plays_it(
    right_one: Reply, is_alike: bool, nogo: tuple[Specification, InMemory]
) -> None:
    one = make_answered(("genmove b",), [reply("A1")], ("play b A1",), [right_one])
    assert likeness(nogo).is_alike(one) is is_alike


@given(st.data())
@settings(max_examples=60)
def test_likeness_never_overlooks_what_the_judge_sees(data: st.DataObject) -> None:
    """Whatever one reply of a right conversation is changed to."""
    found = assignment.find(str(OWN / "nogo"))
    reference = InMemory(right("nogo"), found.declaration, found.place)
    drawer = make_drawer(found.declaration, data.draw(st.integers(0, 99)), found.place)
    script = drawer.draw()
    judge = ByReference(found.specification, reference, found.place)  # type: ignore[arg-type]
    script = judge.cut_to_allowed(script)
    right_ones = list(reference.replies(script.commands))
    place = data.draw(st.integers(0, len(script.commands) - 1))
    texts_ = st.sampled_from(["", "A1", "A1 B2", "black", "white", "unknown", "x"])
    got = [*right_ones]
    got[place] = reply(data.draw(texts_), data.draw(st.sampled_from("=?")))
    one = make_answered(script.commands, got, script.commands, right_ones)
    if Likeness(found.specification, reference).is_alike(one):  # type: ignore[arg-type]
        assert list(judge.find_wrong_answers(one.script.trace)) == []


# --- drawn ahead of the replies ----------------------------------------------------------------

GAMES = ("nogo", "takuzu", "hex", "othello")


def of_game(game: str) -> tuple[Declaration, InMemory]:
    found = assignment.find(str(OWN / game))
    return found.declaration, InMemory(right(game), found.declaration, found.place)


def draw_conversations(game: str, seed: int, count: int, lag: int = 4) -> list[Script]:
    """Draw conversations; replies to each come when so many more are drawn."""
    declaration, reference = of_game(game)
    drawer = make_drawer(declaration, seed, reference.program.folder)
    scripts: list[Script] = []
    for _ in range(count):
        scripts.append(drawer.draw())
        if len(scripts) > lag:
            commands = scripts[-1 - lag].commands
            drawer.learn(commands, without_moves_of_its_own(reference, commands))
    return scripts


def without_moves_of_its_own(reference: InMemory, commands: tuple[str, ...]) -> list[Reply]:
    """Return right replies of a reference that refuses to choose, as that is left to chance."""
    chooses = {one.name for one in reference.declaration.commands if one.plays}
    asked = tuple(one for one in commands if name_of(one) not in chooses)
    replies = iter(reference.replies(asked))
    refusal = reply("no", "?")
    return [refusal if name_of(one) in chooses else next(replies) for one in commands]


@pytest.mark.parametrize("game", GAMES)
def test_what_is_drawn_depends_on_the_seed_alone_and_begins_a_board(game: str) -> None:
    found = draw_conversations(game, 1, 30)
    assert found == draw_conversations(game, 1, 30) != draw_conversations(game, 2, 30)
    declaration, _ = of_game(game)
    assert all(AllowedLines(declaration).allows(script.commands[0]) for script in found)


def beginnings(game: str, count: int = 60) -> list[tuple[str, ...]]:
    """Return what conversations have gone on from."""
    declaration, reference = of_game(game)
    drawer = make_drawer(declaration, 5, reference.program.folder)
    found = []
    for _ in range(count):
        script = drawer.draw()
        drawer.learn(script.commands, without_moves_of_its_own(reference, script.commands))
        found += [one.commands for one in drawer._known]
    assert found
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("game", GAMES)
def test_a_beginning_leads_to_a_place_where_the_game_goes_on(game: str) -> None:
    """It is short and has only right moves that no program chose."""
    declaration, reference = of_game(game)
    plays = {one.name for one in declaration.commands if one.plays}
    over = declaration.game.over
    for commands in beginnings(game):
        assert len(commands) <= 12
        assert plays.isdisjoint(map(name_of, commands))
        asked = (*commands, over.ask) if over else commands
        *replies, end = reference.replies(asked)
        assert not any(map(reference.program.refuses, replies))
        now = AllowedLines(declaration)
        for command, right_one in zip(asked, (*replies, end), strict=True):
            assert now.allows(command)
            now.observe(command, right_one)
        assert not now.is_over
