"""The service's pages have the reports' style, and names of their own for what is theirs."""

import re

from harness.report.html.style import STYLE
from harness.service.web.style import OWN_STYLE

SHARED = {"btn", "card", "main", "scroll"}  # meant to look as in reports


def classes(style):
    return set(re.findall(r"\.([a-zA-Z][\w-]*)", re.sub(r"\{[^}]*\}", " ", style)))


def test_no_class_of_our_own_has_another_meaning_in_reports():
    """The matrix of the history was called as the whole page of the service, which it squeezed."""
    assert classes(OWN_STYLE) & classes(STYLE) <= SHARED
