"""Where the harness keeps the files of a user, also of one without a home folder."""

from __future__ import annotations

import pwd
from collections.abc import Callable

import pytest

from harness.core import file_system
from harness.core.errors import UsageError
from harness.grading.ledger import places
from harness.service import settings


def nobody(_number: int) -> object:
    raise KeyError("uid not found")


@pytest.mark.parametrize(
    "place", [file_system.cache, file_system.user_data, places.keys, settings.data_folder]
)
def test_a_user_without_a_home_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, place: Callable[[], object]
) -> None:
    """The harness itself failed; what can be made again went into a folder called ~."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setattr(file_system.os, "geteuid", lambda: 12345)
    with pytest.raises(
        UsageError, match="the user 12345 has no home folder: set the variable HOME"
    ):
        place()
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/cache")
    monkeypatch.setenv("XDG_DATA_HOME", "/tmp/data")
    assert str(place()).startswith("/tmp/")
