"""Diagnoses of engines that make two or three mistakes at once, and how long each takes.

From each bank 300 pairs and 100 triples are drawn that one engine can make. Each engine is asked
all tests that ship for its assignment and 20 private ones, and the diagnosis must name the very
set, or one that answers 2,000 further conversations in the same way. Seconds are those of the
processor. The first ten sets of each size are diagnosed without what other diagnoses have left in
memory: ``run`` and ``check`` pay for that; the mean is of the others: ``grade``
pays. ``--pairs=N`` and ``--triples=N`` draw fewer; names choose assignments.
"""

import contextlib
import io
import sys
import tempfile
from collections import Counter
from pathlib import Path

from harness.assignments import assignment as assignments
from harness.cli import main as gtp_harness
from harness.judging.diagnosis import diagnoses
from harness.reading import casefile
from harness.specifications import specification
from oracle.mistakes import ASSIGNMENTS
from tests.harness.mixed import RIGHT, draw, judge
from tests.harness.test_diagnosis import read_shipped_cases, result_of

SIZES = {2: 300, 3: 100}
COLD = 10  # sets of each size that are diagnosed without memory
PRIVATE = 20  # tests


def private(assignment, folder):
    """Private tests as a teacher makes them: beside the public ones, and other than these."""
    secret, path = folder / "secret", folder / f"{assignment}.gtp"
    secret.write_text("a secret of this benchmark, long enough")
    public = map(str, assignments.find(assignment).public_cases())
    words = ["--assignment", assignment, "-n", str(PRIVATE), "-o", str(path)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = gtp_harness(["generate", *words, "--secret", str(secret), "--with", *public])
    assert status == 0, assignment
    return [casefile.read(str(path))]


def row(assignment, size, count, cases):
    """Diagnose the sets of one size; print what is not right, and return the table's row."""
    memory, told, cold, warm = {}, Counter(), [], []
    for place, mistakes in enumerate(draw(assignment, size, count)):
        judged = judge(mistakes, cases, None if place < COLD else memory)
        (cold if place < COLD else warm).append(judged.seconds)
        told[judged.word] += 1
        if judged.word not in RIGHT:
            print(f"  {judged.word}: {' '.join(judged.drawn)}: {judged.told}", flush=True)
    right = 100 * sum(told[word] for word in RIGHT) / count
    words = "".join(f"{told[word]:8}" for word in (*RIGHT, "part", "silent", "wrong"))
    seconds = f"{max(cold + warm):8.2f}{sum(warm) / max(len(warm), 1):8.2f}"
    return f"{assignment:16}{size:6}{count:8}{right:7.1f}%{words}{seconds}"


def rows(assignment, sizes, folder):
    """Yield the rows of one bank."""
    cases = [*read_shipped_cases(assignment), *private(assignment, folder)]
    right = [result_of(case, specification(assignment).reference_engine()) for case in cases]
    assert diagnoses(right) == (), "the right engine has no mistake"
    for size, count in sizes.items():
        yield row(assignment, size, count, cases)


def main(arguments=()):
    sizes = dict(SIZES)
    for word in arguments:
        for size, name in ((2, "--pairs="), (3, "--triples=")):
            if word.startswith(name):
                sizes[size] = int(word.removeprefix(name))
    chosen = [word for word in arguments if not word.startswith("-")] or ASSIGNMENTS
    head = "".join(f"{word:>8}" for word in (*RIGHT, "part", "silent", "wrong", "longest", "mean"))
    table = [f"{'bank':16}{'size':>6}{'sets':>8}{'right':>8}{head}"]
    with tempfile.TemporaryDirectory() as name:
        for assignment in chosen:
            for one in rows(assignment, sizes, Path(name)):
                print(one, flush=True)
                table.append(one)
    print("\n" + "\n".join(table))


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
