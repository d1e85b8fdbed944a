"""The records of banks. All immutable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


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
