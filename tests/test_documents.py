"""The documents are true: their commands run and print what is shown, their links lead somewhere.

``GTP_HARNESS_GOLDEN=write pytest tests/test_documents.py`` writes the outputs anew.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

from oracle.mistakes import MISTAKES
from tests import golden
from tests.consoles import rerun, shell
from tests.documents import (
    DOCUMENTS,
    FOR_HOSTS,
    PAGES,
    README,
    RECIPES,
    ROOT,
    blocks,
    everything,
    links,
    name,
    read,
    section,
)

# The first of them: tests/test_installed.py; the third: tests/service/test_first_course.py.
_, TEST, _, CLUSTER = (block.strip() for block in blocks(read(README), "sh"))
RUN_AS_THEY_ARE = [path for path in DOCUMENTS if path != RECIPES]
CONSOLES = [path for path in RUN_AS_THEY_ARE if blocks(read(path), "console")]
PYTHON = [(path, block) for path in RUN_AS_THEY_ARE for block in blocks(read(path), "python")]


def test_second_command_is_what_continuous_integration_runs() -> None:
    assert TEST in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()


def test_the_commands_of_a_cluster_are_those_of_its_page() -> None:
    assert [one.strip() for one in blocks(section("Three terminals on one machine"), "sh")] == [
        CLUSTER
    ]


@pytest.mark.processes
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long(4 * len(blocks(read(path), "console"))))
        for path in CONSOLES
    ],
    ids=name,
)
def test_commands_print_what_is_shown(path: Path, open_place: Path) -> None:
    """All blocks of a document run in one folder, one after the other."""
    (open_place / "cases").symlink_to(ROOT / "cases")
    golden.check(path, rerun(read(path), open_place))


def test_an_excerpt_is_of_what_check_prints() -> None:
    """Between lines that are ``…`` it is word for word as in the golden file, and in its order."""
    printed = read(ROOT / "tests/harness/golden/check/gosensei-plural.txt")
    (shown,) = blocks(read(ROOT / "docs" / "checking.md"), "text")
    end = 0
    for excerpt in re.split(r"^…\n", shown, flags=re.MULTILINE):
        assert excerpt in printed[end:]
        end = printed.index(excerpt, end) + len(excerpt)


@pytest.mark.processes
@pytest.mark.parametrize(
    "block", [pytest.param(block, id=f"{name(path)}-{block[:20]}") for path, block in PYTHON]
)
def test_python_prints_what_its_comments_say(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comment behind a call of ``print`` is the line that it prints first."""
    (tmp_path / "block.py").write_text(block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        runpy.run_path("block.py")
    told = re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE)
    assert said.getvalue().splitlines()[: len(told)] == told


@pytest.mark.processes
@pytest.mark.parametrize("program", ["gtp-harness", "gtp-oracle"])
def test_every_command_is_described(program: str) -> None:
    text = "".join(read(path) for path in [README, *PAGES] if path.parent.name != "reference")
    commands = re.findall(r"^  ([a-z]+)  ", shell(f"{program} --help", ROOT).stdout, re.MULTILINE)
    assert commands
    for command in commands:
        assert f"`{command}`" in text or f"{program} {command}" in text, command


def test_links_lead_somewhere() -> None:
    near = [(path, one) for path in DOCUMENTS for one in links(path)]
    dead = [
        f"{name(path)}: {one}"
        for path, one in near
        if not re.match("https?:", one) and not (path.parent / one.partition("#")[0]).exists()
    ]
    assert dead == []


def test_every_page_is_linked() -> None:
    """From the README in one or more steps; what nobody finds is not read."""
    found, left = set(), [README]
    while left:
        path = left.pop().resolve()
        if path not in found and path in DOCUMENTS:
            found.add(path)
            left += [path.parent / one.partition("#")[0] for one in links(path)]
    assert found | set(FOR_HOSTS) == set(DOCUMENTS)


def test_the_number_of_mistakes_is_the_bank_s() -> None:
    (told,) = re.findall(r"The oracle can make (\d+) common mistakes", everything())
    assert int(told) == len(MISTAKES)
