"""The certificates of a cluster: an authority of its own, and one for each role."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from harness.cluster import roles
from harness.cluster.tls import CA
from harness.errors import UsageError

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
    own = _certificate(roles.AUTHORITY, own_key, None, own_key, days)
    written = [_write(folder / AUTHORITY_KEY, _key(own_key))]
    for role in roles.ROLES:
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
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, roles.UNIT),
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
        .add_extension(_usage(is_authority=issuer is None), critical=True)
    )
    if issuer:
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        begun = begun.add_extension(x509.ExtendedKeyUsage(both), critical=False)
    return begun.sign(signer, hashes.SHA256())


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _text(certificate: x509.Certificate) -> bytes:
    text: bytes = certificate.public_bytes(serialization.Encoding.PEM)
    return text


def _key(key: ec.EllipticCurvePrivateKey) -> bytes:
    text: bytes = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return text


def _write(path: Path, content: bytes) -> Path:
    """Write a file that nobody else can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return path
