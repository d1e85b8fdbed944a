"""What writing all files about a class costs: 200 submissions, every fourth of them right.

The others make the known mistakes in turn; all are asked all shipped case files of go-scoring, of
which the last third counts as private. The peer is the plain pages of ``run --html`` about the
same results, made in the same process.
"""

import tempfile
from itertools import cycle, islice
from pathlib import Path
from time import process_time

from harness.grading.exports import exporters as exports
from harness.grading.records import PRIVATE, PUBLIC, Attempt
from harness.judging import in_process
from harness.reading import casefile, suite
from harness.records import RunResult
from harness.report import html
from harness.report.file_view import view
from harness.specifications import specification
from oracle.mistakes import MISTAKES
from tests.harness import made_class as made
from tests.harness.test_diagnosis import result_of

CASES = Path(__file__).parents[2] / "cases" / "go-scoring"
COUNT = 200


def results():
    """Return the results of each kind of engine, right ones in between."""
    cases = [casefile.read(path) for path in suite.expand([str(CASES)])]
    wrong = [one for one in MISTAKES.values() if one.assignment == "go-scoring"]
    kinds = []
    for place, mistake in enumerate(wrong):
        engines = [in_process.mutant_engine(mistake)] + [
            specification("go-scoring").reference_engine()
        ] * (place % 3 == 0)
        kinds += [[result_of(case, engine) for case in cases] for engine in engines]
    return kinds


def make_graded(number, files):
    key = f"s{number:03}"
    public = len(files) * 2 // 3
    found = tuple(
        Attempt(key, PUBLIC if place < public else PRIVATE, Path(file.case.path).name, file)
        for place, file in enumerate(files)
    )
    return made.mark_by_counting(
        made.submission(key, made.student(key, f"Student {number}", number)), found
    )


def the_class():
    found = [
        make_graded(number, files) for number, files in enumerate(islice(cycle(results()), COUNT))
    ]
    return made.made_class()._replace(graded=tuple(found), items=made.items(found))


def plain_pages(result, folder):
    for one in result.graded:
        files = tuple(attempt.result for attempt in one.attempts)
        run = RunResult("engine", files, (), "", "", {})
        html.write(folder / one.submission.key, run, [view(file) for file in files])


def time_work(work, *arguments):
    start = process_time()
    work(*arguments)
    return process_time() - start


def main():
    result = the_class()
    tests = sum(len(one.result.outcomes) for one in result.graded[0].attempts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds = time_work(exports.write, result, folder / "class")
        peer = time_work(plain_pages, result, folder / "plain")
        size = sum(path.stat().st_size for path in (folder / "class").rglob("*") if path.is_file())
    print(f"{COUNT} submissions x {tests} tests, CPU seconds in one process\n")
    print(f"{'all files':>12}{'run --html':>12}{'ratio':>8}{'written':>12}")
    print(f"{seconds:12.2f}{peer:12.2f}{seconds / peer:8.2f}{size / 1e6:9.1f} MB")
