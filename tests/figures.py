"""Figures that documents have in common: limits of the code, and what was measured.

A place for one is marked, ``<!--=memory.held-->1.05 times<!--/-->``, and filled from here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from harness.grading.grade import BUDGET
from harness.intake.archive_limits import IntakeLimits
from harness.options import GIB, KIB, MIB, PATIENT, UNTRUSTED, BoxLimits
from harness.sandbox import folder_copies
from harness.service.courses import engine_suites
from oracle.mistakes import MISTAKES
from tests.documents import ROOT, read

MEASURED = ROOT / "docs" / "figures.toml"
_PLACE = re.compile(r"(<!--=([\w.-]+)-->)(.*?)(<!--/-->)", re.DOTALL)
_UNITS = (("GiB", GIB), ("MiB", MIB), ("KiB", KIB))


def size(count: int) -> str:
    """Return a number of bytes in the largest unit that it is a multiple of."""
    name, unit = next((name, unit) for name, unit in _UNITS if count % unit == 0)
    return f"{count // unit} {name}"


def limits() -> dict[str, str]:
    """Return the limits that documents state, from the constants of the code."""
    of, box, taken = UNTRUSTED, BoxLimits(), IntakeLimits()
    return {
        "bank.mistakes": f"{len(MISTAKES)}",
        "sandbox.replies": f"{of.startup:g} s, {of.timeout:g} s, {of.quit:g} s",
        "sandbox.file": f"{of.file:g} s",
        "sandbox.cpu": f"{box.cpu:g} s",
        "sandbox.output": f"{size(of.max_output)}, {size(of.max_total_output)},"
        f" {size(of.max_stderr)}",
        "sandbox.memory": f"{size(box.memory)}, {size(box.address_space)}",
        "sandbox.processes": f"{box.processes}, {box.threads}",
        "sandbox.files": f"{size(box.scratch)}, {box.scratch_files:,}; {size(box.file_size)}",
        "sandbox.open-files": f"{box.open_files:,}",
        "grade.budget": f"{BUDGET / 60:g} min",
        "run.timeout": f"{PATIENT.timeout / 60:g} minutes",
        "run.output": size(PATIENT.max_output),
        "copy.folder": f"{size(folder_copies.MOST_BYTES)} or {folder_copies.MOST_FILES:,} files",
        "intake.caps": f"{size(taken.compressed)}, {size(taken.unpacked)} unpacked,"
        f" {taken.ratio} to 1, {taken.members:,} members, {taken.depth} folders deep,"
        f" {taken.seconds:g} seconds",
        "suite.runs": f"{engine_suites.KEPT} runs",
        "suite.number": f"{engine_suites.MOST_SUITES} suites",
    }


def figures() -> dict[str, str]:
    """Return all figures by name."""
    tables = tomllib.loads(read(MEASURED))
    measured = {f"{of}.{name}": text for of in tables for name, text in tables[of].items()}
    return measured | limits()


def fill(text: str, known: Mapping[str, str]) -> str:
    """Return a document with the figures at their places; lines may break where blanks are."""

    def one(found: re.Match[str]) -> str:
        new = known[found[2]]
        return found[0] if found[3].split() == new.split() else f"{found[1]}{new}{found[4]}"

    return _PLACE.sub(one, text)


def places(text: str) -> list[str]:
    """Return the names of the figures that a document has places for."""
    return [name for _, name, _, _ in _PLACE.findall(text)]
