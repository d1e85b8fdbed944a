"""Delivery of mails: to a server by SMTP, or into a folder, from which an operator sends them."""

import contextlib
import os
import re
import smtplib
import ssl
import time
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from harness.errors import HarnessError, UsageError
from harness.network import is_this_machine
from harness.service.settings import Settings

NO_MAIL = (
    "This service sends no mail itself: each mail is a file on the server, which its operator has"
    " to pass on."
)
PASSWORD = "GTP_HARNESS_MAIL_PASSWORD"  # in the environment
_PORTS = {"smtp": 587, "smtps": 465}
_PATIENCE = 15.0  # seconds for an answer of the server
_STATUS = re.compile(rb"^\d\.\d{1,3}\.\d{1,3}\b")  # RFC 3463


class MailDelayedError(HarnessError):
    """A mail was not taken now: it is to be tried again."""


class MailRefusedError(HarnessError):
    """A mail will never be taken."""


class MailServer(NamedTuple):
    """A server that takes mails, as ``--mail`` names it."""

    host: str
    port: int
    user: str  # empty if the server asks for none
    is_tls: bool  # from the beginning on; else by STARTTLS

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, where nobody else hears what is said in the clear."""
        return is_this_machine(self.host)


def server(settings: Settings) -> MailServer | None:
    """Return the server of the settings; None: mails are files.

    Raises:
        UsageError: it cannot be read, has a password in it, or no address is named as the sender.
    """
    if not settings.mail:
        return None
    try:
        parts = urlsplit(settings.mail)
        found = MailServer(
            parts.hostname or "",
            parts.port or _PORTS.get(parts.scheme, 0),
            unquote(parts.username or ""),
            parts.scheme == "smtps",
        )
    except ValueError:
        parts, found = urlsplit(""), MailServer("", 0, "", False)
    if parts.password is not None:  # others on this machine see command lines
        raise UsageError(f"--mail has a password: name its file by --mail-password, or {PASSWORD}")
    if parts.scheme not in _PORTS or not found.host or parts.path.strip("/"):
        raise UsageError(
            f"--mail: found {settings.mail!r}, expected smtp://USER@HOST or smtps://USER@HOST"
        )
    if not settings.mail_from:
        raise UsageError("--mail needs --mail-from: the address that mails come from")
    if "@" not in parseaddr(settings.mail_from)[1]:
        raise UsageError(
            f"--mail-from: found {settings.mail_from!r}, expected a mail address, such as"
            " tests@example.org"
        )
    return found


def send(settings: Settings, message: EmailMessage) -> None:
    """Send a mail.

    Raises:
        MailDelayedError: it was not taken now.
        MailRefusedError: it will never be.
        UsageError: the settings are not good.
    """
    found = server(settings)
    if found is None:
        _write(settings.letters, message)
        return
    with _naming_errors(found), _connect(settings, found) as smtp:
        smtp.send_message(message)


def probe(settings: Settings) -> str:
    """Return how mails are sent, in words; nothing is sent. Raises as :func:`send`."""
    found = server(settings)
    if found is None:
        return f"files in {settings.letters}, for you to pass on: --mail names a server"
    with _naming_errors(found), _connect(settings, found) as smtp:
        smtp.noop()
    return f"{found.host}:{found.port}, from {settings.mail_from}"


def _write(folder: Path, message: EmailMessage) -> None:
    """Write a mail as a file that mail programs open; its owner alone may read it."""
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}.eml"
    unfinished = folder / f".{name}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished.touch(0o600)
        unfinished.write_bytes(message.as_bytes())
        unfinished.rename(folder / name)
    except OSError as error:
        raise MailDelayedError(f"cannot write into {folder}: {error.strerror}") from None


@contextlib.contextmanager
def _connect(settings: Settings, mail_server: MailServer) -> Iterator[smtplib.SMTP]:
    """Give a connection to a server, encrypted but on this machine, on which one is signed in."""
    place = (mail_server.host, mail_server.port)
    smtp = (
        smtplib.SMTP_SSL(*place, timeout=_PATIENCE, context=ssl.create_default_context())
        if mail_server.is_tls
        else smtplib.SMTP(*place, timeout=_PATIENCE)
    )
    with smtp:
        smtp.ehlo()
        if not mail_server.is_tls and not (mail_server.is_local and not smtp.has_extn("starttls")):
            smtp.starttls(context=ssl.create_default_context())
        if mail_server.user:
            smtp.login(mail_server.user, _password(settings))
        yield smtp


def _password(settings: Settings) -> str:
    if not settings.mail_password:
        return os.environ.get(PASSWORD, "")
    try:
        return Path(settings.mail_password).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError):
        raise MailDelayedError(f"--mail-password: cannot read {settings.mail_password}") from None


@contextlib.contextmanager
def _naming_errors(mail_server: MailServer) -> Iterator[None]:
    """Turn what goes wrong into sentences, without the words of the server.

    Those may repeat an address or, where a filter did not like it, the link.
    """
    place = f"{mail_server.host}:{mail_server.port}"
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        code, said = next(iter(error.recipients.values()))
        raise _explain_answer(place, code, said) from None
    except smtplib.SMTPAuthenticationError as error:
        raise MailDelayedError(f"{place} does not let us in: {error.smtp_code}") from None
    except smtplib.SMTPResponseException as error:
        raise _explain_answer(place, error.smtp_code, error.smtp_error) from None
    except smtplib.SMTPNotSupportedError:
        raise MailDelayedError(
            f"{place} lacks a feature that is needed: STARTTLS, AUTH or SMTPUTF8"
        ) from None
    except ssl.SSLCertVerificationError as error:
        raise MailDelayedError(f"{place}: certificate not valid: {error.verify_message}") from None
    except (OSError, smtplib.SMTPException) as error:
        why = "it does not reply as a mail server does"
        if isinstance(error, TimeoutError):
            why = f"no reply in {_PATIENCE:g} seconds"
        elif isinstance(error, smtplib.SMTPServerDisconnected):
            why = "it ended the connection"
        why = getattr(error, "strerror", None) or why
        raise MailDelayedError(f"{place} cannot be reached: {why}") from None


def _explain_answer(place: str, code: int, answer: bytes | str) -> HarnessError:
    """Return what an answer of a server means: from 500 on it will not change (RFC 5321)."""
    text = answer if isinstance(answer, bytes) else answer.encode(errors="replace")
    status = _STATUS.match(text)
    told = f"{code} {status[0].decode()}" if status else str(code)
    kind = MailRefusedError if 500 <= code < 600 else MailDelayedError
    return kind(f"{place} answered {told}")
