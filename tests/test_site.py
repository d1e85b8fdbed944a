"""The documentation as a site: Sphinx builds it with no warning, and a reader needs no network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import CASES, PAGES, ROOT

pytestmark = [pytest.mark.processes, pytest.mark.long(16)]

# What a browser fetches by itself, and not because a reader follows a link.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//
      | <link\b(?![^>]*rel="(?:canonical|author)")[^>]*\bhref=["']?(?:https?:)?//
      | @import\s | url\(["']?(?:https?:)?//""",
    re.VERBOSE,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Build the site as ``tox -e docs`` does."""
    folder = tmp_path_factory.mktemp("site")
    words = ["-q", "-W", "--keep-going", "-c", str(ROOT / "docs"), str(ROOT), str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_page_is_built(site: Path) -> None:
    for path in (*PAGES, *CASES):
        assert (site / path.relative_to(ROOT).with_suffix(".html")).exists()
    assert (site / "index.html").exists()


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    found = [
        (path.relative_to(site), one[0])
        for path in site.rglob("*")
        if path.suffix in (".html", ".css")
        for one in FETCHED.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found
