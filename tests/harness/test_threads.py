"""Several threads judge at once, each with files in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import current_thread, main_thread

import pytest

from harness.core.options import Options
from harness.core.records import Verdict
from harness.judging import strength
from harness.judging.diagnosis import diagnoses
from harness.reading import casefile
from harness.running.runs import run
from harness.specifications import specification
from harness.verifying.verification import verify

SIZES = (5, 9)
BOARD = "(;GM[1]FF[4]SZ[{0}]AB[aa][bb]AW[cc])"  # whose empty points are nobody's
CASE = "loadsgf board.sgf\n10 score\n#? [B\\+1(\\.0)?]\n"
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
