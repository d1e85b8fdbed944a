"""The service's pages have the reports' style, and names of their own for what is theirs."""

import re
from pathlib import Path

import pytest

from harness.report.html.page_style import STYLE
from harness.service.web import rendering
from harness.service.web.rendering import OWN_STYLE

TEMPLATES = Path(rendering.__file__).with_name("templates")
SHARED = {"board", "btn", "card", "main", "scroll"}  # meant to look as in reports


def classes(style):
    return set(re.findall(r"\.([a-zA-Z][\w-]*)", re.sub(r"\{[^}]*\}", " ", style)))


def test_no_class_of_our_own_has_another_meaning_in_reports():
    """The matrix of the history was called as the whole page of the service, which it squeezed."""
    assert classes(OWN_STYLE) & classes(STYLE) <= SHARED


CELL = re.compile(r"<td(?! colspan)(?! data-l=)[^>]*>")


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_cells_have_their_headings_with_them(path):
    """On a phone the cells of a row stand one below the other, and the table has no head."""
    assert CELL.findall(path.read_text()) == []
