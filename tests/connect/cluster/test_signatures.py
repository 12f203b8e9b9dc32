"""Calls between workers are signed."""

from __future__ import annotations

import pytest

from connect.cluster.failures import BadRequest, Unauthorised, WorkerError
from connect.cluster.signatures import ALGORITHM_HEADER, SIGNATURE_HEADER, new_session_key, signature_headers, verify

KEY, OTHER = new_session_key(), new_session_key()
BODY = b"[{}]"
HEADERS = signature_headers(KEY, BODY)


def test_what_was_signed_with_the_key_is_taken() -> None:
    verify(KEY, BODY, HEADERS)
    verify(KEY, BODY, {name.lower(): text for name, text in HEADERS.items()})


@pytest.mark.parametrize(
    ("key", "body", "headers", "expected"),
    [
        (KEY, b"[]", HEADERS, Unauthorised),
        (OTHER, BODY, HEADERS, Unauthorised),
        (None, BODY, HEADERS, Unauthorised),
        (KEY, BODY, {**HEADERS, SIGNATURE_HEADER: "AAAA"}, Unauthorised),
        (KEY, BODY, {}, BadRequest),
        (KEY, BODY, {SIGNATURE_HEADER: HEADERS[SIGNATURE_HEADER]}, BadRequest),
        (KEY, BODY, {**HEADERS, ALGORITHM_HEADER: "HmacMD5"}, BadRequest),
        (KEY, BODY, {**HEADERS, SIGNATURE_HEADER: "not base64!"}, BadRequest),
    ],
)
def test_what_was_not_is_refused(
    key: object, body: bytes, headers: dict[str, str], expected: type[WorkerError]
) -> None:
    with pytest.raises(expected):
        verify(key, body, headers)  # type: ignore[arg-type]
