"""The address of a cluster, and the certificates that its parts show each other.

On one machine there may be plain TCP; anything else is TLS, in which both ends show a certificate
of the cluster's own authority.
"""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from harness.cluster import roles
from harness.errors import UsageError
from harness.loopback import is_this_machine

if TYPE_CHECKING:
    from distributed import Security

CA = "ca.pem"
SOON = datetime.timedelta(days=30)  # before the end of a certificate: it is told from then on
_EXPECTED = "expected tls://HOST:PORT, or tcp://127.0.0.1:PORT on this machine alone"


class Papers(NamedTuple):
    """A folder of certificates, and the role of this process."""

    folder: Path
    role: str  # one of harness.cluster.roles.ROLES

    @property
    def own(self) -> Path:
        """The file with one's own certificate and its key."""
        return self.folder / f"{self.role}.pem"

    @property
    def authority(self) -> Path:
        """The file with the certificate of the authority."""
        return self.folder / CA

    def check(self) -> None:
        """Make sure that all is there, and good today.

        Raises:
            UsageError: a file is missing or cannot be read, or is not good today; gtp-harness
                cluster certificates makes new ones.
        """
        for path in (self.authority, self.own):
            if not path.is_file():
                raise UsageError(
                    f"there is no {path}: make it with gtp-harness cluster certificates; this"
                    f" machine needs {CA} and {self.own.name} from it"
                )
        self.good_until()

    def good_until(self) -> datetime.datetime:
        """Return when the first of its certificates ends; raises as :meth:`check`."""
        return min(map(_read_end, (self.authority, self.own)))

    def describe_end(self) -> str:
        """Return a warning if they end soon, else ""."""
        ends = self.good_until()
        if ends - datetime.datetime.now(datetime.UTC) > SOON:
            return ""
        return (
            f"the certificates in {self.folder} end on {ends:%Y-%m-%d}: make new ones in time with"
            " gtp-harness cluster certificates, in a new folder"
        )

    def security(self) -> Security:
        """Return them as Dask takes them."""
        from distributed import Security

        own = {
            f"tls_{who}_{what}": str(self.own)
            for who in ("client", "scheduler", "worker")
            for what in ("cert", "key")
        }
        return Security(tls_ca_file=str(self.authority), require_encryption=True, **own)

    def server_context(self) -> ssl.SSLContext:
        """Return what answers others."""
        return self._context(ssl.PROTOCOL_TLS_SERVER)

    def client_context(self) -> ssl.SSLContext:
        """Return what asks others: who they are is in their certificate, not in their address."""
        return self._context(ssl.PROTOCOL_TLS_CLIENT)

    def _context(self, protocol: int) -> ssl.SSLContext:
        context = ssl.SSLContext(protocol)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_verify_locations(self.authority)
        context.load_cert_chain(self.own)
        return context


def papers(address: str, folder: str, role: str) -> Papers | None:
    """Return the certificates for an address; None for this machine, which uses no TLS.

    Raises:
        UsageError: the address cannot be read, or needs TLS; or a certificate is missing.
    """
    scheme, host = _parts(address)
    if scheme == "tcp":
        if not is_this_machine(host):
            raise UsageError(
                f"{address} is not on this machine: other machines are reached with TLS only"
                " (tls://…, with --tls FOLDER)"
            )
        return None
    if not folder:
        raise UsageError(
            f"{address} needs --tls FOLDER: gtp-harness cluster certificates makes one"
        )
    found = Papers(Path(folder).absolute(), role)
    found.check()
    return found


def _parts(address: str) -> tuple[str, str]:
    try:
        place = urlsplit(address)
        port = place.port
    except ValueError:
        port = None
    if port is None or place.scheme not in ("tcp", "tls") or not place.hostname or place.path:
        raise UsageError(f"cannot read the address {address!r} of the scheduler: {_EXPECTED}")
    return place.scheme, place.hostname


def _read_end(path: Path) -> datetime.datetime:
    """Return when a certificate ends; raises as :meth:`Papers.check`."""
    from cryptography import x509

    try:
        one = x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is not a certificate that can be read: {error}") from None
    begins: datetime.datetime = one.not_valid_before_utc
    ends: datetime.datetime = one.not_valid_after_utc
    if not begins <= datetime.datetime.now(datetime.UTC) < ends:
        raise UsageError(
            f"{path} is good from {begins:%Y-%m-%d} to {ends:%Y-%m-%d}: gtp-harness cluster"
            " certificates makes new ones, in a new folder"
        )
    return ends


def describe(role: str) -> str:
    """Return what a certificate is for."""
    return {
        roles.SCHEDULER: "for the machine of the scheduler",
        roles.SERVER: "for the machine that grades, which has the ledger",
        roles.WORKER: "for each machine that runs engines",
    }[role]
