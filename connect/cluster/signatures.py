"""Calls that only workers of the group may make are signed with a key that only they can read: it stands in the config topic."""

from __future__ import annotations

import hmac
import secrets
import time
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from connect.cluster.failures import BadRequest, Unauthorised

SESSION_KEY_ALGORITHM: Final = "HmacSHA256"
SIGNATURE_HEADER: Final = "X-Connect-Authorization"
ALGORITHM_HEADER: Final = "X-Connect-Request-Signature-Algorithm"
KEY_BYTES: Final = 32
MS_PER_S: Final = 1000


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The key with which workers sign their calls to each other."""

    key: bytes
    created_ms: int


def new_session_key() -> SessionKey:
    return SessionKey(secrets.token_bytes(KEY_BYTES), int(time.time() * MS_PER_S))


def signature_headers(key: SessionKey, body: bytes) -> dict[str, str]:
    return {
        SIGNATURE_HEADER: b64encode(_signature(key, body)).decode(),
        ALGORITHM_HEADER: SESSION_KEY_ALGORITHM,
    }


def verify(key: SessionKey | None, body: bytes, headers: Mapping[str, str]) -> None:
    """BadRequest without a signature that could be right, Unauthorised with a wrong one."""
    found = {name.lower(): text for name, text in headers.items()}
    encoded, algorithm = found.get(SIGNATURE_HEADER.lower()), found.get(ALGORITHM_HEADER.lower())
    if encoded is None or algorithm is None:
        raise BadRequest("Internal request missing required signature")
    if algorithm != SESSION_KEY_ALGORITHM:
        raise BadRequest(f"This worker does not support the {algorithm} key signing algorithm")
    try:
        signature = b64decode(encoded, validate=True)
    except Base64Error:
        raise BadRequest("The signature of an internal request must be base64") from None
    if key is None or not hmac.compare_digest(signature, _signature(key, body)):
        raise Unauthorised("Internal request contained invalid signature.")


def _signature(key: SessionKey, body: bytes) -> bytes:
    return hmac.digest(key.key, body, "sha256")
