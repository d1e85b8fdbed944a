r"""A download from Canvas: one flat folder for the class, with all information in the names.

Source: Canvas LMS, ``lib/content_zipper.rb``: an upload is called
``#{filename}_#{file.id}_#{sanitize_attachment_filename(file.display_name)}``, with ``filename``
made of the user's sortable name in small letters, ``LATE`` if it is late, and the user's id,
joined with ``_``, with everything but ``[[:word:]]`` deleted. With anonymous grading there
is not a name, and ``anon_`` and an anonymous id stand for the user's id. A text or a link is
``#{filename}_text.html`` or ``_link.html``. The comment there says "we use /_\d+_/ to infer the
user/attachment ids": so does this. Of a group, one member stands for all, under the group's name.

===================================== ===============================
``lovelaceada_1001_4001_a1.tgz``      user 1001, upload 4001
``lovelaceada_LATE_1001_4001_a1.tgz`` the same, late
``anon_k3x9_4002_a1.tgz``             graded anonymously
``lovelaceada_1001_text.html``        typed into a field of the page
===================================== ===============================

Canvas calls a second file of the same name ``a1-1.tgz``; the submission last has the greatest
attachment id, whatever it is called. Times are not in the download: the files' own are those of
the download or of unpacking, and say nothing about lateness; ``LATE`` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.grading.records import Student, SubmittedFile
from harness.grading.taking_in.sources.pieces import SourcePiece, version

_ID = "canvas"  # the kind of the users' ids, as in the gradebook's column ID
_ANONYMOUS_ID = "canvas-anonymous"
_WHO = r"(?:(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)|(?P<late2>LATE_)?anon_(?P<anon>[^\W_]+))"
_WHAT = r"(?:(?P<attachment>\d+)_(?P<file>.+)|(?P<page>(?:text|link)\.html))"
NAME = re.compile(f"{_WHO}_{_WHAT}", re.DOTALL)


def pieces(path: Path, found: re.Match[str]) -> Iterator[SourcePiece]:
    """Yield the submission with a file; ``found``: its name, as :data:`NAME` matches it."""
    file = found["file"] or found["page"]
    handed = SubmittedFile(path, file, late=bool(found["late"] or found["late2"]))
    yield SourcePiece(_student(found), handed, (int(found["attachment"] or 0), version(file)))


def _student(found: re.Match[str]) -> Student:
    if found["anon"]:
        number = found["anon"]
        return Student(f"anon_{number}", f"anonymous {number}", ((_ANONYMOUS_ID, number),))
    name, user = found["name"], found["user"]
    return Student(f"{name}_{user}", name or f"user {user}", ((_ID, user),))
