"""How mails read."""

from __future__ import annotations

from collections.abc import Sequence
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from typing import NamedTuple
from urllib.parse import urlsplit

from harness.escaping import one_line
from harness.service.mailing.outbox import MailRefusedError
from harness.service.records import ASKED, ROSTER, Letter
from harness.service.settings import Settings

_POLICY = SMTP.clone(max_line_length=300)  # a link stays in one line
_LONGEST = 100  # characters of a name or a title


class MailLink(NamedTuple):
    """A link, and what it opens."""

    name: str  # whose it is
    courses: tuple[str, ...]  # their titles
    link: str


_ASKED = """\
Somebody, most likely you, asked for a link to sign in at {base}.
Each link works once, within an hour. If it was not you, do nothing.
"""
_ROSTER = """\
This is your link to {base}. It signs you in as you: keep it for yourself.
Earlier links no longer work.
"""
_WORDS = {ASKED: ("Your link to sign in", _ASKED), ROSTER: ("Your link to your course", _ROSTER)}


def mail(settings: Settings, letter: Letter, ways: Sequence[MailLink]) -> EmailMessage:
    """Return the mail of a letter, with its links.

    Raises:
        RefusedError: the address is not one.
    """
    subject, text = _WORDS[letter.kind]
    sender = settings.mail_from or f"gtp-harness@{urlsplit(settings.base).hostname}"
    parts = [text.format(base=settings.base), *map(_describe_way, ways)]
    message = EmailMessage(policy=_POLICY)
    try:
        message["From"] = sender
        message["To"] = Address(addr_spec=letter.address)
        message["Subject"] = subject
    except (ValueError, IndexError, AttributeError, MessageError):  # as the parser meets them
        raise MailRefusedError("no mail can be sent to this address: correct it") from None
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2].strip("> "))
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody is out of office for it
    message.set_content("\n".join(parts))
    return message


def _describe_way(way: MailLink) -> str:
    courses = ", ".join(map(_short, way.courses))
    return f"{_short(way.name)}{f' ({courses})' if courses else ''}:\n{way.link}\n"


def _short(text: str) -> str:
    return one_line(text, _LONGEST)
