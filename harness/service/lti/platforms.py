"""Platforms that may open this service, and the service's own keys.

An administrator registers a platform. Only what the administrator said of it is believed: its
issuer, the client id it gave this service, its deployments, and the origins it is reached at.
Secrets lead from one step of a launch or a registration to the next; each holds once.
"""

import contextlib
import functools
import json
import os
import tempfile
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from joserfc.jwk import RSAKey
from sqlalchemy import Connection

from harness.core import file_system
from harness.core.errors import UsageError
from harness.core.network import is_this_machine, origin_of
from harness.core.text import one_line
from harness.service.people import accounts
from harness.service.records import CourseLink, LaunchSecret, Platform, new_id
from harness.service.settings import Settings
from harness.service.storage import lti
from harness.service.storage.audit import AuditedTransaction

ALGORITHMS = ("RS256", "ES256")
LAUNCH, LOGIN, KEYS, REGISTER = "/lti/launch", "/lti/login", "/lti/keys", "/lti/register"
_LONGEST = 255  # characters of an id (LTI 1.3) or a title
_LONGEST_URL = 2000


def is_allowed(settings: Settings, address: str) -> bool:
    """Whether a platform may be at an address: by TLS, and not on this machine.

    A service that is only reached on this machine itself may have its platform there, too.
    """
    if not origin_of(address):  # or what cannot be split
        return False
    parts, own = urlsplit(address), urlsplit(settings.base)
    if parts.username is not None or parts.fragment:
        return False
    if is_this_machine(parts.hostname or ""):
        return is_this_machine(own.hostname or "") and parts.scheme in ("http", "https")
    return parts.scheme == "https"


def is_plain(settings: Settings, address: str) -> bool:
    """Whether an address is an allowed one, and has nothing in it that a policy would take."""
    has_none = address.isascii() and not any(c.isspace() or c in "\"'<>;,\\" for c in address)
    return has_none and len(address) <= _LONGEST_URL and is_allowed(settings, address)


def check(settings: Settings, platform: Platform) -> Platform:
    """Return a platform as it is kept; raises UsageError if something is missing or cannot be."""
    title = one_line(
        " ".join(platform.title.split()) or urlsplit(platform.issuer).netloc, _LONGEST
    )
    hosts = [origin_of(one) or one for one in platform.hosts.split()]
    names = ("issuer", "login_url", "token_url", "jwks_url")
    addresses = [(name, getattr(platform, name)) for name in names]
    for name, address in (*addresses, *(("hosts", one) for one in hosts)):
        if not is_plain(settings, address):
            found = one_line(address, 80)
            raise UsageError(f"{name}: found {found!r}, expected https:// and the address")
    if platform.algorithm not in ALGORITHMS:
        found, known = one_line(platform.algorithm, 20), ", ".join(ALGORITHMS)
        raise UsageError(f"algorithm: found {found!r}, expected one of {known}")
    if not _is_id(platform.client_id):
        raise UsageError("client_id: expected what the platform calls this service")
    if not all(map(_is_id, platform.deployments.split())):
        raise UsageError("deployments: expected the deployment IDs, with blanks between them")
    deployments = " ".join(dict.fromkeys(platform.deployments.split()))
    return platform._replace(title=title, deployments=deployments, hosts=" ".join(hosts))


