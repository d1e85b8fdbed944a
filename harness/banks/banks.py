"""A bank as records, and as a folder: ``bank.toml`` and a folder for each submission."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness import shared_files, toml_schema
from harness.errors import AssignmentError, UsageError
from harness.toml_schema import Field, KeyPlace


class BankEntry(NamedTuple):
    """An engine of a bank as its file has it: a submission in a folder, or any command."""

    name: str
    sentence: str  # what is wrong with it, as far as somebody knows
    folder: str = ""  # in the bank, with a submission's files; its assignment says how it starts
    command: str = ""  # as typed in a shell, started in the bank's folder


class Bank(NamedTuple):
    """What the file of a bank says."""

    assignment: str  # as ``--assignment`` names it; "": of commands only
    entries: tuple[BankEntry, ...]
    left_out: Mapping[str, int]  # why others are not in it: how many


class WrongEngine(NamedTuple):
    """A program that can be started, and is wrong somehow."""

    name: str
    sentence: str
    command: str  # as typed in a shell
    folder: str  # in which it is started; "": in the folder of the case file
    submission: str = ""  # the folder of a student's files, which nobody trusts
    shown: tuple[str, ...] = ()  # paths that it may read besides


# --- A bank as a folder: ``bank.toml``, a folder for each submission, and the course folder ------
# ``bank.toml`` may as well be written by hand::
#
# [[engine]]
# name = "no-suicide"
# command = "python3 wrong/no_suicide.py"
# sentence = "it allows suicide"


FILE = "bank.toml"
COURSE = "course"  # the folder of what the course puts beside submissions
_LONG_AGO = 315_532_800  # seconds since 1970: when a student saved a file is nobody's business
_HEADING = """\
# Wrong engines by which tests are measured; made by gtp-harness bank, or by hand.
# Nothing in here says whose they were.
"""


def read(folder: Path) -> Bank:
    """Return what the file of a bank says.

    Raises:
        AssignmentError: names the file, the key, what was found and what is expected.
        UsageError: there is no bank.
    """
    path = folder / FILE
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{folder} is not a bank: there is no {FILE} in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise AssignmentError(f"is not TOML: {error}", str(path)) from None
    values = toml_schema.read_table(table, _SCHEMA, KeyPlace(str(path)))
    bank = Bank(values["assignment"], values["engine"], values["left_out"])
    _check(bank, folder, KeyPlace(str(path)))
    return bank


def write(folder: Path, bank: Bank) -> None:
    """Write the file of a bank."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text("".join(_lines(bank)), encoding="utf-8")


def add_files(folder: Path, name: str, files: Mapping[str, bytes], run: frozenset[str]) -> None:
    """Write the files of a submission into a bank; ``run``: those that can be executed."""
    for file, content in files.items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(shared_files.file_mode(is_program=file in run))
        os.utime(path, (_LONG_AGO, _LONG_AGO))


def keep_course(folder: Path, overlay: Path | None) -> None:
    """Keep the course folder, which submissions need beside them, if the bank has none."""
    if overlay and not (folder / COURSE).exists():
        left_out = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
        shutil.copytree(overlay, folder / COURSE, ignore=left_out)


def _lines(bank: Bank) -> Iterator[str]:
    yield _HEADING
    if bank.assignment:
        yield f"assignment = {_text(bank.assignment)}\n"
    for one in bank.entries:
        yield "\n[[engine]]\n"
        yield from (f"{key} = {_text(value)}\n" for key, value in one._asdict().items() if value)
    if bank.left_out:
        yield "\n[left_out] # why, and how many\n"
        yield from (f"{_text(why)} = {count}\n" for why, count in sorted(bank.left_out.items()))


def _text(value: str) -> str:
    """Return a text as a TOML string: like JSON's, except for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- the schema --------------------------------------------------------------------------------


def _as_text(value: Any, place: KeyPlace) -> str:
    if not isinstance(value, str):
        place.refuse(value, "a text")
    return str(value)


def _counts(value: Any, place: KeyPlace) -> dict[str, int]:
    if not isinstance(value, dict):
        place.refuse(value, "a table of reasons, each with a number")
    return {key: toml_schema.whole(0)(count, place.at(key)) for key, count in value.items()}


_ENTRY = {
    "name": Field(toml_schema.text),
    "sentence": Field(_as_text, ""),
    "folder": Field(_as_text, ""),
    "command": Field(_as_text, ""),
}
_SCHEMA = {
    "assignment": Field(_as_text, ""),
    "engine": Field(toml_schema.list_of(toml_schema.table(_ENTRY, BankEntry)), ()),
    "left_out": Field(_counts, {}),
}


def _check(bank: Bank, folder: Path, place: KeyPlace) -> None:
    names = [one.name for one in bank.entries]
    for number, one in enumerate(bank.entries):
        here = place.at("engine").item(number)
        if names.count(one.name) > 1:
            here.at("name").refuse(one.name, "another name for each engine")
        if bool(one.folder) is bool(one.command):
            here.refuse(one.name, "either a folder or a command")
        if one.folder and not (folder / one.folder).is_dir():
            here.at("folder").refuse(one.folder, "a folder in the bank")
