"""How uploads may be sent: compressed, or only after the service has agreed."""

from __future__ import annotations

import gzip
import json
import socket
from typing import Any

import pytest

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.inflation import PIECE_MAX_BYTES, StreamInflation
from tests.rest_proxy.v3.v3_service import JSON, V3Service

DEADLINE_S = 90.0
LINES = b"".join(b'{"value":{"type":"JSON","data":%d}}\n' % number for number in range(3000))
PACKED = gzip.compress(LINES)


def upload(v3: V3Service, topic: str, body: bytes, encoding: str = "gzip") -> list[dict[str, Any]]:
    answer = v3.ask("POST", f"/topics/{topic}/records", body, {**JSON, "Content-Encoding": encoding})
    assert answer.status == 200, answer.raw
    return [json.loads(line) for line in answer.raw.split(b"\r\n") if line]


def test_an_upload_may_be_compressed(v3: V3Service, topic: str) -> None:
    v3.create(topic)
    assert [receipt["offset"] for receipt in upload(v3, topic, PACKED)] == list(range(3000))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"x" * 100, "incorrect header"),
        (PACKED[:-20], "it ends too early"),
        (PACKED + b"more", "it goes on after its end"),
    ],
)
def test_what_is_no_gzip_ends_the_upload(v3: V3Service, topic: str, body: bytes, reason: str) -> None:
    v3.create(topic)
    last = upload(v3, topic, body)[-1]
    assert last["error_code"] == 400
    assert reason in last["message"]
    assert "The upload ends here" in last["message"]


def test_other_encodings_are_refused_with_the_one_that_is_not(v3: V3Service, topic: str) -> None:
    answer = v3.ask("POST", f"/topics/{topic}/records", LINES, {**JSON, "Content-Encoding": "br"})
    assert (answer.status, answer.headers["accept-encoding"]) == (415, "gzip")


def test_a_few_bytes_that_stand_for_many_are_inflated_in_pieces() -> None:
    inflation = StreamInflation()
    inflation.add(gzip.compress(bytes(10 * PIECE_MAX_BYTES + 1)))
    inflation.finish()
    sizes = [len(inflation.piece())]
    while inflation.has_more:
        sizes.append(len(inflation.piece()))
    assert sum(sizes) == 10 * PIECE_MAX_BYTES + 1
    assert max(sizes) == PIECE_MAX_BYTES


def test_a_stream_that_goes_on_after_its_end_is_refused_when_it_does() -> None:
    inflation = StreamInflation()
    inflation.add(PACKED)
    assert inflation.piece() == LINES
    with pytest.raises(HttpError, match="goes on after its end"):
        inflation.add(b"more")


def test_a_client_that_waits_for_consent_is_given_it_before_the_answer(v3: V3Service, topic: str) -> None:
    v3.create(topic)
    host, _, port = v3.url.removeprefix("http://").rpartition(":")
    body = LINES.splitlines()[0]
    with socket.create_connection((host, int(port)), DEADLINE_S) as connection, connection.makefile("rb") as answer:
        path = f"/v3/clusters/{v3.cluster_id}/topics/{topic}/records"
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\nExpect: 100-continue"
        connection.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode())
        assert answer.readline() == b"HTTP/1.1 100 Continue\r\n"
        connection.sendall(body)
        rest = answer.read()
    assert b"HTTP/1.1 200 OK" in rest
    assert b'"offset":0' in rest
