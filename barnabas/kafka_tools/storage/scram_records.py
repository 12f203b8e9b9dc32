"""`kafka-storage format --add-scram`: credentials that a new cluster begins with."""

from __future__ import annotations

import binascii
import hashlib
import os
from typing import Final

from barnabas.kafka_tools.configs.scram_credentials import (
    DIGESTS,
    ITERATIONS_DEFAULT,
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    MECHANISMS,
    SALT_BYTES,
)
from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.wire.messages.alter_user_scram_credentials import ScramCredentialUpsertion
from barnabas.wire.records.cluster_metadata import UserScramCredentialRecord
from core_broker.metadata import scram

KNOWN: Final = frozenset(("name", "salt", "iterations", "password", "saltedpassword"))


def parse(text: str) -> UserScramCredentialRecord:
    """`SCRAM-SHA-256=[name=alice,password=secret]`; salt and saltedpassword, in base64, may take the password's place."""
    mechanism, equals, rest = text.strip().partition("=")
    if not equals:
        raise ToolError(f"Failed to find equals sign in SCRAM argument '{text.strip()}'")
    if mechanism not in MECHANISMS:
        raise ToolError(f"The add-scram mechanism {mechanism} is not supported.")
    if not rest.startswith("["):
        raise ToolError("Expected configuration string to start with [")
    if not rest.endswith("]"):
        raise ToolError("Expected configuration string to end with ]")
    parts = dict(_part(part) for part in rest[1:-1].split(","))
    if "name" not in parts:
        raise ToolError("You must supply 'name' to add-scram")
    salt = _decoded(parts["salt"], "salt") if "salt" in parts else os.urandom(SALT_BYTES)
    iterations = _iterations(parts.get("iterations"), mechanism)
    unknown = sorted(set(parts) - KNOWN)
    if "password" in parts:
        salted = hashlib.pbkdf2_hmac(DIGESTS[mechanism], parts["password"].encode(), salt, iterations)
    elif "saltedpassword" not in parts:
        raise ToolError("You must supply one of 'password' or 'saltedpassword' to add-scram")
    elif "salt" not in parts:
        raise ToolError("You must supply 'salt' with 'saltedpassword' to add-scram")
    else:
        salted = _decoded(parts["saltedpassword"], "saltedPassword")
    if unknown:
        raise ToolError(f"Unknown SCRAM configurations: {', '.join(unknown)}")
    return scram.upsert(
        ScramCredentialUpsertion(
            name=parts["name"],
            mechanism=MECHANISMS[mechanism],
            iterations=iterations,
            salt=salt,
            salted_password=salted,
        )
    )


def _part(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ToolError(f"No equals sign found in SCRAM component: {text}")
    quoted = len(value) > 1 and value.startswith('"') and value.endswith('"')
    return name, value[1:-1] if quoted else value


def _decoded(text: str, what: str) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except binascii.Error:
        raise ToolError(f"Failed to decode given {what}: it must be base64") from None


def _iterations(text: str | None, mechanism: str) -> int:
    if text is None:
        return ITERATIONS_DEFAULT
    if not text.lstrip("+-").isdigit():
        raise ToolError(f"Failed to parse iterations count: {text}")
    shown = mechanism.replace("-", "_")
    if int(text) < ITERATIONS_MIN:
        raise ToolError(f"The 'iterations' value must be >= {ITERATIONS_MIN} for add-scram using {shown}")
    if int(text) > ITERATIONS_MAX:
        raise ToolError(f"The 'iterations' value must be <= {ITERATIONS_MAX} for add-scram using {shown}")
    return int(text)
