"""Platforms that may open this service, the service's own keys, and secrets that hold once.

An administrator registers a platform. Only what the administrator said of it is believed: its
issuer, the client id it gave this service, its deployments, and the origins it is reached at.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from joserfc.jwk import KeySet, RSAKey
from sqlalchemy import Connection

from harness import file_system
from harness.errors import UsageError
from harness.network import is_this_machine
from harness.service.people import accounts
from harness.service.settings import Settings
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.tables import (
    LTI_COURSE,
    LTI_LINE,
    LTI_PLATFORM,
    LTI_SCORE,
    LTI_SECRET,
    LTI_USER,
    Rows,
    new_id,
)
from harness.text import one_line

ALGORITHMS = ("RS256", "ES256")
LAUNCH, LOGIN, KEYS, REGISTER = "/lti/launch", "/lti/login", "/lti/keys", "/lti/register"
_LONGEST = 255  # characters of an id (LTI 1.3) or a title
_LONGEST_URL = 2000


class Platform(NamedTuple):
    """A platform, such as a university's Moodle."""

    id: str
    title: str
    issuer: str
    client_id: str  # as the platform calls this service
    login_url: str
    token_url: str
    jwks_url: str
    algorithm: str = "RS256"  # of its signatures
    deployments: str = ""  # the ids, with blanks between them
    hosts: str = ""  # more origins of it, with blanks between them
    keys: str = ""  # JSON: its public keys, as they were read last
    keys_at: float = 0.0
    made: float = 0.0

    @property
    def origins(self) -> list[str]:
        """Return where its pages and services are: nothing else is asked, or may frame a page."""
        own = (self.issuer, self.login_url, self.token_url, self.jwks_url)
        return sorted({origin_of(one) for one in (*own, *self.hosts.split())})

    @property
    def frame(self) -> str:
        """Return the origins as a policy has them."""
        return " ".join(self.origins)

    def has(self, address: str) -> bool:
        """Whether an address is at one of its origins."""
        return origin_of(address) in self.origins


class CourseLink(NamedTuple):
    """A course of a platform that is a course here."""

    id: str
    platform: str
    deployment: str
    context: str
    course: str
    person: str  # who linked it
    title: str = ""
    members_url: str = ""
    groups_url: str = ""
    lines_url: str = ""
    due: float = 0.0  # of the next reading of its members; 0: they are not told
    synced: float = 0.0
    trouble: str = ""
    remarks: str = ""  # a line each


PLATFORMS: Rows[Platform] = Rows(Platform, LTI_PLATFORM)
LINKS: Rows[CourseLink] = Rows(CourseLink, LTI_COURSE)


