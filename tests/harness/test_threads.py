"""Several threads fuzz, generate and judge at once, each with files in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import current_thread, main_thread

import pytest

from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import FuzzBudget
from harness.generating import record_reading, scene_production, scene_text
from harness.generating.record_reading import HarvestOptions, Moves, choices
from harness.generating.scene_production import SceneRequest
from harness.judging import strength
from harness.judging.diagnosis import diagnoses
from harness.options import Options
from harness.reading import casefile
from harness.records import Verdict
from harness.running.runs import run
from harness.specifications import specification
from harness.specifications.record import reply_of
from harness.verifying.whole import verify
from harness.vocabulary.script import Script, Trace, lay_files
from oracle.mistakes import MISTAKES, mistaken_engine
from oracle.position import Position, grid
from oracle.rules.go import eyes, legal, play
from oracle.sgf import write_sgf

SIZES = (5, 9)
BOARD = "(;GM[1]FF[4]SZ[{0}]AB[aa][bb]AW[cc])"  # whose empty points are nobody's
CASE = "loadsgf board.sgf\n10 score\n#? [B\\+1(\\.0)?]\n"
MISTAKE = MISTAKES["row-before-column"]  # of reading boards, and soon found
WRONG = "loadsgf board.sgf\n10 score\n#? [W\\+99]\n"


def lay_cases(folder: Path, size: int) -> Path:
    """Write case files that name a board beside them, which has the same name everywhere."""
    folder.mkdir()
    (folder / "board.sgf").write_text(BOARD.format(size))
    for name, text in (("case.gtp", CASE), ("wrong.gtp", WRONG)):
        (folder / name).write_text(text)
    return folder


def in_threads(work: Callable[[Path], object], folders: list[Path]) -> list[object]:
    """Return what some work gives in several threads at once."""

    def beside(folder: Path) -> object:
        assert current_thread() is not main_thread()
        return work(folder)

    with ThreadPoolExecutor(len(folders)) as pool:
        return list(pool.map(beside, folders))


def assert_the_same_in_threads(work: Callable[[Path], object], folders: list[Path]) -> None:
    here = os.getcwd()
    alone = [work(folder) for folder in folders]
    assert in_threads(work, [*folders, *folders]) == [*alone, *alone]
    assert os.getcwd() == here


def judge_cases(folder: Path) -> object:
    """What the oracle, all mistakes and an engine make of the files of a folder."""
    cases = [casefile.read(str(folder / name)) for name in ("case.gtp", "wrong.gtp")]
    own = specification("go-scoring")
    told = [(one.line, one.kind) for one in verify(cases, own).findings]
    caught = [one.caught for one in strength.measure(cases, own).tests]
    result = run("gtp-oracle gtp", [one.path for one in cases], Options(jobs=1))
    verdicts = [one.verdict for file in result.files for one in file.outcomes]
    return told, caught, verdicts, diagnoses(result.files)


@pytest.mark.processes
def test_threads_judge_files_of_their_own_folders(tmp_path):
    folders = [lay_cases(tmp_path / str(size), size) for size in SIZES]
    _, caught, verdicts, _ = judge_cases(folders[0])
    assert (len(caught), verdicts) == (1, [Verdict.PASSED, Verdict.FAILED])
    assert_the_same_in_threads(judge_cases, folders)


GAMES = 3
MOVES = 40


def game(size: int, number: int) -> bytes:
    """Return a game between two that fill no eye of their own, as SGF."""
    random, shape, sides, moves = Random(size * GAMES + number), grid(size), (0, 0), []
    for turn in range(MOVES):
        mine, theirs = sides
        sensible = legal(shape, mine, theirs) & ~eyes(shape, mine, theirs)
        if not sensible:
            break
        move = shape.bit(random.choice(shape.points(sensible)))
        mine, theirs = play(shape, mine, theirs, move)
        moves.append((1 + turn % 2, shape.point(move)))
        sides = theirs, mine
    return write_sgf(Position(shape), moves)


def generate_cases(folder: Path) -> object:
    """Case files generated from the game records of a folder, and the mistakes they catch."""
    own = specification("go-scoring")
    drawn, paths = choices(7), [str(folder / "games.sgf")]
    wanted = HarvestOptions(own.kind, drawn, Moves(), own.kind.sizes, private=None)
    harvest = record_reading.harvest(paths, wanted, 1, lambda *_: None)
    assert harvest.counts["games"] == GAMES
    request = SceneRequest(own, drawn, own.kind.sizes, 2, secret=False)
    produced = scene_production.produce(request, harvest, lambda _: None)
    assert any(one.scene.find.moment.origin.text for one in produced.scenes)
    text = scene_text.case_file(own.kind, produced.scenes, "", own.commands)
    return text, scene_text.files(produced.scenes), produced.caught


@pytest.mark.long(12)
def test_threads_generate_from_game_records_of_their_own_folders(tmp_path):
    """Two of them, once in a thread each: a set takes two seconds of the processor."""
    here = os.getcwd()
    folders = [tmp_path / str(size) for size in SIZES]
    for folder, size in zip(folders, SIZES, strict=True):
        folder.mkdir()
        games = b"\n".join(game(size, number) for number in range(GAMES))
        (folder / "games.sgf").write_bytes(games)
    alone = [generate_cases(folder) for folder in folders]
    assert in_threads(generate_cases, folders) == alone
    assert alone[0][0] != alone[1][0]
    assert os.getcwd() == here


class Boards:
    """The engine of a mistake as the fuzzer's program, which reads files where it is told to."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder = name, folder
        self.renew()

    def renew(self) -> None:
        engine = mistaken_engine(MISTAKES[self._name], playouts=0)
        self._engine = engine.in_folder(str(self._folder))

    def answer(self, script: Script) -> Trace:
        lay_files(script, self._folder)
        return Trace(script, tuple(reply_of(self._engine.handle(one)) for one in script.commands))

    def send_again(self, script: Script) -> Trace:
        self.renew()
        return self.answer(script)

    def be_patient(self) -> None:
        """It is never slow."""


def fuzz_engine(folder: Path) -> object:
    """What fuzzing finds of an engine that reads boards, and what explains it."""
    name, own = MISTAKE.name, specification(MISTAKE.assignment)
    program, judge = Boards(name, folder), judge_of(own, folder)
    found = next(Fuzzer(program, judge, FuzzBudget(0, 100), 3).findings(), None)
    assert found is not None
    assert found.script.files
    return found.script, found.difference, found.mistakes


@pytest.mark.long(1)
def test_threads_fuzz_with_boards_in_their_own_folders(tmp_path):
    folders = [tmp_path / str(size) for size in SIZES]
    for folder in folders:
        folder.mkdir()
    assert_the_same_in_threads(fuzz_engine, folders)
