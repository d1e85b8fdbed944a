"""The own name, as others see it."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.service.people import accounts
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.rules import SIGNED_IN

ROUTES = Routes()


@ROUTES.at("GET", "/me", SIGNED_IN)
def show(here: Now) -> Response:
    """Show the name, and a form to change it."""
    return rendering.page(here, "own_name.html", [("Your name", "")])


@ROUTES.at("POST", "/me", SIGNED_IN, most=Form(page=show))
def rename(here: Now) -> Response:
    """Change the name."""
    assert here.person
    with here.service.database.acting(here.by) as act:
        accounts.rename(act, here.person, here.field("name"))
    return RedirectResponse("/me", 303)
