"""Plain text as markup."""

from __future__ import annotations


def escape(text: str) -> str:
    """Return text as HTML or XML, fit for an attribute in double quotes too."""
    if text.isalnum():
        return text
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )
