"""The similarity check: submissions compared with each other."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.archives import archive
from harness.core.errors import ArchiveError, ReadingFailedError, UsageError
from harness.grading.ledger.places import Store
from harness.grading.records import Submission, Twins

# --- The programs of a class as they were submitted, and as tokens -------------------------------


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


# --- Submissions whose programs are the same except for blanks and comments ----------------------
# The files of a program are cut into tokens, without blanks, line ends and comments. Files that
# most of the class has, and those of the course, are ignored; so are files that are too small to
# compare. Two submissions are the same if all their own files are, whatever the files are called.


_FEW_TOKENS = 40  # a smaller file is the same by chance
_STARTER = 5  # submissions that have a file before it can be the course's

Files = Mapping[str, bytes]


class _File(NamedTuple):
    tokens: str  # their digest
    exact: str  # the digest of the bytes
    name: str
    size: int  # in tokens


def same(
    submissions: Iterable[Submission], store: Store, overlay: Path | None
) -> tuple[Twins, ...]:
    """Return the submissions that are the same except for blanks and comments.

    ``overlay``: the course folder, whose files are nobody's.
    """
    found = {one.key: read_program(one, store) for one in submissions if one.sha256}
    given = sorted(overlay.rglob("*")) if overlay else ()
    programs = (path for path in given if path.is_file() and is_program(path.name))
    return twins(found, [{path.as_posix(): path.read_bytes() for path in programs}])


def twins(submissions: Mapping[str, Files], course: Iterable[Files] = ()) -> tuple[Twins, ...]:
    """Return the submissions whose own files are the same.

    ``submissions``: by their keys, the files of each by name. ``course``: what it gives out.
    """
    known: dict[str, tuple[str, int]] = {}
    read = {key: _read(files, known) for key, files in submissions.items()}
    # What the course gives out, and what most of the class has.
    shared = {one.tokens for files in course for one in _read(files, known)}
    counts = Counter(one for files in read.values() for one in {each.tokens for each in files})
    most = max(_STARTER, len(read) // 2 + 1)
    shared |= {digest for digest, count in counts.items() if count >= most}
    own = {
        key: [one for one in files if one.tokens not in shared and one.size >= _FEW_TOKENS]
        for key, files in read.items()
    }
    groups: dict[tuple[str, ...], list[str]] = {}
    for key, files in own.items():
        groups.setdefault(tuple(sorted(one.tokens for one in files)), []).append(key)
    found = []
    for digests, keys in groups.items():
        if digests and len(keys) > 1:
            keys.sort()
            bytes_of = {tuple(sorted(one.exact for one in own[key])) for key in keys}
            names = tuple(one.name for one in own[keys[0]])
            found.append(Twins(tuple(keys), len(bytes_of) == 1, names))
    return tuple(found)


def _read(files: Files, cache: dict[str, tuple[str, int]]) -> list[_File]:
    """Return what is to be compared; ``cache``: that of files read before, by their digests."""
    read = []
    for name, content in files.items():
        if not is_program(name):
            continue
        exact = hashlib.sha256(content).hexdigest()
        kind = PurePosixPath(name).suffix + exact
        if kind not in cache:
            found = tokens(name, content)
            text = "\n".join(found).encode("utf-8", "replace")
            cache[kind] = hashlib.sha256(text).hexdigest(), len(found)
        digest, size = cache[kind]
        read.append(_File(digest, exact, name, size))
    return read
