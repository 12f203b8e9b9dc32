"""Ids of requests."""

from __future__ import annotations

import pytest

from barnabas.kernel.http.request_id import CLIENT_ID_MAX_BYTES, RequestIds


@pytest.mark.parametrize("sent", [b"abc", b"6f1d0f6e-5c1e-4b8e-9d2f-000000000001", b"a" * CLIENT_ID_MAX_BYTES])
def test_the_id_of_the_client_is_kept(sent: bytes) -> None:
    assert RequestIds().take(sent) == sent


@pytest.mark.parametrize("sent", [None, b"", b"a b", b"a\x1b[31m", b"caf\xc3\xa9", b"a" * (CLIENT_ID_MAX_BYTES + 1)])
def test_an_unfit_id_is_replaced(sent: bytes | None) -> None:
    ids = RequestIds()
    first, second = ids.take(sent), ids.take(sent)
    assert first != second
    assert RequestIds().take(sent) not in (first, second)
    assert ids.take(first) == first
