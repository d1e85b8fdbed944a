"""An autograder for Gradescope: the zip to upload, and a run of it in the container there."""

import base64
import csv
import datetime
import hashlib
import io
import json
import shlex
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import oracle
from harness import GradeOptions, file_system, find_assignment, grade, shipped
from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.clock_changes import to_local, to_seconds
from harness.errors import ClassWideError, UsageError
from harness.grading.attempts import attempt_plan
from harness.grading.exports import gradescope
from harness.grading.exports.showing import feedback
from harness.grading.ingest import sources
from harness.grading.records import PRIVATE
from harness.options import GTP
from harness.reading import suite
from harness.report.views import Views

FILE = "gtp-harness.json"  # in the zip
# When students see the points and tests of private case files. Source: Gradescope's autograder
# specifications, "Controlling Test Case Visibility".
VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
_BEFORE_END = 120.0  # seconds for what is not a test: reading, building, writing


class GradescopeSettings(NamedTuple):
    """The decisions. Paths are relative to the folder of the zip's contents."""

    assignment: str  # its folder
    private: tuple[str, ...]  # files or folders of case files, besides the assignment's own
    public_only: bool
    timeout: float  # seconds after which Gradescope ends an autograder, and gives 0 points
    private_visibility: str  # one of VISIBILITIES


