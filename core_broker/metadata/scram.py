"""SCRAM credentials: what a broker keeps of a password that it never sees."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final, NamedTuple

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.alter_user_scram_credentials import ScramCredentialDeletion, ScramCredentialUpsertion
from barnabas.wire.records.cluster_metadata import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from core_broker.metadata.image import ClusterImage, ScramKey

ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384


class Mechanism(NamedTuple):
    name: str
    digest: str


MECHANISMS: Final[Mapping[int, Mechanism]] = {
    1: Mechanism("SCRAM-SHA-256", "sha256"),
    2: Mechanism("SCRAM-SHA-512", "sha512"),
}


def upsert(asked: ScramCredentialUpsertion) -> UserScramCredentialRecord:
    """The record of a new password. The salted password becomes two keys, which cannot be turned back into it."""
    mechanism = _check_user(asked.name, asked.mechanism)
    if not ITERATIONS_MIN <= asked.iterations <= ITERATIONS_MAX:
        raise KafkaError(
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            f"user {asked.name!r}: {asked.iterations} iterations; {ITERATIONS_MIN} to {ITERATIONS_MAX} are allowed",
        )
    if not asked.salted_password:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, f"user {asked.name!r}: the salted password is empty")
    client_key = hmac.digest(asked.salted_password, b"Client Key", mechanism.digest)
    return UserScramCredentialRecord(
        name=asked.name,
        mechanism=asked.mechanism,
        salt=asked.salt,
        stored_key=hashlib.new(mechanism.digest, client_key).digest(),
        server_key=hmac.digest(asked.salted_password, b"Server Key", mechanism.digest),
        iterations=asked.iterations,
    )


def delete(image: ClusterImage, asked: ScramCredentialDeletion) -> RemoveUserScramCredentialRecord:
    mechanism = _check_user(asked.name, asked.mechanism)
    if ScramKey(asked.name, asked.mechanism) not in image.scram_credentials:
        raise KafkaError(
            ErrorCode.RESOURCE_NOT_FOUND, f"user {asked.name!r} has no credential for {mechanism.name} to delete"
        )
    return RemoveUserScramCredentialRecord(name=asked.name, mechanism=asked.mechanism)


def _check_user(name: str, mechanism: int) -> Mechanism:
    if not name:
        raise KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "the name of a user cannot be empty")
    known = MECHANISMS.get(mechanism)
    if known is None:
        names = ", ".join(f"{number} ({each.name})" for number, each in MECHANISMS.items())
        raise KafkaError(
            ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"user {name!r}: mechanism {mechanism} is unknown; known are {names}"
        )
    return known
