"""The platforms of a service: an administrator registers them by hand, or by a link."""

from __future__ import annotations

import time

from fastapi.responses import RedirectResponse, Response

from harness.errors import UsageError
from harness.service.lti import platforms, registration
from harness.service.lti.connection import PlatformError
from harness.service.lti.platforms import (
    ALGORITHMS,
    KEYS,
    LAUNCH,
    LOGIN,
    PLATFORMS,
    REGISTER,
    Platform,
)
from harness.service.pages import forms
from harness.service.pages.forms import SecondQuestion
from harness.service.web import rendering
from harness.service.web.access import ADMINS, ANYBODY, Context, Form, Routes
from harness.service.web.request_context import RequestContext, RequestRefused

ROUTES = Routes()
_FIELDS = (
    *("title", "issuer", "client_id", "login_url", "token_url", "jwks_url", "algorithm"),
    *("deployments", "hosts"),
)  # in the order of the record


@ROUTES.at("GET", "/lti", ADMINS)
def show(context: Context) -> Response:
    """Show the platforms, and what their administrators need to know of this service."""
    return _page(context)


def _page(context: RequestContext, link: str = "") -> Response:
    base = context.service.settings.base
    with context.service.database.reading() as db:
        found = PLATFORMS.all(db, "title", "id")
    own = {
        "Tool URL and redirect URI": f"{base}{LAUNCH}",
        "Initiate login URL": f"{base}{LOGIN}",
        "Public keyset URL": f"{base}{KEYS}",
    }
    return rendering.page(
        context, "lti_platforms.html", [("Moodle and Canvas", "")],
        platforms=found, own=own, link=link, algorithms=ALGORITHMS,
    )  # fmt: skip


@ROUTES.at("POST", "/lti/platforms", ADMINS, most=Form(page=show))
def register(context: Context) -> Response:
    """Register a platform, or change one."""
    fields = (context.field(name) for name in _FIELDS)
    given = Platform(context.field("platform"), *fields)  # type: ignore[arg-type]
    with context.service.database.acting(context.by) as act:
        if given.id:
            before = platforms.find(act.db, given.id)
            given = given._replace(made=before.made)
        platforms.register(act, context.service.settings, given)
    return RedirectResponse("/lti", 303)


@ROUTES.at("POST", "/lti/platforms/remove", ADMINS)
def remove(context: Context) -> Response:
    """Remove a platform, once it was said that this is wanted."""
    with context.service.database.acting(context.by) as act:
        found = platforms.find(act.db, context.field("platform"))
        if not forms.is_sure(context):
            question = SecondQuestion(
                f"Remove {found.title}?",
                "Nobody gets in from there any more, and no marks go there. Courses, people and"
                " marks stay here.",
                f"Yes, remove {found.title}",
                "/lti",
            )
            return forms.ask_again(context, [("Remove", "")], question)
        platforms.remove(act, found.id)
    return RedirectResponse("/lti", 303)


@ROUTES.at("POST", "/lti/keys/rotate", ADMINS, most=Form(page=show))
def rotate(context: Context) -> Response:
    """Make a new key of this service."""
    with context.service.database.acting(context.by) as act:
        platforms.rotate_keys(act, context.service.settings, time.time())
    return RedirectResponse("/lti", 303)


@ROUTES.at("POST", "/lti/registrations", ADMINS)
def make_link(context: Context) -> Response:
    """Make a link for the administrator of a platform; it is shown once."""
    with context.service.database.acting(context.by) as act:
        link = registration.make_link(act, context.service.settings.base)
    return _page(context, link)


@ROUTES.at("GET", f"{REGISTER}/{{code}}", ANYBODY)
def ask_to_register(context: Context) -> Response:
    """Ask the administrator of a platform whether to register it."""
    query = context.request.query_params
    configuration = query.get("openid_configuration", "")
    origin = _check(context, configuration)
    return rendering.page(
        context, "lti_register.html", [("Register", "")],
        origin=origin, configuration=configuration, key=query.get("registration_token", ""),
        is_done=False,
    )  # fmt: skip


def _check(context: RequestContext, configuration: str) -> str:
    """Return where a platform is, if a link to register it holds; its page may show this one."""
    with context.service.database.reading() as db:
        kept = platforms.read_secret(db, "register", context.request.path_params["code"])
    if kept is None:
        raise RequestRefused(404, "this link is used, or too old: ask for a new one")
    if not platforms.is_plain(context.service.settings, configuration):
        raise RequestRefused(
            422, "open this link from your platform: paste it where a tool is registered"
        )
    origin = platforms.origin_of(configuration)
    context.request.state.frame = origin
    return origin


@ROUTES.at("POST", f"{REGISTER}/{{code}}", ANYBODY)
def perform(context: Context) -> Response:
    """Register a platform and this service with each other."""
    settings, configuration = context.service.settings, context.field("configuration")
    origin = _check(context, configuration)
    with context.service.database.changing() as db:
        if platforms.use_secret(db, "register", context.request.path_params["code"]) is None:
            raise RequestRefused(404, "this link is used: ask for a new one")
    try:
        found = registration.perform(settings, configuration, context.field("key"))
        with context.service.database.acting() as act:
            platforms.register(act, settings, found)
    except (PlatformError, UsageError) as error:
        raise RequestRefused(
            422, f"the platform was not registered: {error}. Ask for a new link"
        ) from None
    return rendering.page(
        context, "lti_register.html", [("Registered", "")],
        origin=origin, configuration="", key="", is_done=True,
    )  # fmt: skip
