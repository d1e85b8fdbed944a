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


def build(folder: Path, builder: str) -> Path:
    """Build the documentation in a folder, as strictly as ``tox -e docs`` does."""
    words = ["-q", "-W", "--keep-going", "-b", builder, "-c", ROOT / "docs", ROOT, folder]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_page_is_read_and_every_reference_leads_somewhere(tmp_path: Path) -> None:
    """All but the pages themselves, which take as long: ``tox -e docs`` writes them."""
    build(tmp_path, "dummy")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("site"), "html")


@pytest.mark.slow
def test_every_page_is_built(site: Path) -> None:
    for path in (*PAGES, *CASES):
        assert (site / path.relative_to(ROOT).with_suffix(".html")).exists()
    assert (site / "index.html").exists()


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    found = [
        (path.relative_to(site), one[0])
        for path in site.rglob("*")
        if path.suffix in (".html", ".css")
        for one in FETCHED.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found
