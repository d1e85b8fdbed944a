"""All pages there are, written at once: of a run, of a class, of a history."""

from __future__ import annotations

from pathlib import Path

from harness.core.records import Failure, FailureKind
from harness.grading.exports import exporters as exports
from harness.history import pages
from harness.history.trends import trends
from harness.report import html
from harness.report.file_view import view
from tests.harness.made_class import LONG, SCRIPT, wide_class
from tests.harness.made_history import large_history, rich_history
from tests.harness.made_run import RUN, Line, V, made_file

# What does not wrap by itself: words without end, a board of 25 by 25, long names.
WIDE = made_file(
    f"folder/{'n' * 120}.gtp",
    [
        Line("boardsize 25"),
        Line("clear_board"),
        Line("play b z25"),
        Line(f"1 echo {LONG}", f"=1 {LONG}", f"[{LONG}y]", V.FAILED),
        Line(f"play b {LONG}", f"? {LONG}"),
        Line("2 list", "=2 " + "a1 " * 2_000, "[.*]", V.PASSED),
    ],
    stderr=LONG,
    warnings=(LONG,),
)

HOSTILE = made_file(
    "hostile.gtp",
    [
        Line("refused", f"? {SCRIPT}"),
        Line("1 name", f"= {SCRIPT}", f"[{SCRIPT}.*]", V.FAILED, invalid=SCRIPT),
        Line("2 name", f"= {SCRIPT}", "[.*]", V.PASSED),
    ],
    stderr=SCRIPT,
    warnings=(SCRIPT,),
    failures=(Failure(FailureKind.DIED, SCRIPT),),
    name=SCRIPT,
    version=SCRIPT,
)


def write(folder: Path) -> None:
    """Write them into folders of their own."""
    run = RUN._replace(files=(*RUN.files, WIDE, HOSTILE), program=LONG, errors=(LONG, SCRIPT))
    html.write(folder / "run", run, [view(file) for file in run.files])
    exports.write(wide_class(), folder / "class")
    for name, found in (("history", history()), ("many-runs", many_runs())):
        (folder / name).mkdir()
        pages.write(str(folder / name), found)


def many_runs():
    """A history of as many runs as pages show."""
    return trends("h.sqlite", large_history(12, 50, 1, 0.5))


def history():
    """A history with one of everything, and names that would do harm or do not wrap."""
    runs = [
        run._replace(number=number, program=LONG, circumstances=SCRIPT)
        for number, run in enumerate(rich_history(), 1)
    ]
    named = [_with_odd_commands(run) for run in runs]
    return trends("h.sqlite", named, LONG)


def _with_odd_commands(run):
    """The run with a command that is markup and one that is long in place of two others."""
    names = {"<odd>": SCRIPT, "reg_genmove b": LONG}

    def rename_command(one):
        return one._replace(
            test=one.test._replace(command=names.get(one.test.command, one.test.command))
        )

    files = (
        file._replace(
            results=tuple(map(rename_command, file.results)), engine=file.engine + SCRIPT
        )
        for file in run.files
    )
    return run._replace(files=tuple(files))