def origin_of(address: str) -> str:
    """Return the scheme, host and port of an address; "" if it has none."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return ""
    if not parts.scheme or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return f"{parts.scheme}://{host}{f':{port}' if port not in (None, default) else ''}"


def is_allowed(settings: Settings, address: str) -> bool:
    """Whether a platform may be at an address: by TLS, and not on this machine.

    A service that is only reached on this machine itself may have its platform there, too.
    """
    parts, own = urlsplit(address), urlsplit(settings.base)
    if not origin_of(address) or parts.username is not None or parts.fragment:
        return False
    if is_this_machine(parts.hostname or ""):
        return is_this_machine(own.hostname or "") and parts.scheme in ("http", "https")
    return parts.scheme == "https"


# --- registering -------------------------------------------------------------------------------


def check(settings: Settings, given: Platform) -> Platform:
    """Return a platform as it is kept.

    Raises:
        UsageError: something is missing or cannot be.
    """
    title = one_line(" ".join(given.title.split()) or urlsplit(given.issuer).netloc, _LONGEST)
    addresses = {
        "issuer": given.issuer,
        "login_url": given.login_url,
        "token_url": given.token_url,
        "jwks_url": given.jwks_url,
    }
    for name, address in addresses.items():
        if len(address) > _LONGEST_URL or not is_plain(settings, address):
            found = one_line(address, 80)
            raise UsageError(f"{name}: found {found!r}, expected https:// and the address")
    hosts = [origin_of(one) or one for one in given.hosts.split()]
    for one in hosts:
        if not is_plain(settings, one):
            raise UsageError(f"hosts: found {one_line(one, 80)!r}, expected https://HOST")
    if given.algorithm not in ALGORITHMS:
        raise UsageError(
            f"algorithm: found {one_line(given.algorithm, 20)!r}, expected one of"
            f" {', '.join(ALGORITHMS)}"
        )
    if not _is_id(given.client_id):
        raise UsageError("client_id: expected what the platform calls this service")
    if not all(map(_is_id, given.deployments.split())):
        raise UsageError("deployments: expected the deployment IDs, with blanks between them")
    deployments = " ".join(dict.fromkeys(given.deployments.split()))
    return given._replace(title=title, deployments=deployments, hosts=" ".join(hosts))


def is_plain(settings: Settings, address: str) -> bool:
    """Whether an address is an allowed one, and has nothing in it that a policy would take."""
    has_none = address.isascii() and not any(c.isspace() or c in "\"'<>;,\\" for c in address)
    return has_none and is_allowed(settings, address)


def _is_id(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and text.isascii() and text.isprintable() and " " not in text


def register(act: AuditedTransaction, settings: Settings, given: Platform) -> Platform:
    """Register a platform, or change one; ``given`` has the id then.

    Raises:
        UsageError: as :func:`check`; or the platform is registered already, by another id.
    """
    own = check(settings, given)
    known = PLATFORMS.find(act.db, issuer=own.issuer, client_id=own.client_id)
    if known and known.id != own.id:
        raise UsageError(f"client_id: {known.title} is registered with this one already")
    load_keys(settings)
    told = {"issuer": own.issuer, "client": own.client_id, "deployments": own.deployments}
    if own.id:
        values = {**own._asdict(), "keys": "", "keys_at": 0.0}
        PLATFORMS.change(act.db, values, id=own.id)
        act.note("platform changed", own.id, **told)
        return own
    made = PLATFORMS.add(act.db, own._replace(id=new_id(), made=time.time()))
    act.note("platform registered", made.id, **told)
    return made


def remove(act: AuditedTransaction, platform: str) -> None:
    """Remove a platform and its links with courses, which stay with all that is in them."""
    for link in LINKS.all(act.db, platform=platform):
        unlink(act, link)
    if PLATFORMS.remove(act.db, id=platform):
        act.note("platform removed", platform)


def unlink(act: AuditedTransaction, link: CourseLink) -> None:
    """Let a course of a platform open nothing here any more; the course here stays as it is."""
    for table in (LTI_SCORE, LTI_LINE, LTI_USER):
        act.db.execute(table.delete().where(table.c.link == link.id))
    LINKS.remove(act.db, id=link.id)
    act.note("course unlinked", link.course, platform=link.platform)


# --- the service's own keys --------------------------------------------------------------------
# In a file beside the other keys, the new one first. A platform may have read them a while ago, so
# a new key is published before anything is signed with it.

_PUBLISHED = 3600.0  # seconds before a new key signs
_KEPT = 2


def load_keys(settings: Settings) -> list[dict[str, Any]]:
    """Return the private keys, the new one first; the first one is made if there is none."""
    path = _keys_path(settings)
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", dir=settings.keys, prefix=".lti-") as file:
            file.write(json.dumps([_new_key(0.0)]))
            file.flush()
            with contextlib.suppress(FileExistsError):  # another process was quicker
                os.link(file.name, path)
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def _keys_path(settings: Settings) -> Path:
    return settings.keys / "lti.json"


def _new_key(made: float) -> dict[str, Any]:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": new_id()})
    return {"made": made, "key": key.as_dict(private=True)}


def rotate_keys(act: AuditedTransaction, settings: Settings, now: float) -> None:
    """Make a new key; the one before is still published.

    Raises:
        UsageError: the last one is so new that it has not signed anything yet.
    """
    known = load_keys(settings)
    if now - known[0]["made"] < _PUBLISHED:
        raise UsageError("there is a new key already: wait for an hour before the next one")
    path = _keys_path(settings)
    file_system.write_whole(path, json.dumps([_new_key(now), *known][:_KEPT]))
    path.chmod(0o600)
    act.note("key of LTI made", "")


def publish_keys(settings: Settings) -> dict[str, Any]:
    """Return the public keys as a key set."""
    keys = [RSAKey.import_key(one["key"]) for one in load_keys(settings)]
    return dict(KeySet([*keys]).as_dict(private=False))


def signing_key(settings: Settings, now: float) -> RSAKey:
    """Return the key that signs: the newest that platforms have had time to read."""
    known = load_keys(settings)
    found = next((one for one in known if now - one["made"] >= _PUBLISHED), known[-1])
    return _import_key(json.dumps(found["key"]))


@functools.lru_cache(4)
def _import_key(text: str) -> RSAKey:
    return RSAKey.import_key(json.loads(text))


# --- secrets that hold once --------------------------------------------------------------------


def put_secret(db: Connection, kind: str, data: Mapping[str, Any], lasts: float) -> str:
    """Return a new secret that leads to some data once; what has run out is removed."""
    secret, now = accounts.new_secret(), time.time()
    db.execute(LTI_SECRET.delete().where(LTI_SECRET.c.until < now))
    row = {"digest": secret.digest, "kind": kind, "data": json.dumps(data), "until": now + lasts}
    db.execute(LTI_SECRET.insert(), row)
    return secret.text


def read_secret(db: Connection, kind: str, text: str) -> dict[str, Any] | None:
    """Return the data of a secret, which holds on; None if it does not hold."""
    query = LTI_SECRET.select().where(
        LTI_SECRET.c.digest == accounts.digest_of(text),
        LTI_SECRET.c.kind == kind,
        LTI_SECRET.c.until > time.time(),
    )
    row = db.execute(query).fetchone()
    return None if row is None else dict(json.loads(row.data))


def use_secret(db: Connection, kind: str, text: str) -> dict[str, Any] | None:
    """Return the data of a secret, which then holds no longer; None if it does not hold.

    Of two who use it at once, one gets it.
    """
    found = read_secret(db, kind, text)
    gone = db.execute(LTI_SECRET.delete().where(LTI_SECRET.c.digest == accounts.digest_of(text)))
    return found if gone.rowcount else None


def own_path(settings: Settings, address: str) -> str:
    """Return the path of an address of this service; "" if it is another one's."""
    base = settings.base
    rest = address.removeprefix(base)
    if origin_of(address) != origin_of(base) or rest == address or not rest.startswith("/"):
        return ""
    return rest if not rest.startswith("//") and "\\" not in rest and rest.isprintable() else ""


def find(db: Connection, wanted: str) -> Platform:
    """Return a platform by its id.

    Raises:
        UsageError: there is none.
    """
    found = PLATFORMS.find(db, id=wanted)
    if found is None:
        raise UsageError(f"there is no platform {wanted!r}; gtp-harness admin platforms lists all")
    return found
