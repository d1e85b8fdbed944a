"""The address of a cluster, its certificates, and what the role in a certificate may ask for."""

import datetime
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from harness.core.errors import UsageError
from harness.core.network import is_this_machine

if TYPE_CHECKING:
    from distributed import Security

CA = "ca.pem"
SOON = datetime.timedelta(days=30)  # before the end of a certificate: it is told from then on
_EXPECTED = "expected tls://HOST:PORT, or tcp://127.0.0.1:PORT on this machine alone"


class TlsCredentials(NamedTuple):
    """A folder of certificates, and the role of this process."""

    folder: Path
    role: str  # one of harness.cluster.tls.ROLES

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

    def security(self) -> "Security":
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


def credentials_in(folder: str, role: str) -> TlsCredentials | None:
    """Return the certificates of a folder; None for "", which uses no TLS."""
    return TlsCredentials(Path(folder), role) if folder else None


def papers(address: str, folder: str, role: str) -> TlsCredentials | None:
    """Return the certificates for an address; None for this machine, which uses no TLS.

    Raises:
        UsageError: the address cannot be read, or needs TLS; or a certificate is missing.
    """
    try:
        place = urlsplit(address)
        port = place.port
    except ValueError:
        port = None
    if port is None or place.scheme not in ("tcp", "tls") or not place.hostname or place.path:
        raise UsageError(f"cannot read the address {address!r} of the scheduler: {_EXPECTED}")
    if place.scheme == "tcp":
        if not is_this_machine(place.hostname):
            raise UsageError(
                f"{address} is not on this machine: other machines are reached with TLS only"
                " (tls://…, with --tls FOLDER)"
            )
        return None
    if not folder:
        raise UsageError(
            f"{address} needs --tls FOLDER: gtp-harness cluster certificates makes one"
        )
    found = TlsCredentials(Path(folder).absolute(), role)
    found.check()
    return found


def _read_end(path: Path) -> datetime.datetime:
    """Return when a certificate ends; raises as :meth:`TlsCredentials.check`."""
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
        SCHEDULER: "for the machine of the scheduler",
        SERVER: "for the machine that grades, which has the ledger",
        WORKER: "for each machine that runs engines",
    }[role]


# --- The role of a peer, from its certificate, and the operations that each role may ask for -----
# Dask has no roles: anyone who reaches a scheduler may run code on all workers. Here a certificate
# names the role of its owner. A worker may only say that it is alive and give the results of its
# tasks; only the scheduler speaks to a worker. Without TLS, which is allowed only on one machine,
# everybody on it may do everything.


AUTHORITY, SCHEDULER, SERVER, WORKER = "authority", "scheduler", "server", "worker"
ROLES = (SCHEDULER, SERVER, WORKER)
UNIT = "gtp-harness"  # the organizational unit of our certificates; the common name is the role

# Operations of Dask, as they are called in its messages.
_OF_A_WORKER = frozenset(
    {
        *("register-worker", "heartbeat_worker", "unregister", "close", "close-stream"),
        *("task-finished", "task-erred", "long-running", "reschedule", "keep-alive"),
        *("worker-status-change", "request-refresh-who-has", "release-worker-data", "add-keys"),
        "steal-response",
    }
)
_AT_SCHEDULER: dict[str, frozenset[str] | None] = {SERVER: None, WORKER: _OF_A_WORKER}
_AT_WORKER: dict[str, frozenset[str] | None] = {SCHEDULER: None}
_NONE: frozenset[str] = frozenset()


def role(certificate: Mapping[str, Any] | None) -> str:
    """Return the role that a certificate gives its owner, or "" for an unknown one.

    ``certificate``: as :meth:`ssl.SSLSocket.getpeercert` returns it.
    """
    parts = [pair for part in (certificate or {}).get("subject", ()) for pair in part]
    if ("organizationalUnitName", UNIT) not in parts:
        return ""
    names = [value for key, value in parts if key == "commonName"]
    return names[0] if len(names) == 1 and names[0] in ROLES else ""


def at_scheduler(asks: str) -> frozenset[str] | None:
    """Return the operations that a role may ask a scheduler for; None: all."""
    return _AT_SCHEDULER.get(asks, _NONE)


def at_worker(asks: str) -> frozenset[str] | None:
    """Return the operations that a role may ask a worker for; None: all."""
    return _AT_WORKER.get(asks, _NONE)


# --- The certificates of a cluster: an authority of its own, and one for each role ---------------


AUTHORITY_KEY = "ca-key.pem"
_HOUR = datetime.timedelta(hours=1)  # clocks of machines differ


def make(folder: Path, days: int) -> list[Path]:
    """Make an authority and a certificate for each role; return what was written.

    Raises:
        UsageError: the folder cannot be made, or has certificates already.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from None
    if (folder / CA).exists():
        raise UsageError(f"{folder / CA} is there already: name a new folder")
    own_key = ec.generate_private_key(ec.SECP256R1())
    own = _certificate(AUTHORITY, own_key, None, own_key, days)
    written = [_write(folder / AUTHORITY_KEY, _key(own_key))]
    for role in ROLES:
        key = ec.generate_private_key(ec.SECP256R1())
        text = _text(_certificate(role, key, own, own_key, days)) + _key(key)
        written.append(_write(folder / f"{role}.pem", text))
    return [*written, _write(folder / CA, _text(own))]


def _certificate(
    role: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
    signer: ec.EllipticCurvePrivateKey,
    days: int,
) -> x509.Certificate:
    """Return a certificate; ``issuer`` is None for the authority's own."""
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, UNIT),
            x509.NameAttribute(NameOID.COMMON_NAME, role),
        ]
    )
    now = datetime.datetime.now(datetime.UTC)
    begun = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer.subject if issuer else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _HOUR)
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .add_extension(
            x509.KeyUsage(
                digital_signature=issuer is not None,
                key_cert_sign=issuer is None,
                crl_sign=issuer is None,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    if issuer:
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        begun = begun.add_extension(x509.ExtendedKeyUsage(both), critical=False)
    return begun.sign(signer, hashes.SHA256())


def _text(certificate: x509.Certificate) -> bytes:
    text: bytes = certificate.public_bytes(serialization.Encoding.PEM)
    return text


def _key(key: ec.EllipticCurvePrivateKey) -> bytes:
    text: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return text


def _write(path: Path, content: bytes) -> Path:
    """Write a file that nobody else can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    return path
