"""The right answers to five assignments on Go and Gomoku, with their reasons.

``import oracle`` takes almost no time, because each name below is loaded when it is first used.
Their types are in ``__init__.pyi``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The distribution's version (pyproject.toml reads it here). Looking it up would be too slow:
# importlib.metadata takes longer than the rest of an engine's start, and every run asks for it.
__version__ = "0.1.0"

# The module of each public name. If a path ends in the name, the public name is that
# module.
_HOMES = {
    "BLACK": "position",
    "EMPTY": "position",
    "WHITE": "position",
    "Diagram": "draw",
    "draw_svg": "draw",
    "draw_text": "draw",
    "FormatError": "errors",
    "IllegalMove": "errors",
    "OracleError": "errors",
    "SgfError": "errors",
    "VertexError": "errors",
    "Engine": "gtp.protocol",
    "engine_for": "assignments",
    "Snapshot": "boards",
    "read_position": "formats",
    "Explanation": "explanation",
    "is_underspecified": "explanation",
    "GoGame": "games.go",
    "GomokuGame": "games.gomoku",
    "Grid": "position",
    "Position": "position",
    "parse_vertex": "position",
    "batch": "batch",
    "batch_gomoku": "batch_gomoku",
    "go_scoring": "answers.go_scoring",
    "gomoku_policy": "answers.gomoku_policy",
    "gomoku_rules": "answers.gomoku_rules",
    "gosensei": "answers.gosensei",
    "java_go": "answers.java_go",
    "sgf": "sgf",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'oracle' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(f"oracle.{_HOMES[name]}")
    return home if _HOMES[name].endswith(name) else getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
