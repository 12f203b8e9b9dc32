"""Consumer instances of v2, asked over HTTP as clients do."""

import base64
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from tests.broker import BarnabasBroker
from tests.registry import Answer, ask
from tests.rest_proxy.v2.written_topics import FIRST_MS, create_topic, write
from tests.waiting import wait_for

V2 = "application/vnd.kafka.v2+json"
LONG_MS = 20_000
PATIENCE_S = 90.0


class Consumer:
    """One instance, and a plain way to ask it."""

    def __init__(self, url: str, group: str, form: str, **settings: object) -> None:
        self._url = url
        self._form = form
        self.group = quote(group, safe="")
        named = {name.replace("_", "."): value for name, value in settings.items()}
        created = ask(
            url,
            "POST",
            f"/consumers/{self.group}",
            {"format": form, "auto.offset.reset": "earliest", **named},
            {"Content-Type": V2},
        )
        assert created.status == 200, created.raw
        self.path = created.body["base_uri"].removeprefix(url)

    def ask(self, method: str, rest: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        return ask(self._url, method, f"{self.path}{rest}", body, {"Content-Type": V2, **(headers or {})})

    def do(self, rest: str, body: object = None) -> None:
        answer = self.ask("POST", rest, body)
        assert answer.status in (200, 204), answer.raw

    def try_records(self, query: str = "") -> Answer:
        return self.ask("GET", f"/records{query}", headers={"Accept": f"application/vnd.kafka.{self._form}.v2+json"})

    def records(self, query: str = "") -> list[dict[str, Any]]:
        answer = self.try_records(query)
        assert answer.status == 200, answer.raw
        found: list[dict[str, Any]] = answer.body
        return found

    def offsets(self, query: str = "") -> list[int]:
        return [record["offset"] for record in self.records(query)]

    def read(self, count: int) -> list[dict[str, Any]]:
        """So many records, in as many reads as it takes."""
        found: list[dict[str, Any]] = []

        def enough() -> bool:
            found.extend(self.records())
            return len(found) >= count

        wait_for(enough, f"{count} records")
        return found

    def committed(self, topic: str) -> list[dict[str, Any]]:
        answer = self.ask("GET", "/offsets", {"partitions": [place(topic)]})
        found: list[dict[str, Any]] = answer.body["offsets"]
        return found

    def assigned(self) -> list[int]:
        return [each["partition"] for each in self.ask("GET", "/assignments").body["partitions"]]

    def delete(self) -> Answer:
        return self.ask("DELETE", "")


Open = Callable[..., Consumer]


@pytest.fixture
def group() -> str:
    return f"group-{secrets.token_hex(4)}"


@pytest.fixture
def consume(rest_url: str, group: str) -> Iterator[Open]:
    """Opens instances of one group, and deletes those that the test has not."""
    opened: list[Consumer] = []

    def start(form: str = "json", **settings: object) -> Consumer:
        opened.append(Consumer(rest_url, str(settings.pop("group", group)), form, **settings))
        return opened[-1]

    yield start
    for each in opened:
        each.delete()


def place(topic: str, partition: int = 0, **further: object) -> dict[str, object]:
    return {"topic": topic, "partition": partition, **further}


def numbers(count: int) -> list[bytes]:
    return [str(number).encode() for number in range(count)]


def test_the_first_read_waits_for_the_group_however_little_time_it_has(
    barnabas: BarnabasBroker, consume: Open, topic: str
) -> None:
    write(barnabas, topic, [b'{"a": 1}', b"[2]"])
    consumer = consume()
    consumer.do("/subscription", {"topics": [topic]})

    answer = consumer.try_records("?timeout=1")

    assert answer.headers["content-type"] == "application/vnd.kafka.json.v2+json"
    assert consumer.ask("GET", "/subscription").body == {"topics": [topic]}
    assert consumer.ask("GET", "/assignments").body == {"partitions": [place(topic)]}
    # A millisecond may be too little for the records.
    found = answer.body or consumer.records(f"?timeout={LONG_MS}")
    assert found[0] == {"topic": topic, "key": "k", "value": {"a": 1}, "partition": 0, "offset": 0}


def test_a_read_returns_as_soon_as_there_is_a_record(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    create_topic(barnabas, topic, 1)
    consumer = consume()
    consumer.do("/assignments", {"partitions": [place(topic)]})
    started_s = time.monotonic()
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(consumer.offsets, f"?timeout={LONG_MS}")
        write(barnabas, topic, numbers(1))
        assert reading.result() == [0]
    assert time.monotonic() - started_s < LONG_MS / 1000 / 2


def test_a_read_waits_for_as_many_bytes_as_the_instance_wants(
    barnabas: BarnabasBroker, consume: Open, topic: str
) -> None:
    write(barnabas, topic, numbers(1))
    consumer = consume(fetch_min_bytes=40, consumer_request_timeout_ms=LONG_MS)
    consumer.do("/assignments", {"partitions": [place(topic)]})
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(consumer.offsets)
        write(barnabas, topic, numbers(10))
        assert reading.result() == list(range(11))
    assert consumer.offsets("?timeout=1") == [], "the time is up before the bytes are there"


def test_clients_may_ask_for_headers_and_timestamps(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    write(barnabas, topic, numbers(1), headers=[("h", b"\xff"), ("none", None)])
    consumer = consume("binary")
    consumer.do("/assignments", {"partitions": [place(topic)]})
    [record] = consumer.records("?include=headers,timestamp")
    assert record["value"] == base64.b64encode(b"0").decode()
    assert record["timestamp"] == FIRST_MS
    assert record["headers"] == [{"name": "h", "value": "/w=="}, {"name": "none", "value": None}]


def test_a_small_answer_has_one_record_at_least_and_none_is_lost(
    barnabas: BarnabasBroker, consume: Open, topic: str
) -> None:
    write(barnabas, topic, numbers(6))
    consumer = consume()
    consumer.do("/assignments", {"partitions": [place(topic)]})
    # A record has three bytes of key and one of value.
    assert [consumer.offsets(f"?max_bytes={most}") for most in (1, 8, 9, 1000)] == [[0], [1, 2], [3, 4], [5]]


@pytest.mark.parametrize(
    ("source", "path", "body", "expected"),
    [
        ("assignments", "/positions/beginning", {"partitions": [{}]}, [0, 1, 2, 3]),
        ("assignments", "/positions/end", {"partitions": [{}]}, [4]),
        ("subscription", "/positions", {"offsets": [{"offset": 2}]}, [2, 3]),
        ("assignments", "/positions", {"offsets": [{"offset": 2}]}, [2, 3]),
        ("assignments", "/positions", {"timestamps": [{"timestamp": "2023-11-14T22:13:21Z"}]}, [1, 2, 3]),
        ("assignments", "/positions", {"timestamps": [{"timestamp": "2023-11-15T00:13:22+02:00"}]}, [2, 3]),
        ("assignments", "/positions", {"timestamps": [{"timestamp": 1_700_000_003}]}, [3]),
        ("assignments", "/positions", {"timestamps": [{"timestamp": "2100-01-01T00:00:00Z"}]}, [4]),
    ],
)
def test_a_client_moves_before_it_has_read_anything(
    barnabas: BarnabasBroker,
    consume: Open,
    topic: str,
    source: str,
    path: str,
    body: dict[str, Any],
    expected: list[int],
) -> None:
    write(barnabas, topic, numbers(4))
    consumer = consume()
    wanted = {"topics": [topic]} if source == "subscription" else {"partitions": [place(topic)]}
    consumer.do(f"/{source}", wanted)
    consumer.do(path, {name: [place(topic, **each) for each in places] for name, places in body.items()})
    if expected == [4]:
        # What is written after the move to the end is behind it.
        write(barnabas, topic, numbers(1))
    assert consumer.offsets(f"?timeout={LONG_MS}") == expected


@pytest.mark.parametrize("by_group", [False, True])
def test_without_a_place_to_begin_at_it_is_up_to_the_client_to_name_one(
    barnabas: BarnabasBroker, consume: Open, topic: str, by_group: bool
) -> None:
    write(barnabas, topic, numbers(3))
    consumer = consume(auto_offset_reset="none")
    if by_group:
        consumer.do("/subscription", {"topics": [topic]})
    else:
        consumer.do("/assignments", {"partitions": [place(topic)]})
        consumer.do("/positions", {"offsets": [place(topic, offset=2)]})
        assert consumer.offsets(f"?timeout={LONG_MS}") == [2]
        consumer.do("/positions", {"offsets": [place(topic, offset=500)]})
    wait_for(lambda: consumer.try_records().status == 500, "a refusal")
    again = consumer.try_records()
    assert (again.status, again.code) == (500, 50002)
    assert f"partition {topic}-0 is read again when you move" in again.body["message"]
    consumer.do("/positions/beginning", {"partitions": [place(topic)]})
    assert [record["offset"] for record in consumer.read(3)] == [0, 1, 2]


def test_requests_may_name_partitions_twice_and_in_text_and_need_no_content_type(
    barnabas: BarnabasBroker, consume: Open, topic: str
) -> None:
    write(barnabas, topic, numbers(2))
    consumer = consume()
    twice = {"partitions": [place(topic), {"topic": topic, "partition": "0"}]}
    assert consumer.ask("POST", "/assignments", twice, {"Content-Type": ""}).status == 204
    assert consumer.assigned() == [0]
    consumer.do("/offsets", {"offsets": [place(topic, offset=0.0)]})
    committed = consumer.ask("GET", "/offsets", twice).body["offsets"]
    assert committed == [place(topic, offset=1, metadata="")]


def test_offsets_are_committed_and_told(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    write(barnabas, topic, numbers(4))
    consumer = consume(auto_commit_enable="false")
    assert consumer.committed(topic) == []
    consumer.do("/subscription", {"topics": [topic]})
    assert consumer.offsets("?max_bytes=8") == [0, 1]

    consumer.do("/offsets")
    assert consumer.committed(topic) == [place(topic, offset=2, metadata="")], "what was fetched only does not count"

    consumer.do("/offsets", {"offsets": [place(topic, offset=2, metadata="mine")]})
    assert consumer.committed(topic) == [place(topic, offset=3, metadata="mine")]

    consumer.do("/offsets?async=true", {"offsets": [place(topic, offset=0)]})
    wait_for(lambda: consumer.committed(topic) == [place(topic, offset=1, metadata="")], "the commit")


@pytest.mark.parametrize(("commits", "next_offset"), [(True, 3), (False, 0)])
def test_an_instance_goes_on_where_the_last_one_committed(
    barnabas: BarnabasBroker, consume: Open, topic: str, commits: bool, next_offset: int
) -> None:
    write(barnabas, topic, numbers(4))
    first = consume(auto_commit_enable=commits)
    first.do("/subscription", {"topics": [topic]})
    assert first.offsets("?max_bytes=12") == [0, 1, 2]
    assert first.delete().status == 204
    second = consume()
    second.do("/subscription", {"topics": [topic]})
    assert second.offsets()[0] == next_offset


def test_a_pattern_finds_its_topics(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    for end in ("-a", "-b", "-bb"):
        write(barnabas, topic + end, numbers(1))
    consumer = consume()
    consumer.do("/subscription", {"topic_pattern": f"{topic}-[abc]"})
    assert {record["topic"] for record in consumer.read(2)} == {f"{topic}-a", f"{topic}-b"}
    assert consumer.ask("GET", "/subscription").body == {"topics": [f"{topic}-a", f"{topic}-b"]}


def test_a_subscription_can_be_given_up_and_replaced(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    write(barnabas, topic, numbers(2))
    consumer = consume()
    consumer.do("/subscription", {"topics": [topic]})
    assert len(consumer.read(2)) == 2
    assert consumer.ask("DELETE", "/subscription").status == 204
    assert consumer.ask("GET", "/subscription").body == {"topics": []}
    assert consumer.assigned() == []
    consumer.do("/assignments", {"partitions": [place(topic)]})
    consumer.do("/positions", {"offsets": [place(topic, offset=1)]})
    assert consumer.offsets(f"?timeout={LONG_MS}") == [1]


def test_the_group_shares_its_partitions_and_a_deleted_instance_leaves_at_once(
    barnabas: BarnabasBroker, consume: Open, topic: str
) -> None:
    create_topic(barnabas, topic, 2)
    first, second = consume(), consume()
    first.do("/subscription", {"topics": [topic]})
    first.records("?timeout=1")
    second.do("/subscription", {"topics": [topic]})
    # Nobody reads from the first one meanwhile; it lets the second one in all the same.
    second.records("?timeout=1")
    wait_for(lambda: len(first.assigned()) == len(second.assigned()) == 1, "a partition for each", PATIENCE_S)
    assert first.delete().status == 204
    wait_for(lambda: second.records("?timeout=1") or second.assigned() == [0, 1], "both partitions", PATIENCE_S)


def test_what_cannot_be_read_is_told_when_it_is_its_turn(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    write(barnabas, topic, [b"1", b"not json", b"3"])
    consumer = consume()
    consumer.do("/assignments", {"partitions": [place(topic)]})
    assert consumer.offsets() == [0]
    for _ in range(2):
        refusal = consumer.try_records()
        assert (refusal.status, refusal.code) == (408, 40801)
        assert f"record 1 of partition 0 of topic {topic}" in refusal.body["message"]
    consumer.do("/positions", {"offsets": [place(topic, offset=2)]})
    assert consumer.offsets() == [2]


def test_reads_of_one_instance_take_turns(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    write(barnabas, topic, numbers(9))
    consumer = consume()
    consumer.do("/assignments", {"partitions": [place(topic)]})
    with ThreadPoolExecutor(3) as threads:
        found = [reading.result() for reading in [threads.submit(consumer.offsets, "?max_bytes=12") for _ in range(3)]]
    assert sorted(found) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_a_deletion_ends_a_read(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    create_topic(barnabas, topic, 1)
    consumer = consume()
    consumer.do("/assignments", {"partitions": [place(topic)]})
    started_s = time.monotonic()
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(consumer.try_records, f"?timeout={LONG_MS}")
        assert consumer.delete().status == 204
        assert reading.result().code == 40403
    assert time.monotonic() - started_s < LONG_MS / 1000 / 2


def test_names_may_be_any_text(consume: Open, rest_url: str, group: str) -> None:
    odd = consume(group=f"{group}/a b", name="x/y?z")
    assert odd.path == f"/consumers/{group}%2Fa%20b/instances/x%2Fy%3Fz"
    assert odd.ask("GET", "/subscription").body == {"topics": []}


def test_instances_without_a_name_get_one_each(consume: Open) -> None:
    first, second = consume(), consume()
    assert first.path != second.path
    assert first.path.rpartition("/")[2].startswith("rest-consumer-")


SCHEMAS = {
    "avro": (json.dumps({"type": "record", "name": "R", "fields": [{"name": "f", "type": "int"}]}), {"f": 1}),
    "jsonschema": (json.dumps({"type": "object", "properties": {"f": {"type": "integer"}}}), {"f": 1}),
    "protobuf": ('syntax = "proto3"; message R { int32 f = 1; }', {"f": 1}),
}


@pytest.mark.parametrize("form", SCHEMAS)
def test_records_with_a_schema_come_back_as_they_were_sent(rest_url: str, consume: Open, topic: str, form: str) -> None:
    schema, value = SCHEMAS[form]
    body = {"value_schema": schema, "records": [{"value": value}]}
    sent = ask(rest_url, "POST", f"/topics/{topic}", body, {"Content-Type": f"application/vnd.kafka.{form}.v2+json"})
    assert sent.status == 200, sent.raw
    consumer = consume(form)
    consumer.do("/subscription", {"topics": [topic]})
    [record] = consumer.records()
    assert (record["key"], record["value"]) == (None, value)


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        (
            {"format": "nope"},
            422,
            422,
            "Invalid format type. There are binary, json, avro, jsonschema, protobuf. 'nope' is none",
        ),
        ({"nope": "x"}, 422, 422, "Unrecognized field: nope"),
        ({"auto.offset.reset": "nope"}, 422, 42204, "Invalid consumer configuration: "),
        ({"auto.commit.enable": "nope"}, 422, 42204, "Expected value to be either true or false"),
        ({"consumer.request.timeout.ms": -1}, 422, 42204, "consumer.request.timeout.ms"),
        ({"fetch.min.bytes": -2}, 422, 40001, "It does not abide by the constraints"),
        ({"fetch.min.bytes": 10_000_001}, 422, 40001, "It does not abide by the constraints"),
        ({"auto.offset.reset": []}, 422, 42204, "auto.offset.reset"),
        ({"name": 7}, 422, 422, "name must be a text"),
        ([], 400, 400, "must be a JSON object"),
        (b"{", 400, 400, "not valid JSON"),
    ],
)
def test_a_bad_instance_is_refused(rest_url: str, group: str, body: object, status: int, code: int, words: str) -> None:
    refusal = ask(rest_url, "POST", f"/consumers/{group}", body, {"Content-Type": V2})
    assert (refusal.status, refusal.code) == (status, code)
    assert words in refusal.body["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code", "words"),
    [
        ("GET", "/records", None, {"Accept": "application/vnd.kafka.avro.v2+json"}, 406, 40601, "does not match"),
        ("GET", "/records", None, {"Accept": V2}, 406, 40601, "does not match"),
        ("GET", "/records", None, {"Accept": "text/html"}, 406, 406, "HTTP 406 Not Acceptable"),
        ("GET", "/records", None, {}, 409, 40903, "Consumer is not subscribed to any topics"),
        ("GET", "/records?timeout=x", None, {}, 400, 400, "timeout=x is not a whole number"),
        ("GET", "/records?include=colour", None, {}, 422, 422, "include=colour is not known"),
        ("GET", "/offsets", None, {}, 404, 40402, "Partition not found."),
        ("POST", "/subscription", None, {}, 422, 422, "the request has no body"),
        ("POST", "/subscription", {"topics": ["^.*"]}, {}, 400, 40002, "Invalid topics: [^.*]"),
        ("POST", "/subscription", {"topics": "t"}, {}, 400, 400, "topics must be a list"),
        ("POST", "/subscription", {"topics": [1]}, {}, 400, 400, "topics[0] must be a text"),
        ("POST", "/subscription", {"topics": [""]}, {}, 422, 422, "topics[0] must be a text that is not empty"),
        ("POST", "/subscription", {"topic_pattern": "("}, {}, 422, 422, "not a regular expression"),
        ("POST", "/subscription", {"topics": []}, {"Content-Type": "application/json"}, 415, 415, "HTTP 415"),
        ("POST", "/assignments", {"partitions": [place("-")]}, {}, 404, 40401, "Topic not found."),
        ("POST", "/assignments", {"partitions": [{"topic": "t"}]}, {}, 422, 422, "partitions[0].partition must be"),
        ("POST", "/assignments", {"partitions": [place("t") | {"partition": 0.5}]}, {}, 400, 400, "partition must be"),
        ("POST", "/assignments", {}, {}, 422, 422, "partitions is missing"),
        (
            "POST",
            "/positions/end",
            {"partitions": [place("t")]},
            {},
            409,
            40903,
            "No current assignment for partition t-0",
        ),
        ("POST", "/positions", {"timestamps": [place("t", timestamp="x")]}, {}, 400, 400, "must be a moment such as"),
        ("POST", "/offsets", {"offsets": [place("a/b", offset=0)]}, {}, 400, 40002, "Invalid topics: [a/b]"),
        ("POST", "/offsets", {"offsets": [place("t", offset=0, metadata="\0")]}, {}, 422, 422, "a NUL character"),
        ("POST", "/offsets", {"offsets": [place("t", offset=-1)]}, {}, 422, 422, "offsets[0].offset must be"),
    ],
)
def test_a_bad_request_to_an_instance_is_refused(
    consume: Open, method: str, path: str, body: object, headers: dict[str, str], status: int, code: int, words: str
) -> None:
    refusal = consume().ask(method, path, body, headers)
    assert (refusal.status, refusal.code) == (status, code)
    assert words in refusal.body["message"]


def test_subscriptions_and_assignments_exclude_each_other(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    write(barnabas, topic, numbers(1))
    wanted = {"topics": [topic]}, {"partitions": [place(topic)]}, {"topic_pattern": f"{topic}."}
    paths = "/subscription", "/assignments", "/subscription"
    for chosen in range(3):
        consumer = consume()
        consumer.do(paths[chosen], wanted[chosen])
        for other in {0, 1, 2} - {chosen}:
            refusal = consumer.ask("POST", paths[other], wanted[other])
            assert (refusal.status, refusal.code) == (409, 40903)


def test_an_unknown_partition_of_a_known_topic_is_refused(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    write(barnabas, topic, numbers(1))
    assert consume().ask("POST", "/assignments", {"partitions": [place(topic, 7)]}).code == 40402


def test_an_instance_has_its_name_alone_and_is_unknown_when_it_is_gone(
    consume: Open, rest_url: str, group: str
) -> None:
    consumer = consume(name="one")
    again = ask(rest_url, "POST", f"/consumers/{group}", {"name": "one"}, {"Content-Type": V2})
    assert (again.status, again.code) == (409, 40902)
    assert consumer.delete().status == 204
    for method, rest in (("DELETE", ""), ("GET", "/records"), ("GET", "/subscription"), ("POST", "/offsets")):
        assert consumer.ask(method, rest).code == 40403


def test_a_topic_that_comes_to_be_later_is_read(barnabas: BarnabasBroker, consume: Open, topic: str) -> None:
    consumer = consume()
    consumer.do("/subscription", {"topics": [topic]})
    assert consumer.records("?timeout=1") == []
    write(barnabas, topic, numbers(2))
    assert [record["value"] for record in consumer.read(2)] == [0, 1]
