"""Tests of the service make files as the service does, whose processes have this umask."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from harness.service.storage import data_folder


@pytest.fixture(autouse=True)
def _files_private() -> Iterator[None]:
    """Else what engines of another user must read would be open here, and shut where it runs."""
    before = os.umask(0)
    os.umask(before)
    data_folder.keep_files_private()
    yield
    os.umask(before)
