"""Text that is HTML or XML, told by its type from text that is not."""

from __future__ import annotations

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markupsafe import Markup
else:

    class Markup(str):
        """HTML. What is put into it is escaped, unless it is markup itself.

        ``Markup("<b>%s</b>") % text`` is the way to make it: only what stands in the source of the
        harness is ever taken for markup as it is.
        """

        __slots__ = ()

        def __mod__(self, values: object) -> Markup:
            """Put a value, or a tuple of values, in the places of ``%s``."""
            given = values if type(values) is tuple else (values,)
            return Markup(
                str.__mod__(
                    self, tuple([one if type(one) in _SAFE else _escape(one) for one in given])
                )
            )

        def __html__(self) -> str:
            """Tell templates that it is HTML."""
            return self

        def __add__(self, other: str) -> Markup:
            """Put something after it."""
            return Markup(str.__add__(self, escape(other)))

        def join(self, parts: Iterable[str]) -> Markup:
            """Put it between some parts."""
            return Markup(
                str.join(self, [part if type(part) is Markup else escape(part) for part in parts])
            )


_SAFE = (Markup, int)  # types whose values need no escape; asked for often
NOTHING = Markup()
__all__ = ["NOTHING", "Markup", "escape", "join_markup"]


def escape(value: object) -> Markup:
    """Return a value as HTML or XML, fit for an attribute in double quotes too.

    Markup stays what it is; of all else the text is escaped.
    """
    if isinstance(value, Markup):
        return value
    return Markup(_escape(value))


def _escape(value: object) -> str:
    if type(value) is str:
        text = value
    elif (as_html := getattr(value, "__html__", None)) is not None:
        return str(as_html())
    else:
        text = str(value)
    # To look is faster than to replace nothing, as with nearly all texts.
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    return text.replace('"', "&quot;") if '"' in text else text


def join_markup(parts: Iterable[str]) -> Markup:
    """Return parts one after the other; what is not markup is escaped."""
    return NOTHING.join(parts)
