"""The settings of a service: where its data are, who can reach it, what it accepts."""

import contextlib
import json
import os
import re
import socket
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from harness.core import file_system
from harness.core.errors import UsageError
from harness.grading.ledger.places import LedgerFile, ServerPlace

OWN_SCHEMA = "gtp_service"  # of the service's own tables on a server
_BRACKETS = str.maketrans("", "", "[]")  # around an address of IPv6
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class Settings(NamedTuple):
    """All immutable: another setting is another start."""

    data: Path  # the folder of all that is not in a database on a server
    database: str = ""  # the address of a PostgreSQL database; empty: a file in the folder
    host: str = "127.0.0.1"
    port: int = 8017
    address: str = ""  # by which people reach it, such as https://tests.example.org
    allowed_hosts: str = ""  # more names by which it may be asked, with commas between them
    workers: int = 1  # processes that judge
    sandbox: str = "auto"
    largest: int = 64 << 20  # bytes of an upload
    log: str = ""  # "-": standard error; empty: files in the folder
    rate: int = 300  # requests of all API tokens of a person in a minute
    page_rate: int = 1200  # pages of a person in a minute; who clicks asks for some 30
    streams: int = 20  # pages that a person watches at a time
    most_uploads: int = 100  # of one student to one assignment
    most_uploaded: int = 2 << 30  # bytes of these together
    mail: str = ""  # smtp:// or smtps:// and the server; empty: files in the folder
    mail_from: str = ""  # the address that mails come from
    mail_password: str = ""  # the file of the password; empty if the environment has it
    oidc: str = ""  # the issuer by which people may sign in; empty: by links alone
    oidc_client: str = ""  # as the provider calls this service
    oidc_secret: str = ""  # the file of its secret there
    oidc_claim: str = "email"  # by which people are found
    oidc_add: bool = False  # add people who are unknown
    keep: str = ""  # how long what is kept, as ``logs=30,audit=forever``; else by default
    budget: float = 1800.0  # seconds of wall time for all case files of a submission
    scheduler: str = ""  # of the cluster whose machines run engines; empty: this machine does
    tls: str = ""  # the folder of the cluster's certificates; empty: none
    bytes_host: str = ""  # an address of this machine, by which the cluster's workers reach it
    bytes_port: int = 0  # at that address; 0: any

    @property
    def base(self) -> str:
        """Return what the addresses of its pages begin with."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.address.rstrip("/") or f"http://{host}:{self.port}"

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it by TLS alone."""
        return self.base.startswith("https://")

    @property
    def originals(self) -> Path:
        """Return the store of the submitted files."""
        return self.data / "originals"

    @property
    def locks(self) -> Path:
        """Return the folder of the locks of this machine's workers."""
        return self.data / "locks" / socket.gethostname()

    @property
    def logs(self) -> Path:
        """Return the folder of the log, a file for each day."""
        return self.data / "logs"

    @property
    def letters(self) -> Path:
        """Return the folder of mails that an operator passes on, where no server sends them."""
        return self.data / "mail"

    @property
    def workers_folder(self) -> Path:
        """Return the folder in which workers show that they live."""
        return self.data / "workers"

    @property
    def cluster(self) -> Path:
        """Return the folder with the state of the cluster."""
        return self.data / "cluster"

    @property
    def keys(self) -> Path:
        """Return the folder of the keys that sign ledgers and the audit log."""
        return self.data / "keys"

    def assignment_folder(self, assignment: str) -> Path:
        """Return the folder of an assignment of a course: private case files and exports."""
        return self.data / "assignments" / assignment

    def private_folder(self, assignment: str) -> Path:
        """Return the folder of the private case files of an assignment of a course."""
        return self.assignment_folder(assignment) / "private"

    def suite(self, suite: str) -> Path:
        """Return the folder of a suite of an engine author: its runs and their history."""
        return self.data / "suites" / suite

    def own_place(self) -> LedgerFile | ServerPlace:
        """Return where the service's own tables are."""
        return self._place("service", self.data / "service.sqlite", OWN_SCHEMA)

    def ledger(self, assignment: str) -> LedgerFile | ServerPlace:
        """Return the ledger of an assignment of a course: a file, or a schema of the database."""
        file = self.assignment_folder(assignment) / "ledger.sqlite"
        return self._place(assignment, file, schema_of(assignment))

    def _place(self, name: str, file: Path, schema: str) -> LedgerFile | ServerPlace:
        key = self.keys / f"{name}.key"
        if not self.database:
            return LedgerFile(file, key)
        more = f"{'&' if '?' in self.database else '?'}options=-csearch_path%3D{schema}"
        return ServerPlace(f"{self.database}{more}", key)


def read_address(settings: Settings) -> SplitResult:
    """Return the parts of a service's own address; raises UsageError if no link can have it."""
    parts, port = urlsplit(""), None
    with contextlib.suppress(ValueError):
        parts = urlsplit(settings.base)
        port = parts.port
    whole = f"{parts.scheme}://{parts.hostname}{f':{port}' if port is not None else ''}"
    bare = settings.base.lower().translate(_BRACKETS)
    if parts.scheme not in ("http", "https") or bare != whole or any(map(str.isspace, bare)):
        raise UsageError(f"--address: found {settings.address!r}, expected https://HOST")
    return parts


def own_names(settings: Settings) -> frozenset[str]:
    """Return the names by which a service may be asked, as ``Host`` has them, without ports.

    Raises:
        UsageError: one of those that were added has more than a name.
    """
    added = [name for name in settings.allowed_hosts.lower().split(",") if name]
    for name in added:
        if not re.fullmatch(r"[0-9a-z_.-]+|\[[0-9a-f:.]+\]", name):
            raise UsageError(
                f"--allowed-host: found {name!r}, expected a name like tests.example.org"
            )
    known = (*_THIS_MACHINE, settings.host.lower(), read_address(settings).hostname or "")
    return frozenset([*(f"[{name}]" if ":" in name else name for name in known), *added])


def schema_of(assignment: str) -> str:
    """Return the schema of an assignment's ledger on a server."""
    return f"ledger_{assignment}"


def dump_settings(settings: Settings) -> str:
    """Return settings as a text for a process that this one starts."""
    found = {**settings._asdict(), "data": str(settings.data)}
    return json.dumps({"parent": os.getpid(), "settings": found})


def load_settings(text: str) -> tuple[Settings, int]:
    """Return the settings of a text that :func:`dump_settings` made, and the process that made it.

    A parent that was killed while it wrote has left a part of it: then its number is 0.
    """
    try:
        found = json.loads(text)
    except ValueError:
        return Settings(Path()), 0
    settings = found["settings"]
    return Settings(**{**settings, "data": Path(settings["data"])}), found["parent"]


def data_folder() -> Path:
    """Return the user's folder for the data of a service."""
    return Path(file_system.user_data(), "service")
