"""POSIX's classes of characters as Python tells them, within ASCII."""

from __future__ import annotations

import string

ASCII = "".join(map(chr, range(128)))
CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(one for one in ASCII if not one.isprintable()),
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": "".join(filter(str.isprintable, ASCII)),
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}
