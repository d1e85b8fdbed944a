"""Settings of an autograder, and how they travel in its zip."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError

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

    @property
    def budget(self) -> float:
        """Seconds for all case files of a submission."""
        return self.timeout - _BEFORE_END


def to_json(settings: GradescopeSettings) -> str:
    """Return settings as JSON."""
    return json.dumps(settings._asdict(), indent=1) + "\n"


def read(folder: Path) -> GradescopeSettings:
    """Return the settings of an autograder.

    ``folder``: with the contents of its zip.

    Raises:
        UsageError: there are none, or they are not what :func:`to_json` wrote.
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
