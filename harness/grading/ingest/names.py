"""Names of students, groups and files: as keys that are safe file names, and as versions."""

import hashlib
import re
import unicodedata

_LONGEST_KEY = 80  # characters: as a file name there is room for more before and behind
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}


def with_digest(text: str, *, is_group: bool = False) -> str:
    """Return the key that nobody else has: of a student's id or a group's name in the source."""
    digest = hashlib.sha256(repr((is_group, text)).encode(errors="replace")).hexdigest()
    return f"{safe(text)}-{digest[:8]}"


def safe(text: str) -> str:
    """Return a text as a file name: letters and digits of any script, and ``. _ -`` within."""
    plain = unicodedata.normalize("NFC", text)
    kept = "".join(c if _is_letter(c) or c in "._-" else "-" for c in plain)
    key = re.sub(r"-{2,}", "-", kept).strip("._-")[:_LONGEST_KEY].rstrip("._-")
    return f"student-{key}" if not key or key.partition(".")[0].casefold() in _RESERVED else key


def _is_letter(char: str) -> bool:
    """Whether it is a letter, a mark on one or a digit; some signs of India are marks alone."""
    return unicodedata.category(char)[0] in "LMN"


def version(name: str) -> tuple[str, int]:
    """Return what sorts files of one student: ``a1.tgz``, ``a1-1.tgz``, ``a1 (2).tgz``.

    Platforms and browsers add a number to tell files of one name apart.
    """
    stem, dot, suffix = name.partition(".")
    found = re.fullmatch(r"(.*?)(?:-(\d{1,9})| ?\((\d{1,9})\))", stem, re.DOTALL)
    if not found:
        return (f"{stem}{dot}{suffix}", 0)
    return (f"{found[1]}{dot}{suffix}", int(found[2] or found[3]))


def fold_name(name: str) -> str:
    """Return what two spellings of a name have in common: ``Zoë, O'Neil`` and ``zoëoneil``."""
    plain = unicodedata.normalize("NFC", name).casefold()
    return "".join(filter(_is_letter, plain))
