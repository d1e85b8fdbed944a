"""The plan of a grading: its case files, and the attempts at them."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.errors import UsageError
from harness.grading.ledger.ledger import PlannedAttempt
from harness.grading.records import IMAGE, PRIVATE, PUBLIC, Submission
from harness.options import GTP
from harness.reading import casefile, suite
from harness.records import CaseFile
from harness.text import encode
from harness.work import canonical_json
from oracle import __version__


class PlannedCase(NamedTuple):
    """A case file of a grading."""

    kind: str  # PUBLIC, PRIVATE or IMAGE
    name: str  # as the assignment calls it
    content: bytes
    path: str  # where it lies, and with it the files it names

    @property
    def sha256(self) -> str:
        """Return the digest of its content."""
        return _digest(self.content)

    def read(self, path: str | None = None) -> CaseFile:
        """Return it as steps; by default it is called by its name.

        Raises:
            CaseError: a line of it is wrong.
        """
        return casefile.parse(self.content, self.name if path is None else path)


def cases(assignment: Assignment, named: Sequence[str] | None) -> list[PlannedCase]:
    """Return the public and private case files of a grading.

    ``named``: see :func:`read_cases`.

    Raises:
        CaseError: a suite or folder has none, or a line of one is wrong.
        UsageError: private ones are worth points, and there are none; or two have the same name.
    """
    found = read_cases(assignment, named)
    worth = [part.name for part in assignment.marks if part.judged_by == PRIVATE and part.points]
    if worth and named is not None and all(case.kind == PUBLIC for case in found):
        raise UsageError(
            f"{worth[0]!r} needs private case files, but none are given: name files or folders"
            " with --private (gtp-harness generate --secret makes some), or grade without"
            " them with --public-only"
        )
    return found


def read_cases(assignment: Assignment, named: Sequence[str] | None = None) -> list[PlannedCase]:
    """Return the public case files and, unless ``named`` is None, private ones.

    These are those beside the assignment, and those that are ``named``: files, folders or
    ``@suites``, as for a run. In a folder that is named they are called by their names within it.

    Raises:
        CaseError: a suite or folder has none, or a line of one is wrong.
        UsageError: two private ones have the same name, or one cannot be read.
    """
    place, is_gtp = assignment.place, assignment.protocol == GTP
    files = [(PUBLIC, one, one.relative_to(place).as_posix()) for one in assignment.public_cases()]
    if named is not None:
        files += [(PRIVATE, path, path.name) for path in assignment.private_cases()]
    for folder in map(Path, named or ()):
        for path in map(Path, suite.expand([str(folder)], has_answers=not is_gtp)):
            name = path.relative_to(folder).as_posix() if folder.is_dir() else path.name
            files.append((PRIVATE, path, name))
    found = []
    for kind, path, name in files:
        try:
            case = PlannedCase(kind, name, path.read_bytes(), str(path.absolute()))
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        read = case.read(str(path))  # a mistake in it is told before anything is run
        if is_gtp:
            suite.refuse_answers(read)
        found.append(case)
    names = Counter(case.name for case in found if case.kind == PRIVATE)
    if doubled := sorted(name for name, count in names.items() if count > 1):
        raise UsageError(f"two private case files have the same name: {', '.join(doubled)}")
    return found


def images(assignment: Assignment, cases: Iterable[PlannedCase], seed: str) -> list[PlannedCase]:
    """Return the images of the public ones of case files.

    See :mod:`harness.grading.attempts.variants`.

    They lie where the originals do.
    """
    from harness.grading.attempts.variants import image_of

    if assignment.specification is None:
        return []  # the right answers are unknown
    found = []
    for one in (one for one in cases if one.kind == PUBLIC):
        folder = str(Path(one.path).parent)
        image = image_of(one.read(), assignment.specification, seed, folder)
        if image is not None:
            text = "".join(f"{line}\n" for line in image.lines)
            found.append(PlannedCase(IMAGE, one.name, encode(text), one.path))
    return found


def attempts(
    assignment: Assignment,
    overlay: Path | None,
    is_sandboxed: bool,
    submissions: Iterable[Submission],
    cases: Sequence[PlannedCase],
) -> list[PlannedAttempt]:
    """Return the attempts of a grading: every case file with whatever can be graded."""
    files = sorted(path for path in overlay.rglob("*") if path.is_file()) if overlay else []
    course = [
        (str(path.relative_to(overlay or "")), _digest(path.read_bytes()))
        for path in files
        if "__pycache__" not in path.parts
    ]
    parts = (assignment.archive.folder, assignment.engine, assignment.build, assignment.adapter)
    python = assignment.python.fingerprint if assignment.python else ""
    limits = assignment.limits._asdict()
    if not assignment.limits.thinking:  # attempts of former gradings stay valid
        del limits["thinking"]
    rules = (limits, assignment.box, assignment.cases.restart)
    # The inputs of all attempts, without those of marks, lateness and visibility.
    inputs = [__version__, *parts, *rules, course, is_sandboxed, python]
    ground = canonical_json.dumps([*inputs, *_list_protocol(assignment)])
    beside = {
        case: [(word, _digest(path.read_bytes())) for word, path in companions(case)]
        for case in cases
    }
    return [
        PlannedAttempt(
            _digest(canonical_json.dumps([build, *case[:2], case.sha256, beside[case]])),
            one.key,
            case.kind,
            case.name,
            case.sha256,
            build,
        )
        for one in submissions
        if not (one.refused or one.unread)
        for subject in [(one.key, one.sha256, one.root, one.kept)]
        for build in [_digest(canonical_json.dumps([ground, subject]))]
        for case in cases
    ]


def _list_protocol(assignment: Assignment) -> list[str]:
    """Return what submissions speak, unless that is GTP with the words of the case files."""
    table = Path(assignment.translate).read_bytes() if assignment.translate else b""
    found = [assignment.protocol, _digest(table) if table else ""]
    return [] if found == [GTP, ""] else found


def companions(case: PlannedCase) -> list[tuple[str, Path]]:
    """Return the files that a case's commands name, such as records and boards, by these names."""
    folder = Path(case.path).parent
    words = {word for step in case.read().steps for word in step.command.split()[1:]}
    files = [(word, folder / word) for word in sorted(words) if "." in word]
    return [(word, path) for word, path in files if path.is_file()]


def _digest(content: bytes | str) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()
