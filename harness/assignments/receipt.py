"""The receipt of ``gtp-harness check``: which files were tested, with which cases.

It stands in the log, and the log is submitted within the archive; so it cannot have the archive's
own hash in it. It has one that can be taken again from the archive: of the names and contents of
all files that were tested: all submitted files except the log. The archive's hash is
shown after the log has ended, for the student to keep: if a teacher has other bytes, the
student submitted another archive.

What it proves: that what was tested is the submission, if the student is honest. It is not
a signature: everybody who can run ``check`` can write such lines; no mark depends on them alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.archives.archive_streams import PIECE
from harness.assignments.assignment import Assignment
from harness.text import one_line
from oracle import __version__


class Receipt(NamedTuple):
    """What a receipt says. The digests are SHA-256, as 64 hexadecimal digits."""

    assignment: str  # its key
    version: str  # of the harness
    files: str  # of :func:`digest_of`
    cases: str  # of :meth:`harness.assignments.assignment.Assignment.cases_digest`
    python: str = ""  # that ran the engine, in words; empty: none, or an older receipt


def make_receipt(assignment: Assignment, files: Mapping[str, str]) -> Receipt:
    """Return the receipt for files, given by name within the folder with their SHA-256."""
    digests = digest_of(files), assignment.cases_digest()
    python = assignment.python.described if assignment.python else ""
    return Receipt(assignment.key, __version__, *digests, python)


def digest_of(files: Mapping[str, str]) -> str:
    """Return one digest of files, given by name with their SHA-256: that of lines, sorted by
    name, as ``sha256sum`` prints them.
    """
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()


def digests_in(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of files of a folder."""
    found = {}
    for name in names:
        with (folder / name).open("rb") as file:
            found[name] = digest(iter(lambda file=file: file.read(PIECE), b""))  # type: ignore[misc]
    return found


def digest(pieces: Iterable[bytes]) -> str:
    """Return the SHA-256 of what comes in pieces."""
    sha256 = hashlib.sha256()
    for piece in pieces:
        sha256.update(piece)
    return sha256.hexdigest()


# --- as text -----------------------------------------------------------------------------------

_FIRST = re.compile(r"\s*Receipt for ([\w.+-]{1,80}), gtp-harness ([\w.+-]{1,80})\s*")
_PYTHON = re.compile(r"\s*python +(\S.{0,200}?)\s*")
_NEXT = re.compile(r"\s*(files|cases|archive) +sha256 ([0-9a-f]{64})\s*")


def lines(receipt: Receipt) -> list[str]:
    """Return the receipt as lines of a log, the first as its title."""
    return [
        f"Receipt for {receipt.assignment}, gtp-harness {receipt.version}",
        hash_line("files", receipt.files),
        hash_line("cases", receipt.cases),
        *([f"{'python':<7} {receipt.python}"] if receipt.python else []),
    ]


def hash_line(what: str, sha256: str) -> str:
    """Return a line of a receipt."""
    return f"{what:<7} sha256 {sha256}"


def find_receipt(log: Sequence[str]) -> Receipt | None:
    """Return the last whole receipt in the lines of a log."""
    for index in range(len(log) - 1, -1, -1):
        first = _FIRST.fullmatch(log[index])
        if first:
            pairs = [_NEXT.fullmatch(line) for line in log[index + 1 : index + 4]]
            said = {pair[1]: pair[2] for pair in pairs if pair}
            if {"files", "cases"} <= said.keys():
                fourth = _PYTHON.fullmatch("".join(log[index + 3 : index + 4]))
                python = fourth[1] if fourth else ""
                return Receipt(first[1], first[2], said["files"], said["cases"], python)
    return None


def compare_receipt(receipt: Receipt | None, expected: Receipt) -> str:
    """Return as a sentence what a receipt in a log says of an archive; empty without one.

    ``expected``: for what the archive has in it.
    """
    if receipt is None:
        return ""
    if receipt.assignment != expected.assignment:
        return f"The receipt in the log is for another assignment, {receipt.assignment}."
    if receipt.files != expected.files:
        return "The receipt in the log is for other files than the submitted ones."
    if receipt.cases != expected.cases:
        return "The receipt in the log fits the files, but they were tested with other case files."
    python = f", run by {one_line(receipt.python, 200)}" if receipt.python else ""
    version = receipt.version
    return f"The receipt in the log fits: gtp-harness {version} has tested these files{python}."