def read(folder: Path) -> GradescopeSettings:
    """Return the settings of an autograder.

    ``folder``: with the contents of its zip.

    Raises:
        UsageError: there are none, or they are not what :func:`bundle` wrote.
    """
    path = folder / FILE
    try:
        found = GradescopeSettings(**json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise UsageError(
            f"{path} is not what gtp-harness gradescope wrote: make the zip again"
        ) from None
    return found._replace(private=tuple(found.private))


# Source: "Submission Metadata" of Gradescope's documentation.
METADATA_FILE = "submission_metadata.json"


class Times(NamedTuple):
    """Local times of this machine, as an assignment's deadline is one."""

    created: datetime.datetime
    due: datetime.datetime | None  # the latest of all who handed it in; None: never


def read_metadata(path: Path) -> Times:
    """Return the times of a submission.

    A student may have got an extension, which stands with the student. Of a group the latest one
    counts.

    Raises:
        UsageError: the file cannot be read, or a time is not one.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON") from None
    found = _object(found)
    users = found.get("users")
    students = users if isinstance(users, list) else []
    dates = [_object(_object(one).get("assignment")).get("due_date") for one in students]
    extended = [_time(path, "due_date", date) for date in dates if date]
    common = _object(found.get("assignment")).get("due_date")
    due = extended or ([_time(path, "due_date", common)] if common else [])
    last = max(due, key=to_seconds, default=None)
    return Times(_time(path, "created_at", found.get("created_at")), last)


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _time(path: Path, name: str, value: object) -> datetime.datetime:
    try:
        time = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None:
        expected = "a time such as 2026-01-29T23:55:00-07:00"
        raise UsageError(f"{path}: {name}: found {value!r}, expected {expected}")
    return to_local(time)


def mark(root: Path) -> tuple[str, str]:
    """Grade ``root/submission`` as a class of one, and write ``root/results/results.json``.

    Returns the mark, and what the sandbox was; "" if nothing was run.

    A result is written only when there is a mark. Whatever goes wrong before that leaves no file:
    then Gradescope shows "The autograder failed to execute correctly" and gives no points, neither
    0 nor any others, and the teacher sees standard output.

    ``root``: a folder laid out as Gradescope's ``/autograder``.

    Raises:
        HarnessError: no mark was found; then no result file is left.
    """
    target = root / "results" / "results.json"
    target.unlink(missing_ok=True)
    source = root / "source"
    wanted = read(source)
    times = read_metadata(root / METADATA_FILE)
    found = find_assignment(str(source / wanted.assignment))
    needs.require(found)
    if times.due is not None:
        # What is refused then is Gradescope's business: it knows who got an extension.
        found = found._replace(late=found.late._replace(deadline=times.due, refused_after=None))
    with (
        needs.with_python(found) as found,
        tempfile.TemporaryDirectory(prefix="gtp-harness-gradescope-") as room,
    ):
        sheet = Path(room, "class.csv")
        handed_in = sources.folder_pieces([root / "submission"])
        pieces = sorted(handed_in, key=lambda piece: piece.order)
        with sheet.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["student", "file", "time"])
            for piece in pieces:
                name = str(piece.file.path) if piece.file else ""
                rows.writerow([piece.student.key, name, times.created.isoformat()])
        result = grade(
            GradeOptions(
                assignment=found,
                source=sheet,
                output=sheet.parent,
                private=tuple(str(source / one) for one in wanted.private),
                public_only=wanted.public_only,
                images=False,  # what they show is for a teacher, who sees nothing of them here
                budget=wanted.timeout - _BEFORE_END,
                go_on=True,  # a class of one always fails alike
            )
        )
    (one,) = result.graded
    if one.marks.withheld:
        faults = "; ".join(dict.fromkeys(found.fault for found in one.attempts if found.fault))
        raise ClassWideError(f"the harness failed, and there is no mark: {faults}")
    graded = result.assignment
    private = frozenset(part.name for part in graded.marks if part.judged_by == PRIVATE)
    shown = feedback(one, result, Views(graded.specification, graded.place))
    text = gradescope.results(shown, gradescope.Later(wanted.private_visibility, private))
    target.parent.mkdir(parents=True, exist_ok=True)
    file_system.write_whole(target, text)
    return str(one.marks), result.sandbox


# The two scripts that Gradescope calls, both as root: one when the image is built, one for each
# submission. Source: "Autograder Specifications" of Gradescope's documentation.
HOME = "/opt/gtp-harness"  # where it is installed: not below source, which engines may not enter
SOURCE = "/autograder/source"
_SPARE = 30  # seconds before Gradescope's own limit, at which we end ourselves
_KILL = 15  # seconds that ending takes at most

_SETUP = """\
#!/usr/bin/env bash
# Made by gtp-harness gradescope. Gradescope runs this once, as root, to build the image.
set -euo pipefail
umask 022
cd {source}
chmod -R go= .  # private case files are for the harness alone

find_python() {{
    for python in python3.14 python3.13 python3.12 python3.11 python3; do
        if "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
        then echo "$python"; return; fi
    done
    return 1
}}
install() {{
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qqy install --no-install-recommends "$@"
}}

find_python >/dev/null || install python3.11 python3.11-venv || install python3 python3-venv
python=$(find_python) || {{ echo "no Python from 3.11: take a newer base image" >&2; exit 1; }}
{packages}"$python" -m venv {home}
{home}/bin/pip install --quiet --no-cache-dir --disable-pip-version-check ./{wheel}
{home}/bin/gtp-harness env --assignment {assignment}
{home}/bin/gtp-harness doctor || echo "No sandbox works while the image is built." >&2
"""

_RUN = """\
#!/bin/sh
# Made by gtp-harness gradescope. Gradescope runs this, as root, for each submission.
# Gradescope's time limit would give 0 points; this one, which is shorter, gives an error.
exec timeout --signal=INT --kill-after={kill} {seconds:g} \\
    {home}/bin/gtp-harness gradescope --grade /autograder
"""


# A wheel is a zip of the packages beside a ``.dist-info`` folder. Source: "Binary distribution
# format" of the Python Packaging User Guide.
_NAME = "gtp-harness"
_TAGS = "Wheel-Version: 1.0\nGenerator: gtp-harness\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_LICENSE = "licenses/LICENSE"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same files make the same bytes

Member = tuple[str, bytes]  # a name in a zip, and the content


def wheel() -> Member:
    """Return the name of the wheel of this very installation, and its bytes.

    Raises:
        UsageError: gtp-harness runs from a folder into which it was not installed.
    """
    try:
        found = distribution(_NAME)
    except PackageNotFoundError:
        raise UsageError(
            "the wheel is made from the installed package, but gtp-harness is not installed:"
            " pip install it first"
        ) from None
    stem = f"{_NAME.replace('-', '_')}-{oracle.__version__}"
    about = f"{stem}.dist-info"
    texts = {name: found.read_text(name) for name in ("METADATA", "entry_points.txt", _LICENSE)}
    members = [
        *_packages(),
        *((f"{about}/{name}", text.encode()) for name, text in texts.items() if text is not None),
        (f"{about}/WHEEL", _TAGS.encode()),
    ]
    lines = []
    for name, content in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    record = f"{about}/RECORD"
    text = "".join([*lines, f"{record},,\n"])
    return f"{stem}-py3-none-any.whl", zip_members([*members, (record, text.encode())])


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder by their names in it, without hidden and compiled ones."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_left = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not is_left:
            yield "/".join(parts), path


def zip_members(members: Iterable[Member], executable: frozenset[str] = frozenset()) -> bytes:
    """Return a zip of the members; those named in ``executable`` may be executed."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, _LONG_AGO)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(info, content)
    return written.getvalue()


def _packages() -> Iterator[Member]:
    """Yield both packages and the cases that ship, which a wheel has within ``harness``."""
    packages = [Path(oracle.__file__).parent, Path(shipped.__file__).parent]
    cases = shipped.folder()
    for folder in packages:
        for name, path in files(folder):
            if not path.is_relative_to(cases):
                yield f"{folder.name}/{name}", path.read_bytes()
    for name, path in files(cases):
        if "private" not in Path(name).parts:  # a teacher's own, beside those that ship
            yield f"harness/cases/{name}", path.read_bytes()


_ASSIGNMENT, _PRIVATE = "assignment", "private"
_EXECUTABLE = frozenset({"setup.sh", "run_autograder"})


def bundle(
    assignment: Assignment,
    private: Sequence[str],
    overlay: Path | None,
    settings: GradescopeSettings,
) -> bytes:
    """Return the zip: the scripts, the wheel, the assignment and the case files.

    ``private``: case files that only the teacher has, as for a grading. ``overlay``: the course's
    folder, if it is not beside the assignment. ``settings``: its paths are filled in here.

    Raises:
        CaseError: a case file is wrong.
        UsageError: something that grading needs is missing.
    """
    cases = () if settings.public_only else private
    for path in cases:
        if not path.startswith("@") and not Path(path).exists():
            raise UsageError(f"there is no {path}")
    attempt_plan.cases(assignment, None if settings.public_only else cases)
    place = f"{_ASSIGNMENT}/{assignment.key}"
    kept = list(_private(assignment, cases))
    left_out = set(assignment.private_cases()) if settings.public_only else set()
    members = [
        *(
            (f"{place}/{name}", path.read_bytes())
            for name, path in files(assignment.place)
            if path not in left_out
        ),
        *_overlay(assignment, place, overlay),
        *((name, path.read_bytes()) for _, name, path in kept),
    ]
    named = tuple(dict.fromkeys(given for given, _, _ in kept))
    found = settings._replace(assignment=place, private=named)
    name, content = wheel()
    tools = " ".join(tool.package for tool in needs.of(assignment))
    packages = list(dict.fromkeys(tools.split()))
    setup = _SETUP.format(
        source=SOURCE,
        home=HOME,
        packages=f"install {shlex.join(packages)}\n" if packages else "",
        wheel=shlex.quote(name),
        assignment=shlex.quote(place),
    )
    run = _RUN.format(home=HOME, kill=_KILL, seconds=settings.timeout - _SPARE)
    own = [
        ("setup.sh", setup.encode()),
        ("run_autograder", run.encode()),
        (FILE, f"{json.dumps(found._asdict(), indent=1)}\n".encode()),
        (name, content),
    ]
    return zip_members([*own, *members], _EXECUTABLE)


def _overlay(assignment: Assignment, place: str, overlay: Path | None) -> Iterator[Member]:
    """Yield the course's folder, if it does not lie beside the assignment."""
    name = assignment.engine.overlay
    if not name or (overlay is None and (assignment.place / name).is_dir()):
        return
    if overlay is None or not overlay.is_dir():
        raise UsageError(f"course folder {name} not found; give it with --overlay")
    for own, path in files(overlay):
        yield f"{place}/{name}/{own}", path.read_bytes()


def _private(assignment: Assignment, sources: Sequence[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield (what grading is given, name in the zip, file) of all that is named.

    A folder goes as it is. A file goes with the files that its commands name.
    """
    for number, one in enumerate(sources, 1):
        place = f"{_PRIVATE}/{number}"
        if Path(one).is_dir():
            yield from ((place, f"{place}/{name}", path) for name, path in files(Path(one)))
            continue
        paths = suite.expand([one], has_answers=assignment.protocol != GTP)
        for count, path in enumerate(map(Path, paths), 1):
            given = f"{place}/{count}/{path.name}"
            yield given, given, path
            case = attempt_plan.PlannedCase(
                PRIVATE, path.name, path.read_bytes(), str(path.absolute())
            )
            for word, companion in attempt_plan.companions(case):
                if Path(word).is_absolute() or ".." in Path(word).parts:
                    raise UsageError(f"{path} names {word}, which is not below its own folder")
                yield given, f"{place}/{count}/{Path(word).as_posix()}", companion
