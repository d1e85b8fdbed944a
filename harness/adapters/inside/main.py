"""The engine for the submission in a folder, as the settings have it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .adapter_protocol import serve
from .gosensei import Gosensei
from .java_go import JavaGo

_KINDS = {"gosensei": Gosensei, "java-go": JavaGo}


def main() -> None:
    """Serve GTP; the argument is the submission's folder."""
    settings = json.loads(Path(__file__).parents[1].joinpath("settings.json").read_text())
    serve(_KINDS[settings["name"]](settings, Path(sys.argv[1]).resolve()))