def _is_id(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and text.isascii() and text.isprintable() and " " not in text


def register(act: AuditedTransaction, settings: Settings, platform: Platform) -> Platform:
    """Register a platform, or change one; ``platform`` has the id then.

    Raises:
        UsageError: as :func:`check`; or the platform is registered already, by another id.
    """
    own = check(settings, platform)
    known = lti.PLATFORMS.find(act.db, issuer=own.issuer, client_id=own.client_id)
    if known and known.id != own.id:
        raise UsageError(f"client_id: {known.title} is registered with this one already")
    load_keys(settings)
    if own.id:
        find(act.db, own.id)
        values = {n: v for n, v in own._asdict().items() if n not in ("id", "made")}
        lti.PLATFORMS.change(act.db, values, id=own.id)
    else:
        own = lti.PLATFORMS.add(act.db, own._replace(id=new_id(), made=time.time()))
    what = "platform changed" if platform.id else "platform registered"
    told = {"issuer": own.issuer, "client": own.client_id, "deployments": own.deployments}
    act.note(what, own.id, **told)
    return own


def find(db: Connection, name: str) -> Platform:
    """Return a platform by its id; raises UsageError if there is none."""
    if found := lti.PLATFORMS.find(db, id=name):
        return found
    raise UsageError(f"there is no platform {name!r}; gtp-harness admin platforms lists all")


def remove(act: AuditedTransaction, platform: str) -> None:
    """Remove a platform and its links with courses, which stay with all that is in them."""
    for link in lti.LINKS.all(act.db, platform=platform):
        unlink(act, link)
    if lti.PLATFORMS.remove(act.db, id=platform):
        act.note("platform removed", platform)


def unlink(act: AuditedTransaction, link: CourseLink) -> None:
    """Let a course of a platform open nothing here any more; the course here stays as it is."""
    for rows in (lti.SCORES, lti.LINES, lti.USERS):
        rows.remove(act.db, link=link.id)
    lti.LINKS.remove(act.db, id=link.id)
    act.note("course unlinked", link.course, platform=link.platform)


# --- the service's own keys --------------------------------------------------------------------
# In a file beside the other keys, the new one first. A platform may have read them a while ago, so
# a new key is published before anything is signed with it.

_PUBLISHED = 3600.0  # seconds before a new key signs
_KEPT = 2
_PUBLIC = ("kty", "kid", "use", "alg", "n", "e")


def load_keys(settings: Settings) -> list[dict[str, Any]]:
    """Return the private keys, the new one first; the first one is made if there is none."""
    path = settings.keys / "lti.json"
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", dir=settings.keys, prefix=".lti-") as file:
            file.write(json.dumps([_new_key(0.0)]))
            file.flush()
            with contextlib.suppress(FileExistsError):  # another process was quicker
                os.link(file.name, path)
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def _new_key(timestamp: float) -> dict[str, Any]:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": new_id()})
    return {"made": timestamp, "key": key.as_dict(private=True)}


def rotate_keys(act: AuditedTransaction, settings: Settings, now: float) -> None:
    """Make a new key, beside the one before; raises UsageError if that has signed nothing yet."""
    known = load_keys(settings)
    if now - known[0]["made"] < _PUBLISHED:
        raise UsageError("there is a new key already: wait for an hour before the next one")
    path = settings.keys / "lti.json"
    file_system.write_whole(path, json.dumps([_new_key(now), *known][:_KEPT]))
    path.chmod(0o600)
    act.note("key of LTI made", "")


def publish_keys(settings: Settings) -> dict[str, Any]:
    """Return the public keys as a key set."""
    keys = [one["key"] for one in load_keys(settings)]
    return {"keys": [{name: key[name] for name in _PUBLIC} for key in keys]}


def signing_key(settings: Settings, now: float) -> RSAKey:
    """Return the key that signs: the newest that platforms have had time to read."""
    known = load_keys(settings)
    found = next((one for one in known if now - one["made"] >= _PUBLISHED), known[-1])
    return _import_key(json.dumps(found["key"]))


@functools.lru_cache(4)
def _import_key(text: str) -> RSAKey:
    return RSAKey.import_key(json.loads(text))


# --- secrets that hold once, and addresses -------------------------------------------------------


def put_secret(db: Connection, kind: str, data: Mapping[str, Any], lifetime: float) -> str:
    """Return a new secret that leads to some data once; what has run out is removed."""
    secret, now = accounts.new_secret(), time.time()
    db.execute(lti.SECRETS.table.delete().where(lti.SECRETS.table.c.until < now))
    lti.SECRETS.add(db, LaunchSecret(secret.digest, kind, json.dumps(data), now + lifetime))
    return secret.text


def read_secret(db: Connection, kind: str, text: str, *, once: bool) -> dict[str, Any] | None:
    """Return the data of a secret; None if it does not hold.

    ``once``: it then holds no longer; of two who use it at once, one gets it.
    """
    digest = accounts.digest_of(text)
    found = lti.SECRETS.find(db, digest=digest, kind=kind)
    if found is None or found.until < time.time():
        return None
    is_ours = not once or lti.SECRETS.remove(db, digest=digest)
    return dict(json.loads(found.data)) if is_ours else None


def make_link(act: AuditedTransaction, base: str) -> str:
    """Return a new address by which a platform registers itself, once within a day."""
    code = put_secret(act.db, "register", {"by": act.by}, 86400.0)
    act.note("link to register a platform made", "")
    return f"{base}{REGISTER}/{code}"


def own_path(settings: Settings, address: str) -> str:
    """Return the path of an address of this service; "" if it is another one's."""
    base = settings.base
    rest = address.removeprefix(base)
    if origin_of(address) != origin_of(base) or rest == address or not rest.startswith("/"):
        return ""
    return rest if not rest.startswith("//") and "\\" not in rest and rest.isprintable() else ""


def with_query(address: str, named: Mapping[str, str]) -> str:
    """Return an address with more in its query."""
    return f"{address}{'&' if '?' in address else '?'}{urlencode(named)}"
