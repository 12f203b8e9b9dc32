"""Describes and alters the SCRAM credentials of users for `kafka-configs`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.client.admin.session import Session
from barnabas.client.client_error import ClientError
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.errors import ErrorCode

MECHANISMS: Final = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
DIGESTS: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS_DEFAULT: Final = 4096
ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384
SALT_BYTES: Final = 20

_CREDENTIAL: Final = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)")


async def show(session: Session, users: Sequence[str]) -> None:
    from barnabas.wire.messages.describe_user_scram_credentials import (
        DescribeUserScramCredentialsRequest,
        DescribeUserScramCredentialsResponse,
        UserName,
    )

    wanted = [UserName(name=user) for user in users] or None
    answer = await session.send(
        DescribeUserScramCredentialsRequest(users=wanted),
        DescribeUserScramCredentialsResponse,
        check=lambda found: found.error_code,
    )
    if answer.error_code:
        raise error_of(answer.error_code, answer.error_message)
    names = {number: name for name, number in MECHANISMS.items()}
    for result in answer.results:
        if result.error_code == ErrorCode.RESOURCE_NOT_FOUND:
            continue
        if result.error_code:
            raise error_of(result.error_code, result.error_message)
        infos = ", ".join(
            f"{names.get(info.mechanism, 'UNKNOWN')}=iterations={info.iterations}" for info in result.credential_infos
        )
        print(f"SCRAM credential configs for user-principal '{result.user}' are {infos}")


async def alter(session: Session, user: str, add: Mapping[str, str], delete: Sequence[str]) -> None:
    """Sets and removes credentials; a password leaves this process salted only."""
    from barnabas.wire.messages.alter_user_scram_credentials import (
        AlterUserScramCredentialsRequest,
        AlterUserScramCredentialsResponse,
        ScramCredentialDeletion,
        ScramCredentialUpsertion,
    )

    upsertions = []
    for mechanism, text in add.items():
        iterations, password = _iterations_and_password(mechanism, text)
        salt = os.urandom(SALT_BYTES)
        upsertions.append(
            ScramCredentialUpsertion(
                name=user,
                mechanism=MECHANISMS[mechanism],
                iterations=iterations,
                salt=salt,
                salted_password=hashlib.pbkdf2_hmac(DIGESTS[mechanism], password.encode(), salt, iterations),
            )
        )
    deletions = [ScramCredentialDeletion(name=user, mechanism=MECHANISMS[mechanism]) for mechanism in delete]
    answer = await session.send_to_controller(
        AlterUserScramCredentialsRequest(deletions=deletions, upsertions=upsertions),
        AlterUserScramCredentialsResponse,
        check=lambda found: found.results[0].error_code,
    )
    result = answer.results[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)


def _iterations_and_password(mechanism: str, text: str) -> tuple[int, str]:
    found = _CREDENTIAL.fullmatch(text)
    if found is None:
        raise ClientError(f"Invalid credential property {mechanism.replace('-', '_')}={text}")
    iterations = ITERATIONS_DEFAULT if found[1] in (None, "-1") else int(found[1] or 0)
    if iterations < ITERATIONS_MIN:
        raise ClientError(f"Iterations {iterations} is less than the minimum {ITERATIONS_MIN} required for {mechanism}")
    if iterations > ITERATIONS_MAX:
        raise ClientError(
            f"Iterations {iterations} is greater than the maximum {ITERATIONS_MAX} allowed for {mechanism}"
        )
    return iterations, found[2]
