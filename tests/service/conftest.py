"""Tests of the service make files as the service does, whose processes have this umask."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from harness.environments import interpreters
from harness.environments.interpreters import Interpreter
from harness.sandbox import levels
from harness.sandbox.launcher import BoxLauncher
from harness.service.settings import Settings
from harness.service.storage import data_folder
from harness.service.web.service import Service
from tests.service.serving import KINDS, counting, open_service, settings_of

__all__ = ["counting"]


@pytest.fixture(params=KINDS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Return settings for a new service, on either database."""
    return settings_of(request.param, request, tmp_path / "data")


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    """Give a service that is open."""
    with open_service(settings) as found:
        yield found


@pytest.fixture(scope="module", autouse=True)
def _warm_workers(warm_workers: None) -> None:
    """Most jobs start one, to check or grade a submission."""


@pytest.fixture(autouse=True)
def _files_private() -> Iterator[None]:
    """Else what engines of another user must read would be open here, and shut where it runs."""
    before = os.umask(0)
    os.umask(before)
    data_folder.keep_files_private()
    yield
    os.umask(before)


@pytest.fixture(scope="package", autouse=True)
def _one_look_at_the_systems_python() -> Iterator[None]:
    """Every job starts it, to see what is installed; while tests run, that does not change."""
    inspect = interpreters.inspect_python
    once = cache(inspect)

    def inspect_or_remember(program: str, unrun: str = "") -> Interpreter:
        is_the_systems = program == interpreters.of_system() and not unrun
        return once(program) if is_the_systems else inspect(program, unrun)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreters, "inspect_python", inspect_or_remember)
        yield


class _NoPowerCut(sqlite3.Connection):
    """Waits for no disk: each commit would, for milliseconds, and a test has dozens."""

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return super().execute(statement.replace("= FULL", "= OFF"), *values)


@pytest.fixture(scope="package", autouse=True)
def _nobody_cuts_the_power() -> Iterator[None]:
    """As on the PostgreSQL of the tests; what is asked of SQLite has its own tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_NoPowerCut))
        patch.setattr(os, "fsync", lambda _: None)
        yield


_HELD: set[int] = set()  # levels of the sandbox whose canary was held


@pytest.fixture(autouse=True)
def _one_canary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every job proves its sandbox: here one canary does for all, boxes have their own tests."""
    prove = levels.prove

    def prove_once(launcher: BoxLauncher) -> None:
        if launcher.level not in _HELD:
            prove(launcher)
            _HELD.add(launcher.level)

    monkeypatch.setattr(levels, "prove", prove_once)
