"""``specification.py`` beside a declaration: what TOML cannot say, such as features of tests.

It has a function ``specify``, which is given the record that the declaration makes and returns the
record to be used, changed with :func:`dataclasses.replace`: a module for ``features``, say, as the
assignments that ship have one, or a legend. It is the teacher's own code and runs in this process.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from harness.errors import AssignmentError
from harness.specifications.record import Specification

FILE = "specification.py"
_FUNCTION = "specify"


def extend(declared: Specification, folder: Path) -> Specification:
    """Return the specification that a folder's own file makes of the declared one, if it has one.

    Raises:
        AssignmentError: the file fails, or does not return a specification.
    """
    path = folder / FILE
    if not path.is_file():
        return declared
    try:
        found = runpy.run_path(str(path))[_FUNCTION](declared)
    except KeyError:
        raise AssignmentError(f"found no function {_FUNCTION}, expected one", str(path)) from None
    except Exception as error:  # noqa: BLE001 - a teacher's program may fail in any way
        text = f"{type(error).__name__}: {error}"
        raise AssignmentError(f"fails with {text}", str(path)) from None
    if not isinstance(found, Specification):
        expected = "expected the Specification that it was given, or one made of it"
        raise AssignmentError(f"{_FUNCTION} returned {found!r:.60}, {expected}", str(path))
    return found
