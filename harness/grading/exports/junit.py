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
from harness.grading.records import ClassResult
from harness.report import junit
from harness.report.tally import tally


def files(material: Material) -> Files:
    """Yield the document."""
    yield "junit.xml", as_file(parts(material.result))


def parts(result: ClassResult) -> Iterator[str]:
    """Yield the document, to be written with :func:`~harness.core.text.escape_controls`."""
    files, broken = [], []
    for graded in result.graded:
        key = graded.submission.key
        if graded.submission.refused:
            broken.append(("submission", f"{key}: {graded.submission.refused}"))
        if graded.build and not graded.build.ok:
            broken.append(("build", f"{key}: {graded.build.message}"))
        for attempt in graded.attempts:
            place = f"{key}/{attempt.case}"
            if attempt.fault:
                broken.append(("harness", f"{place}: {attempt.fault}"))
            if attempt.result:
                case = attempt.result.case._replace(path=place)
                files.append(attempt.result._replace(case=case))
    return junit.document(files, [tally(file) for file in files], broken)
