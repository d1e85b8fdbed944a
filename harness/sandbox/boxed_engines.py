"""A run's engines in boxes: what :mod:`harness.engine.launch` does without a sandbox.

An engine sees its own program and the commands on its standard input. Of the folder of the case
file it is shown what ``loadsgf`` and the like name, and nothing else: there are expected answers
in the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from harness.core.errors import EngineError, SandboxError, UsageError
from harness.core.options import BoxLimits
from harness.core.records import CaseFile, Failure, FailureKind
from harness.engine.launch import NOTHING_MORE, count_names
from harness.sandbox import levels, view
from harness.sandbox.launcher import Boxed, BoxLauncher
from oracle.command_properties import PropertyTable

_KNOWN_VIEWS = 64  # of a run's last engines


class Sandbox:
    """The sandbox of one run: the same level for all its engines, proven before the first.

    Each process that the run is forked into gets a box server of its own.
    """

    def __init__(  # noqa: PLR0913 - what a sandbox is, each by its own choice
        self,
        choice: str,
        limits: BoxLimits,
        hidden: Iterable[str],
        shown: Iterable[str],
        command_properties: PropertyTable,
        *,
        is_proven: bool = False,
    ) -> None:
        """Choose and prove a level.

        ``choice``: ``auto`` or ``3``, ``2``, ``1``. ``hidden``: files never to be seen: case
        files. ``shown``: paths to be seen besides the program's own. ``command_properties``: which
        commands name files. ``is_proven``: another process of this machine has just proven the
        level.

        Raises:
            SandboxError: there is no such sandbox here, or it does not hold.
        """
        proven = levels.choose(choice, limits, is_proven=is_proven)
        self.level = proven.level
        self._limits = limits
        self._command_properties = command_properties
        self._shown = tuple(map(os.path.abspath, shown))
        own = (f for f in view.own_folders() if not view.is_in_one(f, self._shown))
        self._hidden = (*hidden, *own)
        self._boxes = {os.getpid(): proven}
        # One command is started for each case file.
        self._view = lru_cache(_KNOWN_VIEWS)(view.of_program)

    @property
    def description(self) -> str:
        """Description recorded in results."""
        return levels.describe_level(self.level)

    def launcher(
        self,
        case: CaseFile,
        shown: Iterable[str] = (),
        submission: str = "",
        variables: Mapping[str, str] = NOTHING_MORE,
    ) -> BoxedLauncher:
        """Return what starts the engine for a case file, in a box of its own.

        ``shown``: paths that this engine sees besides those that all do. ``submission``: the
        folder of the submission, if the engine is an assignment's; see :func:`view.of_program`.
        ``variables``: of its environment, in addition to those that every engine has.
        """
        boxes = self._boxes.get(os.getpid())
        if boxes is None:
            boxes = self._boxes[os.getpid()] = BoxLauncher(self.level, self._limits)
        folder = Path(case.path).absolute().parent
        named = []  # files as the commands have them, if they are there
        for step in case.steps:
            words = step.command.split()
            names_file = len(words) > 1 and self._command_properties[words[0]].names_file
            if names_file and (folder / words[1]).is_file():
                named.append(words[1])
        boxes.refuse_shut(os.path.abspath(name) for name in named if os.path.isabs(name))
        seen = (*self._shown, *shown, *(os.path.normpath(folder / name) for name in named))
        return BoxedLauncher(boxes, seen, self._hidden, submission, self._view, variables)

    def close(self) -> None:
        """End this process's box server."""
        if boxes := self._boxes.pop(os.getpid(), None):
            boxes.close()


class BoxedLauncher:
    """Starts programs in boxes. See :class:`harness.engine.launch.Launcher`.

    All that one launcher starts share the limit of CPU time. One that is started while
    others run has a box server of its own.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what engines see, and how they are started
        self,
        boxes: BoxLauncher,
        shown: Iterable[str],
        hidden: Iterable[str],
        submission: str,
        make_view: Callable[..., view.View],
        variables: Mapping[str, str] = NOTHING_MORE,
    ) -> None:
        """``make_view``: :func:`view.of_program`, or what remembers its results."""
        self._variables = variables
        self._boxes = boxes
        self._shown = tuple(shown)
        self._hidden = tuple(hidden)
        self._submission = submission
        self._view = make_view
        self._spent = 0.0  # seconds of CPU time, by programs that have ended
        self._under_way: dict[Boxed, BoxLauncher] = {}

    def start(self, words: list[str], folder: str, output: int | None = None) -> Boxed:
        """Start a program; see :class:`harness.engine.launch.Launcher`."""
        if output is not None:
            raise SandboxError("there is no terminal in a sandbox: --pty does not go with it")
        try:
            seen = self._view(tuple(words), folder, self._shown, self._hidden, self._submission)
        except UsageError as error:
            message = f"The engine could not be started: {error}."
            raise EngineError(Failure(FailureKind.NOT_STARTED, message)) from None
        boxes = self._boxes
        if boxes in self._under_way.values():
            boxes = BoxLauncher(boxes.level, boxes.limits)
        try:
            engine = boxes.start(seen, words, self._spent, self._variables)
        except BaseException:
            self._give_back(boxes)
            raise
        self._under_way[engine] = boxes
        return engine

    def _give_back(self, boxes: BoxLauncher) -> None:
        if boxes is not self._boxes:
            boxes.close()

    def end(self, engine: Boxed) -> list[str]:
        """End a program and its box; return the names of the processes that outlived it."""
        boxes = self._under_way.pop(engine)
        try:
            end = engine.end()
        finally:
            self._give_back(boxes)
        self._spent += end.cpu
        return count_names(end.leftovers)
