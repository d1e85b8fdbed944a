"""The API tokens of the person who is signed in: made, shown once, revoked."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.errors import UsageError
from harness.service.people import entering
from harness.service.storage import people
from harness.service.web import rendering
from harness.service.web.access import SIGNED_IN, Form, Here, Now, Refused, Routes

ROUTES = Routes()


@ROUTES.at("GET", "/tokens", SIGNED_IN)
def show(here: Now) -> Response:
    """Show the person's tokens, never their secrets."""
    return _page(here)


def _page(here: Here, secret: str = "") -> Response:
    with here.service.database.reading() as db:
        found = people.TOKENS.all(db, "made", "id", person=here.by)
    crumbs = [("API tokens", "")]
    scopes = entering.SCOPES
    return rendering.page(here, "tokens.html", crumbs, tokens=found, secret=secret, scopes=scopes)


@ROUTES.at("POST", "/tokens", SIGNED_IN, most=Form(page=show))
def make(here: Now) -> Response:
    """Make a token; its secret is on this answer and nowhere else."""
    name, scope, days = (here.field(one) for one in ("name", "scope", "days"))
    if not (days.isascii() and days.isdigit()):
        raise UsageError(f"days: found {days!r}, expected a whole number")
    with here.service.database.acting(here.by) as act:
        _, secret = entering.token(act, name, scope, int(days))
    return _page(here, secret.text)


@ROUTES.at("POST", "/tokens/{token}/revoke", SIGNED_IN)
def revoke(here: Now) -> Response:
    """Let a token hold no longer."""
    token = here.request.path_params["token"]
    with here.service.database.acting(here.by) as act:
        if not token.isalnum() or not entering.revoke_token(act, token):
            raise Refused(404, "there is no such token")
    return RedirectResponse("/tokens", 303)
