"""The cases that ship, by name: ``go-scoring``, ``go-scoring/thorough``, ``go-scoring/area``."""

import os
from collections.abc import Iterator
from pathlib import Path

ASSIGNMENT = "assignment.toml"  # a folder that has it is an assignment
PUBLIC = "public"  # the case files of the folder itself
_SUFFIX = ".gtp"


def folder() -> Path:
    """Return the folder of the assignments that ship: beside the package, or within it.

    In a checkout ``cases`` is a folder of its own; a wheel carries it as ``harness/cases``.
    """
    package = Path(__file__).parents[1]
    installed = package / "cases"
    return installed if installed.is_dir() else package.parent / "cases"


def names() -> list[str]:
    """Return the names of the assignments that ship."""
    return sorted(path.parent.name for path in folder().glob(f"*/{ASSIGNMENT}"))


def sets(assignment: str) -> dict[str, list[str]]:
    """Return the sets of an assignment by name, public ones first; each is paths of case files."""
    own = folder() / assignment
    others = sorted(path for path in own.iterdir() if any(path.glob(f"*{_SUFFIX}")))
    return {PUBLIC: _files(own)} | {path.name: _files(path) for path in others}


def _files(folder: Path) -> list[str]:
    return sorted(map(os.fspath, folder.glob(f"*{_SUFFIX}")))


def find_paths(name: str) -> list[str]:
    """Return the paths of the case files that a name means, if any ship under it.

    An assignment stands for all of its case files, ``/public`` and ``/thorough`` for one set of
    them, anything else for a file: by its path in the folder or, if no file has that, by its name
    in whichever set it is; ``.gtp`` may be left out.
    """
    assignment, _, rest = name.strip("/").partition("/")
    if assignment not in names():
        return []
    found = sets(assignment)
    if not rest:
        return [path for paths in found.values() for path in paths]
    files = {short(path): path for paths in found.values() for path in paths}
    wanted = f"{assignment}/{rest.removesuffix(_SUFFIX)}"
    in_sets = [path for path in files.values() if f"{assignment}/{Path(path).stem}" == wanted]
    return found.get(rest) or ([files[wanted]] if wanted in files else in_sets)


def short(path: str) -> str:
    """Return the name of a case file that ships, such as ``go-scoring/thorough/seki``."""
    return os.path.relpath(path, folder()).removesuffix(_SUFFIX)


def every_name() -> Iterator[str]:
    """Yield all names: of assignments, of sets and of files."""
    for assignment in names():
        yield assignment
        for one, paths in sets(assignment).items():
            yield f"{assignment}/{one}"
            yield from map(short, paths)
