"""The modules where a wrong line gives a wrong mark, a wrong verdict, a leak or a loss."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]

DECIDING = (
    "oracle/answers",
    "oracle/batch.py",
    "oracle/batch_gomoku.py",
    "oracle/komi.py",
    "oracle/planes.py",
    "oracle/play.py",
    "oracle/position.py",
    "oracle/symmetry.py",
    "oracle/vertex.py",
    "harness/clock_changes.py",
    "harness/whole_files.py",
    "harness/reading",
    "harness/judging",
    "harness/intake",
    "harness/engine/engine_clock.py",
    "harness/grading/attempts",
    "harness/grading/exports/sheet.py",
    "harness/grading/exports/marks_csv.py",
    "harness/grading/ledger",
    "harness/grading/marks",
    "harness/sandbox",
    "harness/work",
)
# Programs that run inside a box and what draws pictures of attacks are tried as a whole elsewhere.
_NOT = ("harness/sandbox/redteam", "harness/grading/ledger/migrations")


def deciding(wanted: str = "") -> list[str]:
    """Return the modules by path below the project, sorted; ``wanted``: those with this in it."""
    found: set[str] = set()
    for name in DECIDING:
        place = ROOT / name
        found.update(str(path.relative_to(ROOT)) for path in _files(place))
    return sorted(one for one in found if wanted in one and not one.startswith(_NOT))


def _files(place: Path) -> list[Path]:
    """Return the modules at a place; a place that was renamed is not left out in silence."""
    found = [place] if place.is_file() else sorted(place.rglob("*.py"))
    assert found, f"{place}: there is no module"
    return found
