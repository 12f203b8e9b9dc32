"""Whether settings with secrets are those of the last run, without keeping the secrets."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from typing import Final

SALT_BYTES: Final = 16
COST: Final = 2**14
"""Of scrypt: a guess takes some 50 ms and 16 MiB, so that a password is not found by trying."""
_SEPARATOR: Final = "$"


def fingerprint(config: Mapping[str, str]) -> str:
    return _made(config, os.urandom(SALT_BYTES))


def matches(config: Mapping[str, str], known: str) -> bool:
    try:
        salt = bytes.fromhex(known.partition(_SEPARATOR)[0])
    except ValueError:
        return False
    return hmac.compare_digest(_made(config, salt), known)


def _made(config: Mapping[str, str], salt: bytes) -> str:
    content = json.dumps(config, sort_keys=True).encode()
    digest = hashlib.scrypt(content, salt=salt, n=COST, r=8, p=1)
    return f"{salt.hex()}{_SEPARATOR}{digest.hex()}"
