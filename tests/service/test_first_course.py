"""The first steps with a service, as README names them: commands of a shell, then buttons."""

from __future__ import annotations

import re
from pathlib import Path

from harness.service import web

ROOT = Path(__file__).parents[2]
HEADING = "## A course in three minutes\n"
TEMPLATES = Path(web.__file__).parent / "templates"


def test_readme_names_the_command_that_serves_and_buttons_that_pages_have():
    section = (ROOT / "README.md").read_text().partition(HEADING)[2].partition("\n## ")[0]
    _, commands, words = re.split("```(?:sh\n)?", section)
    assert commands.strip().endswith("gtp-harness serve")
    buttons = [" ".join(one.split()) for one in re.findall(r"\*([^*]+)\*", words)]
    texts = "".join(path.read_text() for path in TEMPLATES.glob("*.html"))
    assert [one for one in buttons if not re.search(rf"[\"'>]{re.escape(one)}\b", texts)] == []
    assert (buttons[0], buttons[-1]) == ("Create course", "Release the marks")
