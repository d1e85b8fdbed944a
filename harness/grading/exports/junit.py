"""A grading as JUnit XML, of the same elements as a run (:mod:`harness.report.junit`)::

testsuites "gtp-harness"
testsuite "<submission>/<case file>"    for each attempt that has a result
testsuite "gtp-harness"                 what there is no result of, each an error:
testcase "(submission)"                 one that was refused
testcase "(build)"                      one that does not build
testcase "(harness)"                    an attempt in which the harness failed
"""

from collections.abc import Iterator

from harness.grading.exports.exporters import Files, Material, as_file
from harness.grading.records import ClassResult, Graded
from harness.records import FileResult
from harness.report import junit
from harness.report.tally import tally


def files(material: Material) -> Files:
    """Yield the document."""
    yield "junit.xml", as_file(parts(material.result))


def parts(result: ClassResult) -> Iterator[str]:
    """Yield the document, to be written with :func:`~harness.text.escape_controls`."""
    files = [file for graded in result.graded for file in _files(graded)]
    broken = [trouble for graded in result.graded for trouble in _failures(graded)]
    return junit.document(files, [tally(file) for file in files], broken)


def _files(graded: Graded) -> Iterator[FileResult]:
    for attempt in graded.attempts:
        if attempt.result:
            path = f"{graded.submission.key}/{attempt.case}"
            yield attempt.result._replace(case=attempt.result.case._replace(path=path))


def _failures(graded: Graded) -> Iterator[tuple[str, str]]:
    key = graded.submission.key
    if graded.submission.refused:
        yield "submission", f"{key}: {graded.submission.refused}"
    if graded.build and not graded.build.ok:
        yield "build", f"{key}: {graded.build.message}"
    for attempt in graded.attempts:
        if attempt.fault:
            yield "harness", f"{key}/{attempt.case}: {attempt.fault}"
