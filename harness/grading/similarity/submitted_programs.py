"""The programs of a class as they were submitted, and as tokens."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from harness.errors import ArchiveError, ReadingFailedError, UsageError
from harness.grading.ledger.originals import Store
from harness.grading.records import Submission
from harness.intake import archive

_LARGEST = 1 << 20  # bytes of a file; nobody writes more of a program
_STRINGS = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_WORDS = r"\w+|[^\s\w]"
_PYTHON = re.compile(
    rf"(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|{_STRINGS})"
    rf"|\#[^\n]*|\\\n|{_WORDS}",
    re.DOTALL,
)
_C = re.compile(rf"{_STRINGS}|//[^\n]*|/\*.*?(?:\*/|\Z)|\\\n|{_WORDS}", re.DOTALL)
_LANGUAGES = {
    ".py": (_PYTHON, ("#", "\\\n")),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".java"), (_C, ("//", "/*", "\\\n"))),
}


def is_program(name: str) -> bool:
    """Whether a file is one of a program, in a language that is known here."""
    return PurePosixPath(name).suffix.lower() in _LANGUAGES


def tokens(name: str, content: bytes) -> list[str]:
    """Return the tokens of a file, without blanks and comments."""
    form, comments = _LANGUAGES[PurePosixPath(name).suffix.lower()]
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    return [token for token in form.findall(text) if not token.startswith(comments)]


def read_program(submission: Submission, store: Store) -> dict[str, bytes]:
    """Return the files of a program that are graded; none if its original cannot be read now."""
    wanted = {submission.root + name: name for name in submission.kept if is_program(name)}
    try:
        return {
            wanted[member.name]: b"".join(member.content)
            for member in archive.files(str(store.path(submission.sha256)))
            if member.name in wanted and member.size <= _LARGEST
        }
    except (ArchiveError, ReadingFailedError, UsageError):
        return {}


def lying_in(folder: Path) -> dict[str, bytes]:
    """Return the files of programs in a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and is_program(path.name)
    }
