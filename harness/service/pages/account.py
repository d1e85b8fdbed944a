"""The account of the person who is signed in: the name that others see, and API tokens."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.errors import UsageError
from harness.escaping import one_line
from harness.service.pages import forms
from harness.service.pages.forms import SecondQuestion
from harness.service.people import accounts
from harness.service.records import Token
from harness.service.storage import people
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import SIGNED_IN, Here
from harness.text import read_number

ROUTES = Routes()


@ROUTES.at("GET", "/me", SIGNED_IN)
def show_name(here: Now) -> Response:
    """Show the name, and a form to change it."""
    return rendering.page(here, "own_name.html", [("Your name", "")])


@ROUTES.at("POST", "/me", SIGNED_IN, most=Form(page=show_name))
def rename(here: Now) -> Response:
    """Change the name."""
    assert here.person
    with here.service.database.acting(here.by) as act:
        accounts.rename(act, here.person, here.field("name"))
    return RedirectResponse("/me", 303)


# --- The API tokens of the person who is signed in: made, shown once, revoked --------------------

_LONGEST = 20  # characters of a number that are shown


@ROUTES.at("GET", "/tokens", SIGNED_IN)
def show_tokens(here: Now) -> Response:
    """Show the person's tokens, never their secrets."""
    return _page(here)


def _page(here: Here, secret: str = "") -> Response:
    with here.service.database.reading() as db:
        found = people.TOKENS.all(db, "made", "id", person=here.by)
    crumbs = [("API tokens", "")]
    scopes = accounts.SCOPES
    return rendering.page(here, "tokens.html", crumbs, tokens=found, secret=secret, scopes=scopes)


@ROUTES.at("POST", "/tokens", SIGNED_IN, most=Form(page=show_tokens))
def make_token(here: Now) -> Response:
    """Make a token; its secret is on this answer and nowhere else."""
    name, scope, typed = (here.field(one) for one in ("name", "scope", "days"))
    if (days := read_number(typed)) is None:
        found = one_line(typed, _LONGEST)
        raise UsageError(f"days: found {found!r}, expected 1 to {accounts.LONGEST_TOKEN}")
    with here.service.database.acting(here.by) as act:
        _, secret = accounts.make_token(act, name, scope, days)
    return _page(here, secret.text)


@ROUTES.at("POST", "/tokens/{token}/revoke", SIGNED_IN)
def revoke_token(here: Now) -> Response:
    """Let a token hold no longer, once it was said that this is wanted."""
    token = _sure_token(here)
    if not forms.is_sure(here):
        return _ask_to_revoke(here, token.name)
    with here.service.database.acting(here.by) as act:
        accounts.revoke_token(act, token.id)
    return RedirectResponse("/tokens", 303)


def _sure_token(here: Here) -> Token:
    """Return the token that is asked for, if it is of the person who asks."""
    token = here.request.path_params["token"]
    with here.service.database.reading() as db:
        found = people.TOKENS.find(db, id=token, person=here.by) if token.isalnum() else None
    if found is None:
        raise Refused(404, "there is no such token")
    return found


def _ask_to_revoke(here: Here, name: str) -> Response:
    question = SecondQuestion(
        f"Revoke {name}?",
        "Programs that use this token are refused from then on, and this cannot be undone. You can"
        " make a new token and give it to them.",
        f"Yes, revoke {name}",
        "/tokens",
    )
    trail = [("API tokens", "/tokens"), (f"Revoke {name}", "")]
    return forms.ask_again(here, trail, question)
