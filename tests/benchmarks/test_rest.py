from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import http_stream
from benchmarks.bare_client import BareLoad
from benchmarks.connection import HOST
from benchmarks.http_stream import HEAD_END, ChunkedBody, Occurrences, chunk
from benchmarks.karapace import KarapaceProxy
from benchmarks.proxies import OurProxy, Site
from benchmarks.rest_records import MARK, SCHEMA, VALUE_BYTES, compact, order, v2_body, v3_records
from benchmarks.rest_rows import ROWS, costs
from benchmarks.wire import UnexpectedAnswer

SITE = Site(port=1, broker_port=2, registry_port=3)
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as found:
        yield found


def answer(listener: socket.socket, pieces: list[bytes], until: bytes) -> tuple[int, threading.Thread, bytearray]:
    """A server for one connection: it answers with the pieces, and keeps what it was sent until that ends as is said."""
    received = bytearray()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            for piece in pieces:
                connection.sendall(piece)
            while not received.endswith(until) and (part := connection.recv(1 << 16)):
                received.extend(part)

    thread = threading.Thread(target=serve)
    thread.start()
    return listener.getsockname()[1], thread, received


def test_a_value_has_the_size_that_the_rows_speak_of_and_one_mark() -> None:
    text = compact(order()).encode()
    assert (len(text), text.count(MARK)) == (VALUE_BYTES, 1)


def test_requests_carry_their_records_and_avro_its_schema() -> None:
    assert json.loads(v2_body(2)) == {"records": [{"value": order()}] * 2}
    assert json.loads(v2_body(1, avro=True))["value_schema"] == SCHEMA
    assert set(order()) == {field["name"] for field in json.loads(SCHEMA)["fields"]}
    assert [json.loads(line)["value"] for line in v3_records(2).splitlines()] == [{"type": "JSON", "data": order()}] * 2


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_occurrences_are_counted_across_pieces(size: int) -> None:
    data = b"xx abab ab a b ba ab"
    found = Occurrences(b"ab")
    for start in range(0, len(data), size):
        found.feed(data[start : start + size])
    assert found.count == 4


def test_a_chunk_says_its_length() -> None:
    assert chunk(b"x" * 26) == b"1a\r\n" + b"x" * 26 + b"\r\n"
    assert chunk(b"") == b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_chunks_may_be_cut_anywhere_and_so_may_what_is_in_them(size: int) -> None:
    data = chunk(b"no") + chunk(b"te\r\n") + chunk(b"x" * 20) + chunk(b"")
    body = ChunkedBody()
    assert b"".join(body.feed(data[start : start + size]) for start in range(0, len(data), size)) == (
        b"note\r\n" + b"x" * 20
    )


def test_an_upload_ends_with_the_last_receipt(listener: socket.socket) -> None:
    port, thread, received = answer(listener, [HEAD + chunk(b"ok o"), chunk(b"k"), chunk(b" ok")], until=chunk(b""))
    assert http_stream.seconds_to_upload(port, "/upload", b"data", 3, (b"ok", 3)) > 0
    thread.join()
    assert received.endswith(chunk(b"data") * 3 + chunk(b""))


@pytest.mark.parametrize(
    ("pieces", "complaint"),
    [
        ([b"HTTP/1.1 404 Not Found\r\n\r\n"], "404 Not Found"),
        ([HEAD, chunk(b"ok ok ok")], "has 3 times b'ok', and 2 were to come"),
        ([HEAD, chunk(b"ok")], "ended too early"),
    ],
)
def test_a_stream_that_is_not_what_was_asked_for_counts_for_nothing(
    listener: socket.socket, pieces: list[bytes], complaint: str
) -> None:
    port, thread, _ = answer(listener, pieces, until=HEAD_END)
    with pytest.raises(UnexpectedAnswer, match=complaint):
        http_stream.seconds_to_read(port, http_stream.get("/records", "text/plain"), b"ok", 2)
    thread.join()


def test_costs_are_those_of_one_request_one_record_and_one_core() -> None:
    assert costs({"requests": 100, "records": 1_000, "cpu_s": 0.5}) == {
        "requests_core_s": 200,
        "records_core_s": 2_000,
        "cpu_record_us": 500,
        "cpu_us": 5_000,
    }
    assert costs({"records": 10, "cpu_s": 0}) == {"records_core_s": 1_000, "cpu_record_us": 1_000}


def test_both_proxies_ask_the_same_broker_and_registry_and_linger_alike() -> None:
    assert OurProxy().command(SITE)[1:] == [
        *("serve", "rest", "--listeners", "http://127.0.0.1:1", "--bootstrap-servers", "127.0.0.1:2"),
        *("--set", "schema.registry.url=http://127.0.0.1:3"),
    ]
    theirs = KarapaceProxy(python=Path("python3")).environment(SITE)
    assert (theirs["KARAPACE_BOOTSTRAP_URI"], theirs["KARAPACE_REGISTRY_PORT"]) == ("127.0.0.1:2", "3")
    assert (theirs["KARAPACE_PRODUCER_LINGER_MS"], theirs["KARAPACE_PRODUCER_ACKS"]) == ("0", "all")


def test_every_row_has_a_name_of_its_own() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("sent", "goes_on"), [(0, True), (9, True), (10, False)])
def test_a_bare_load_ends_with_its_count(sent: int, goes_on: bool) -> None:
    assert BareLoad("produce", lot_records=2, records=20).wants_more(sent) is goes_on
    assert BareLoad("produce", lot_records=2).wants_more(sent)
