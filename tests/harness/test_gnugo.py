"""A real engine: Debian's GNU Go, on a game record, its own moves and replies of many lines."""

from pathlib import Path

import pytest

from harness.core.errors import ExitCode
from harness.core.records import Verdict
from harness.report.tally import exit_code
from harness.running.runs import run

pytestmark = pytest.mark.processes

GAME = "(;GM[1]FF[4]SZ[9]KM[0.5];B[ee];W[ec];B[gc];W[cc];B[cf];W[ge];B[gf];W[fe];B[ff];W[he])"
CASES = r"""
10 loadsgf game.sgf 5
#? [black]
20 list_stones black
#? [E5 G7|G7 E5]
# A reply of eleven lines, matched as one text.
30 loadsgf game.sgf
#? [black]
40 showboard
#? [A B C D E F G H J\n.*\n 5 \. \. \. \. X O O O \. 5\n.*A B C D E F G H J]
# A move of its own, which does not change the board.
50 reg_genmove black
#? [[A-HJ][1-9]|PASS]
60 list_stones black
#? [!.*F6.*]
70 move_history
#? [white H5\nblack F4\n.*black E5]

# A finished game: Black has 10 points, White 15 and the komi.
boardsize 5
clear_board
komi 0.5
play B B1
play B B2
play B B3
play B B4
play B B5
play W C1
play W C2
play W C3
play W C4
play W C5
80 final_score
#? [W\+5\.5]
90 final_score
#? [W\+4\.5]*
100 no_such_command
#? [.*]
"""
EXPECTED = [Verdict.PASSED] * 8 + [Verdict.EXPECTED_FAIL, Verdict.FAILED]


def test_gnu_go(gnugo: str, tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text(GAME)
    (tmp_path / "cases.gtp").write_text(CASES)
    command = f"{gnugo} --mode gtp --chinese-rules --level 1"
    found = run(command, [str(tmp_path / "cases.gtp")])
    (file,) = found.files
    verdicts = [outcome.verdict for outcome in file.outcomes]
    assert (verdicts, file.failure, file.warnings) == (EXPECTED, None, ())
    assert (file.name, file.errors) == ("GNU Go", 0)
    assert exit_code(found) is ExitCode.FAILED
