"""The engine for the submission in a folder, as the settings have it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .gosensei import Gosensei
from .java_go import JavaGo


def main() -> None:
    """Answer the lines of standard input, until ``quit`` or the end.

    The settings name the engine; the argument is the submission's folder.
    """
    settings = json.loads(Path(__file__).parents[1].joinpath("settings.json").read_text())
    kind = {"gosensei": Gosensei, "java-go": JavaGo}[settings["name"]]
    engine = kind(settings, Path(sys.argv[1]).resolve())
    try:
        for line in sys.stdin.buffer:
            reply = engine.handle(line.decode(errors="replace"))
            sys.stdout.buffer.write(reply.encode())
            sys.stdout.buffer.flush()
            if not engine.running:
                return
    finally:
        engine.close()
