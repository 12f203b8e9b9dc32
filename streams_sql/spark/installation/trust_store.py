"""The certificates that the system trusts, as Java reads them. A Java runtime brings its own along, which do not know those that an
administrator has added: a company's own, above all."""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
"""Where systems keep them in one file."""
_CERTIFICATE: Final = re.compile("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)

# Java's own format, JKS: a head, entries, and a digest that ties them to a password.
_HEAD: Final = struct.Struct(">III")
_MAGIC: Final = 0xFEEDFEED
_VERSION: Final = 2
_TRUSTED: Final = 2
_PASSWORD: Final = "changeit"  # noqa: S105 - what everybody writes here: nothing is secret
_DIGEST_WORDS: Final = b"Mighty Aphrodite"


def bundle() -> Path | None:
    """The file with what the system trusts: that of SSL_CERT_FILE, Python's own, or one where systems have it."""
    named = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *_BUNDLES)
    return next((Path(name) for name in named if name and Path(name).is_file()), None)


def write(source: Path, target: Path) -> None:
    """Make a store of a file with certificates as PEM."""
    found = _CERTIFICATE.findall(source.read_text(encoding="utf-8", errors="replace"))
    target.write_bytes(_store([ssl.PEM_cert_to_DER_cert(text) for text in found]))


def _store(certificates: Sequence[bytes]) -> bytes:
    parts = [_HEAD.pack(_MAGIC, _VERSION, len(certificates))]
    for number, certificate in enumerate(certificates):
        parts += [struct.pack(">I", _TRUSTED), _text(f"system-{number}"), struct.pack(">Q", 0)]
        parts += [_text("X.509"), struct.pack(">I", len(certificate)), certificate]
    content = b"".join(parts)
    digest = hashlib.sha1(_PASSWORD.encode("utf-16-be") + _DIGEST_WORDS + content, usedforsecurity=False).digest()
    return content + digest


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()
