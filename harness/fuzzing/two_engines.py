"""Two engines against each other: one of them stands in for a reference."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.core.errors import UsageError
from harness.core.records import Reply
from harness.declared import declaration as declared
from harness.declared.declaration import STANDARD, DeclaredCommand, Drawn, Form, Kind
from harness.declared.game_state import refuses
from harness.declared.program_process import ProgramStart
from harness.declared.reference import ReferenceProgram
from harness.declared.specifying import specify
from harness.fuzzing.fuzzed_engine import FuzzedProgram, try_commands
from harness.specifications.record import Specification
from harness.vocabulary.answers import SCORE

_PLAY = STANDARD["play"]._replace(bad=("{turn} {stone}", "{turn} z99"))
# How their answers are compared.
_LISTS, _VALUES = (Form.ANY_ORDER, Form.CASELESS), (Form.CASELESS, Form.NUMBERS)
_COLOR = (declared.Argument(Drawn.COLOR),)
_PICTURE = "showboard"  # engines draw boards as they like
_RULES = ("legal_moves", "side_to_move", "final_result", "board_size")
# What engines are usually asked about a position.
QUESTIONS = (
    DeclaredCommand("score", Kind.ASKS, reply=_VALUES),
    DeclaredCommand("final_score", Kind.ASKS, reply=_VALUES),
    DeclaredCommand(_PICTURE, Kind.ASKS, reply=_VALUES),
    DeclaredCommand("list_stones", Kind.ASKS, _COLOR, reply=_LISTS),
    DeclaredCommand("captures", Kind.ASKS, _COLOR, reply=_VALUES),
    DeclaredCommand("all_legal", Kind.ASKS, _COLOR, reply=_LISTS),
    *(DeclaredCommand(f"gogui-rules_{name}", Kind.ASKS, reply=_LISTS) for name in _RULES),
)
_KOMI, _UNDO = (STANDARD[name] for name in ("komi", "undo"))
_SLOW = 0.2  # seconds, with one stone: GNU Go's final_score takes as long, and more later
_SCORES = ("score", "final_score")  # B+4 is B+4.0
# A refusal may be an answer, as the course has it.
_GAME = declared.DeclaredGame(refused="(?i)illegal move")
SIZES = (5, 6, 7, 9, 13, 15, 19)  # that engines may take; small boards find more
_DRAWN = 3  # of them, the smallest that both take


def common_sizes(sizes: Sequence[int], other_sizes: Sequence[int]) -> list[int]:
    """Return the board sizes to draw, of those that each of two engines takes.

    Raises:
        UsageError: there are none.
    """
    both = [size for size in sizes if size in other_sizes]
    if not both:
        lists = (", ".join(map(str, one)) or "none" for one in (sizes, other_sizes, SIZES))
        raise UsageError(
            "the engines take no board of the same size: PROGRAM takes {}, the first engine of"
            " --against {} (of {})".format(*lists)
        )
    return both[:_DRAWN]


def find_common_commands(
    programs: Sequence[FuzzedProgram], size: int
) -> tuple[tuple[DeclaredCommand, ...], tuple[str, ...]]:
    """Return what all engines answer of QUESTIONS, and ``komi`` and ``undo`` if all take them.

    Also returns the names of questions that are left out because others are faster. Each command
    is tried, for not every engine says what it knows. ``size``: of a board that all take.

    Raises:
        UsageError: there is no question that all answer.
    """
    begun = (f"boardsize {size}", "clear_board", "play b a1")
    tried = (_KOMI, *QUESTIONS, _UNDO)
    # Black's stone is on A1.
    words = ([next(iter(word.words), "b") for word in one.arguments] for one in tried)
    lines = [" ".join([one.name, *more]) for one, more in zip(tried, words, strict=True)]
    replies = zip(*(try_commands(one, begun, lines) for one in programs), strict=True)
    seconds = {
        one: max(reply.seconds for reply in every if reply)
        for one, every in zip(tried, replies, strict=True)
        if _is_common(one, every)
    }
    times = [seconds[one] for one in QUESTIONS if one in seconds]
    if not times:
        names = ", ".join(one.name for one in QUESTIONS)
        raise UsageError(
            "the engines have no question in common that both answer, so that nothing could be"
            f" found (tried: {names}); declare their commands in an assignment of your own, and"
            " give it with --assignment"
        )
    least = max(_SLOW, min(times))
    slow = [one for one in QUESTIONS if seconds.get(one, 0.0) > least]
    kept = tuple(one for one in seconds if one not in slow)
    return kept, tuple(one.name for one in slow)


def _is_common(command: DeclaredCommand, replies: Sequence[Reply | None]) -> bool:
    """Whether all have done what a command says; of pictures, whether they draw alike."""
    texts = [" ".join(reply.text.split()) if reply else None for reply in replies]
    if None in texts:
        return False
    if command.name == _PICTURE:
        return len(set(texts)) == 1 and "" not in texts
    return command not in QUESTIONS or "" not in texts


def standard(common: Sequence[DeclaredCommand], sizes: Sequence[int]) -> declared.Declaration:
    """Return what two engines that speak GTP have in common.

    ``sizes``: of square boards, which both take. Stones are played in turn, for that is right in
    every game.
    """
    game = _GAME._replace(sizes=tuple((size, size) for size in sizes))
    return declared.Declaration(game, declared.with_standard((_PLAY, *common), game))


def specify_for(
    words: Sequence[str],
    declaration: declared.Declaration,
    folder: Path,
    sandbox: str,
    timeout: float,
) -> Specification:
    """Return the specification that has an engine for its reference.

    ``words``: of its command, which is started in a folder.
    """
    asked = specify("two engines", declaration._replace(reference=None), folder, ())
    scores = [one.name for one in declaration.commands if one in QUESTIONS and one.name in _SCORES]
    game = declaration.game
    start = tuple(words), folder, asked.commands, sandbox, timeout
    program = ProgramStart(*start, protocol=game.protocol, refuses=refuses(game))
    forms = {**asked.forms, **dict.fromkeys(scores, SCORE)}
    return replace(asked, forms=forms, told=ReferenceProgram(program, declaration))
