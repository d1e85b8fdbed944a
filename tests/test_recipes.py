"""The recipes in ``docs/recipes.md`` work: each is followed in a copy of the project."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests import documents
from tests.consoles import calls, output_of
from tests.documents import ROOT, read

RECIPES = re.split(r"^## ", read(documents.RECIPES), flags=re.MULTILINE)[1:]
# What a recipe says to do: with a block of code, or to run.
_STEP = re.compile(
    r"^(?:(?P<how>Write|Append to|In) `(?P<path>[^`]+)`(?:, below `(?P<above>[^`]+)`)?:\n\n)?"
    r"```(?P<language>python|html|console)\n(?P<block>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture
def project(open_place: Path) -> Path:
    """A copy of what is installed, with programs that run it."""
    for name in ("oracle", "harness", "cases"):
        # What is compiled is copied, or each recipe would compile all; but not its halves.
        ignore = shutil.ignore_patterns("*.pyc.*")
        shutil.copytree(ROOT / name, open_place / name, ignore=ignore)
    (open_place / "tests").symlink_to(ROOT / "tests")
    (open_place / "bin").mkdir()
    for program, module in {"gtp-harness": "harness.cli", "gtp-oracle": "oracle"}.items():
        path = open_place / "bin" / program
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        path.chmod(0o755)
    return open_place


def change(project: Path, step: re.Match[str]) -> None:
    """Change a file as a step says."""
    path, block = project / step["path"], step["block"]
    if step["how"] == "Write":
        assert not path.exists()
        path.write_text(block, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    above = f"{step['above']}\n" if step["above"] else text
    assert text.count(above) == 1
    path.write_text(text.replace(above, above + block), encoding="utf-8")


@pytest.mark.processes
@pytest.mark.long(8)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda text: text.partition("\n")[0])
def test_a_recipe_works(recipe: str, project: Path) -> None:
    steps = list(_STEP.finditer(recipe))
    assert len(steps) == recipe.count("```") // 2, "each block is a step"
    path = f"{project / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
    for step in steps:
        if step["language"] != "console":
            change(project, step)
            continue
        for call in calls(step["block"]):
            found = output_of(call, project, PATH=path, PYTHONPATH=str(project))
            assert found == call.output
