"""Ask once more before something is removed or withdrawn: a page with a button, without script."""

from __future__ import annotations

from typing import NamedTuple

from fastapi.responses import Response

from harness.service.web import rendering
from harness.service.web.access import FORM_TOKEN
from harness.service.web.here import Here

_SURE = "sure"


class SecondQuestion(NamedTuple):
    """The question that a page asks after a button was pressed."""

    text: str  # such as ``Remove this comment?``
    effect: str  # of a yes, as sentences
    button: str  # that says yes
    back: str  # the address of the page where the first button is
    words: str = ""  # of what it is about


def is_sure(here: Here) -> bool:
    """Whether a form says that this is wanted: by a tick, or by the page of a question."""
    return here.field(_SURE) == "yes"


def ask(here: Here, trail: rendering.Crumbs, question: SecondQuestion) -> Response:
    """Return the page of a question; its button sends the form once more, with a yes."""
    left_out = (FORM_TOKEN, _SURE)
    sent = [
        (name, value)
        for name, value in here.form.multi_items()
        if isinstance(value, str) and name not in left_out
    ]
    return rendering.page(here, "question.html", trail, question=question, sent=sent, yes=_SURE)
