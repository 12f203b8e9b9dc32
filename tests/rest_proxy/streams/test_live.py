"""Live streams: from anywhere, filtered, resumed, shared, slow, and their end."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.registry import ask
from tests.rest_proxy.streams.conftest import FOREVER, Write
from tests.rest_proxy.streams.open_stream import EVENTS, LINES, OpenStream
from tests.rest_proxy.v3.v3_service import V3Service
from tests.waiting import wait_for

VALUES = [b'{"n":%d}' % number for number in range(4)]


@pytest.fixture
def written(service: V3Service, topic: str, write: Write) -> str:
    """Four records in each of two partitions; those of the second have a key."""
    service.create(topic, 2, retention_ms=FOREVER)
    write(topic, VALUES)
    write(topic, VALUES, 1, b"k")
    return topic


def test_a_record_is_shown_as_v3_takes_it(service: V3Service, written: str) -> None:
    with OpenStream(service, written, "from=beginning&partition=1&limit=1&key_format=string") as stream:
        assert stream.rest() == [
            {
                "partition_id": 1,
                "offset": 0,
                "timestamp": "2023-11-14T22:13:20Z",
                "headers": [{"name": "h", "value": "dg=="}, {"name": "n", "value": None}],
                "key": {"type": "STRING", "data": "k"},
                "value": {"type": "JSON", "data": {"n": 0}},
            }
        ]


@pytest.mark.parametrize(("form", "shown"), [("JSON", ("BINARY", "dA==")), ("AUTO", ("STRING", "t"))])
def test_what_cannot_be_read_is_shown_in_base64(
    service: V3Service, topic: str, write: Write, form: str, shown: tuple[str, str]
) -> None:
    service.create(topic, retention_ms=FOREVER)
    write(topic, [b"1", b"\xff", b"t"])
    with OpenStream(service, topic, f"from=beginning&limit=3&value_format={form}") as stream:
        assert [(record["value"]["type"], record["value"]["data"]) for record in stream.rest()] == [
            ("JSON", 1),
            ("BINARY", "/w=="),
            shown,
        ]


def test_a_stream_shows_records_with_a_schema_without_being_told(service: V3Service, topic: str) -> None:
    service.create(topic, retention_ms=FOREVER)
    schema = '{"type": "record", "name": "R", "fields": [{"name": "f", "type": "int"}]}'
    record = {"value": {"type": "AVRO", "schema": schema, "data": {"f": 1}}}
    assert service.ask("POST", f"/topics/{topic}/records", record).body["error_code"] == 200
    with OpenStream(service, topic, "from=earliest&limit=1") as stream:
        assert stream.rest()[0]["value"] == {"type": "AVRO", "data": {"f": 1}}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("key=a", ["text", "json"]),
        ("key=%22a%22", ["json"]),
        ("key=1", ["number", "json number"]),
        ("key=a&key_format=string", ["text"]),
        ("key=a&key_format=json", ["text", "json"]),
        ("key=YQ==&key_format=binary", ["text"]),
    ],
)
def test_a_key_is_meant_as_its_format_has_it(
    service: V3Service, topic: str, write: Write, query: str, found: list[str]
) -> None:
    service.create(topic, retention_ms=FOREVER)
    for key, value in ((b"a", "text"), (b'"a"', "json"), (b"1", "number"), (b'"1"', "json number"), (b"b", "other")):
        write(topic, [value.encode()], key=key)
    with OpenStream(service, topic, f"from=beginning&limit={len(found)}&{query}") as stream:
        assert [record["value"]["data"] for record in stream.rest()] == found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from=beginning&partition=0", [(0, 0), (0, 1), (0, 2), (0, 3)]),
        ("from=beginning&key=k", [(1, 0), (1, 1), (1, 2), (1, 3)]),
        ("from=3", [(0, 3), (1, 3)]),
        ("from=0:3,1:2", [(0, 3), (1, 2), (1, 3)]),
        ("from=0:4&partition=0&partition=1", [(1, 0), (1, 1), (1, 2), (1, 3)]),
        ("from=2023-11-14T22:13:23Z", [(0, 3), (1, 3)]),
    ],
)
@pytest.mark.parametrize("accept", [LINES, EVENTS])
def test_a_stream_begins_where_it_is_told_and_goes_on(
    service: V3Service, written: str, write: Write, query: str, expected: list[tuple[int, int]], accept: str
) -> None:
    with OpenStream(service, written, query, accept) as stream:
        read = (lambda n: [each for _, each in stream.events(n)]) if accept == EVENTS else stream.records
        found = read(len(expected))
        assert sorted((each["partition_id"], each["offset"]) for each in found) == expected
        write(written, [b"true"], expected[-1][0], b"k")
        assert read(1)[0]["offset"] == 4


def test_a_stream_is_resumed_after_the_last_event(service: V3Service, written: str, write: Write) -> None:
    with OpenStream(service, written, "from=beginning", EVENTS) as stream:
        seen = stream.events(5)
    last = seen[-1][0]
    with OpenStream(service, written, "from=beginning", EVENTS, last_event_id=last) as stream:
        seen += stream.events(3)
        write(written, [b"true"])
        seen += stream.events(1)
    places = [(each["partition_id"], each["offset"]) for _, each in seen]
    assert sorted(places) == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 1), (1, 2), (1, 3)]


def test_a_stream_that_has_seen_nothing_yet_can_be_resumed(service: V3Service, written: str, write: Write) -> None:
    with OpenStream(service, written, "", EVENTS) as stream:
        field, _, place = stream.answer.readline().decode().strip().partition(": ")
        assert (field, place) == ("id", "0:4,1:4")
        assert stream.answer.readline() == b"\n"
    write(written, [b"true"])
    with OpenStream(service, written, "", EVENTS, last_event_id=place) as stream:
        assert stream.events(1)[0][1]["offset"] == 4


def test_an_id_of_an_earlier_topic_of_that_name_is_no_reason_to_refuse(service: V3Service, written: str) -> None:
    with OpenStream(service, written, "", EVENTS, last_event_id="0:9,7:1") as stream:
        assert stream.answer.readline() == b"id: 0:4,1:0\n"


def test_a_stream_of_another_cluster_is_not_there(service: V3Service, written: str) -> None:
    path = f"/v3/clusters/wrong/topics/{written}/records?from=beginning&limit=1"
    answer = ask(service.url, "GET", path, headers={"Accept": LINES})
    assert (answer.status, answer.code) == (404, 404)
    assert "Cluster wrong cannot be found." in answer.body["message"]


def test_many_streams_share_what_comes(service: V3Service, written: str, write: Write) -> None:
    with ExitStack() as opened:
        streams = [opened.enter_context(OpenStream(service, written)) for _ in range(20)]
        keyed = opened.enter_context(OpenStream(service, written, "key=k&limit=1"))
        late = opened.enter_context(OpenStream(service, written, "from=beginning"))
        late.records(8)
        write(written, [b"1", b"2"])
        write(written, [b"3"], 1, b"k")
        for stream in (*streams, late):
            values = [record["value"]["data"] for record in stream.records(3)]
            assert sorted(values) == [1, 2, 3]
        assert [record["value"]["data"] for record in keyed.rest()] == [3]


def test_a_slow_reader_loses_nothing(service: V3Service, topic: str, write: Write) -> None:
    """More than sockets and the feed hold together comes in while it does not read."""
    value, count = b'"%s"' % (b"x" * 20_000), 600
    service.create(topic, retention_ms=FOREVER)
    with OpenStream(service, topic) as slow, OpenStream(service, topic) as quick:
        for _ in range(4):
            write(topic, [value] * (count // 4))
            assert len(quick.records(count // 4)) == count // 4
        assert [record["offset"] for record in slow.records(count)] == list(range(count))
        write(topic, [b"1"])
        assert slow.records(1) == quick.records(1)


def test_a_stream_ends_with_its_topic(service: V3Service, topic: str) -> None:
    service.create(topic, retention_ms=FOREVER)
    with OpenStream(service, topic) as stream:
        assert service.ask("DELETE", f"/topics/{topic}").status == 204
        assert [last["error_code"] for last in stream.rest()] == [40403]


def test_a_member_of_a_group_commits_what_it_sends(service: V3Service, topic: str, write: Write) -> None:
    service.create(topic, retention_ms=FOREVER)
    write(topic, VALUES)
    group = f"group-{topic}"
    query = f"group={group}&from=beginning"
    with OpenStream(service, topic, f"{query}&limit=3") as stream:
        assert [record["offset"] for record in stream.rest()] == [0, 1, 2]
    consumer = Consumer({"bootstrap.servers": service.bootstrap, "group.id": group})
    try:
        (committed,) = consumer.committed([TopicPartition(topic, 0)], 20)
        assert committed.offset == 3
    finally:
        consumer.close()
    with OpenStream(service, topic, query) as stream:
        assert [record["offset"] for record in stream.records(1)] == [3]


@pytest.mark.parametrize(
    ("query", "accept", "status", "code"),
    [
        ("from=noon", LINES, 400, 400),
        ("limit=x", LINES, 400, 400),
        ("partition=2", LINES, 404, 40402),
        ("partition=x", LINES, 400, 400),
        ("value_format=nope", LINES, 400, 400),
        ("valueformat=json", LINES, 400, 400),
        ("key=a&key_format=avro", LINES, 400, 400),
        ("key=!&key_format=binary", LINES, 400, 400),
        ("group=g&partition=0", LINES, 400, 400),
        ("group=g&from=3", LINES, 400, 400),
        ("from=5", LINES, 400, 40002),
        ("from=0:4,1:5", LINES, 400, 40002),
        ("from=0:1,2:0", LINES, 404, 40402),
        ("", "text/html", 406, 406),
    ],
)
def test_a_wish_that_is_wrong_is_explained(
    service: V3Service, written: str, query: str, accept: str, status: int, code: int
) -> None:
    answer = service.ask("GET", f"/topics/{written}/records?{query}", headers={"Accept": accept})
    assert (answer.status, answer.code) == (status, code)


@pytest.mark.parametrize(
    ("query", "headers", "message"),
    [
        (
            "from=5",
            {},
            "from=5 is out of range: the next record of {topic} will be 4 in partition 0, 4 in partition 1",
        ),
        ("from=noon", {}, "from='noon' is neither beginning (earliest) nor end (latest)"),
        ("", {"Last-Event-ID": "garbage"}, "Last-Event-ID='garbage' is no id of an event"),
        ("value_format=text", {}, "value_format='text' is none of AUTO, AVRO, BINARY"),
        ("form=beginning", {}, "'form' is unknown: did you mean from?"),
    ],
)
def test_a_mistake_is_named_as_it_was_made(
    service: V3Service, written: str, query: str, headers: dict[str, str], message: str
) -> None:
    answer = service.ask("GET", f"/topics/{written}/records?{query}", headers={"Accept": LINES, **headers})
    assert answer.status == 400
    assert message.replace("{topic}", written) in answer.body["message"]


def test_an_unknown_topic_is_not_made(service: V3Service, topic: str) -> None:
    answer = service.ask("GET", f"/topics/{topic}/records", headers={"Accept": LINES})
    assert (answer.status, answer.code) == (404, 40403)
    assert topic not in {each["topic_name"] for each in service.get("/topics")["data"]}


def test_a_client_that_goes_is_noticed(service: V3Service, topic: str, write: Write) -> None:
    service.create(topic, retention_ms=FOREVER)
    with OpenStream(service, topic):
        wait_for(lambda: under_way(service) > 1, "the stream to count as under way")
    wait_for(lambda: under_way(service) == 1, "the stream to end")


def under_way(service: V3Service) -> int:
    page = ask(service.url, "GET", "/metrics").raw.decode()
    lines = [line for line in page.splitlines() if "in_flight" in line and not line.startswith("#")]
    return int(float(lines[0].rsplit(" ", 1)[1]))
