"""Real-time mode on real Spark: what is lowered natively says the same as what runs in Python."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from barnabas.kernel.serdes.codecs import CodecOptions, Codecs
from barnabas.kernel.serdes.framing import id_prefix
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import AVRO, SchemaText
from streams_sql.formats.serde import RegistryAccess
from streams_sql.plan.nodes import PersistentPlan
from streams_sql.spark.driver.messages import (
    REAL_TIME_INTERVAL_MS,
    BadRecord,
    Event,
    FailureKind,
    Progress,
    QueryFailed,
    SlotsChanged,
    Trigger,
)
from streams_sql.spark.jobs.native_plans import Lowering, NotNative, native_plan
from streams_sql.spark.sources.broker_access import KafkaAccess
from tests.broker import BarnabasBroker
from tests.clients.confluent_client import AdminClient, NewPartitions
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.spark.query_plans import T0, counted
from tests.streams_sql.spark.query_runs import QueryRun, Topics
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REAL_TIME = Trigger(REAL_TIME_INTERVAL_MS, is_real_time=True)
ADMIN_DEADLINE_S = 90.0
BAD_RECORDS = 4
RECORDS: list[tuple[str | None, bytes | None]] = [
    ("12345678", b'{"id": 1, "Name": "anna", "v": 2.5}'),
    (None, b'{"ID": 2, "name": null, "V": "7"}'),
    ("1234567é", b'{"id": 3}'),
    ("bad", b'{"id": 4}'),
    ("12345678", b'{"id": '),
    ("12345678", b'{"id": true}'),
    ("12345678", None),
    ("12345678", b"{}"),
    ("12345678", b'{"id": 9, "name": 5, "v": -1}'),
]


def plan(topic: str, sink: str, select: str, columns: str, value_format: str = "JSON") -> PersistentPlan:
    source = f"CREATE STREAM E ({columns}) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='{value_format}');"
    return Statements(source).query(f"CREATE STREAM X WITH (KAFKA_TOPIC='{sink}') AS {select};").plan


def orders(topic: str, sink: str, select: str) -> PersistentPlan:
    return plan(topic, sink, select, "K BIGINT KEY, ID INT, NAME STRING, V DOUBLE")


def whole(run: QueryRun, count: int) -> list[Progress]:
    """The reports that tell of so many bad records together, once they are there."""
    found = [event for event in run.events if isinstance(event, Progress) and event.bad_records]
    return found if sum(progress.bad_records for progress in found) == count else []


@pytest.mark.parametrize(
    ("select", "count"),
    [
        ("SELECT K, ID + 1 AS NEXT, NAME, V FROM E", 5),
        (
            "SELECT K, UCASE(NAME) AS NAME, EXPLODE(ARRAY[ID, -ID]) AS EACH, ROWOFFSET AS PLACE FROM E WHERE V > 0 OR ID = 9",
            6,
        ),
    ],
    ids=["projection", "filter and rows for elements"],
)
def test_rows_are_the_same_as_in_batches(run: QueryRun, select: str, count: int) -> None:
    topic, natively, in_python = run.topic("in"), run.topic("natively"), run.topic("python")
    run.start(orders(topic, natively, select), trigger=REAL_TIME)
    run.write(topic, [(key, value, T0) for key, value in RECORDS])
    found = run.topics.read_bytes(natively, count)
    # They may lie in several batches, which end when their time is over.
    bad = wait_for(lambda: whole(run, BAD_RECORDS), "the batches to be told of")
    run.stop(run.query_id)
    run.move("python")
    run.start(orders(topic, in_python, select))
    assert found == run.topics.read_bytes(in_python, count)
    (in_batches,) = run.settled(len(RECORDS))
    assert in_batches.bad_records == BAD_RECORDS
    places = {(example.topic, example.offset) for progress in bad for example in progress.examples}
    assert places == {(example.topic, example.offset) for example in in_batches.examples}


def test_a_query_may_fail_at_a_bad_record(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.start(orders(topic, sink, "SELECT K, ID FROM E"), trigger=REAL_TIME, fails_on_bad_record=True)
    run.write(topic, [(None, {"id": 1}, T0), (None, {"id": "x"}, T0)])
    failed = run.expect(QueryFailed)
    assert (failed.kind, failed.record) == (FailureKind.ERROR, BadRecord(topic, 0, 1, failed.cause))
    assert failed.cause.startswith("The value cannot be decoded")


def test_slots_are_told_when_a_topic_has_grown(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.start(orders(topic, sink, "SELECT K, ID FROM E"), trigger=REAL_TIME)
    admin = AdminClient({"bootstrap.servers": run.topics.address})
    (grown,) = admin.create_partitions([NewPartitions(topic, 2)]).values()
    grown.result(ADMIN_DEADLINE_S)
    run.host.look_at_topics()
    assert run.expect(SlotsChanged).slots == 2
    run.topics.write_to(topic, 1, b'{"id": 5}', T0)
    assert run.read(sink, 1)[0].value == {"ID": 5}


def test_what_needs_state_is_refused() -> None:
    with pytest.raises(NotNative, match="it has an aggregate or a join"):
        native_plan(counted("in", "out"), Lowering(None))


# -- Avro -----------------------------------------------------------------------------------------


@pytest.fixture
def avro_run(spark: SparkSession, barnabas: BarnabasBroker, registry_url: str, tmp_path: Path) -> Iterator[QueryRun]:
    from streams_sql.spark.driver.query_host import QueryHost

    events: list[Event] = []
    host = QueryHost(spark, KafkaAccess(barnabas.address), RegistryAccess(registry_url), events.append, "test_")
    yield QueryRun(host, tmp_path, Topics(barnabas.address, f"s{secrets.token_hex(4)}"), events)
    host.stop_all()


def test_a_schema_that_appears_later_is_told_and_read_after_a_restart(avro_run: QueryRun, registry_url: str) -> None:
    run = avro_run
    topic, sink = run.topic("in"), run.topic("out")
    with RegistryClient(registry_url) as client:
        written = Written(client, topic)
        first = written.schema({"name": "id", "type": "int"})
        query = plan(
            topic, sink, "SELECT K, ID * 2 AS TWICE, NAME FROM E", "K STRING KEY, ID BIGINT, NAME STRING", "AVRO"
        )
        run.start(query, trigger=REAL_TIME)
        run.topics.write(topic, [("a", written.record(first, {"id": 1}), T0)])
        run.topics.read_bytes(sink, 1)
        second = written.schema(
            {"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"], "default": None}
        )
        run.topics.write(topic, [("b", written.record(second, {"id": 2, "name": "x"}), T0)])
        failed = run.expect(QueryFailed)
        assert (failed.kind, failed.schema_id) == (FailureKind.NEW_SCHEMA, second)
        run.events.clear()
        run.start(query, trigger=REAL_TIME, schema_ids=frozenset({second}))
        (*_, (key, value)) = wait_for(
            lambda: found if (found := run.topics.read_bytes(sink, 2))[-1][0] == b"b" else None, "the second record"
        )
        assert (key, written.read(value or b"")) == (b"b", {"TWICE": 4, "NAME": "x"})


class Written:
    """Records of a topic with schemas of its own."""

    def __init__(self, client: RegistryClient, topic: str) -> None:
        self._client = client
        self._subject = f"{topic}-value"
        self._codecs = Codecs(client, CodecOptions(validates=False, keeps_names=True))

    def schema(self, *fields: dict[str, object]) -> int:
        text = json.dumps({"type": "record", "name": "R", "fields": fields})
        return self._client.register(self._subject, SchemaText(text, AVRO))

    def record(self, schema_id: int, value: dict[str, object]) -> bytes:
        return id_prefix(schema_id) + self._codecs.codec(schema_id).encode(value)

    def read(self, record: bytes) -> object:
        return self._codecs.codec(int.from_bytes(record[1:5], "big")).decode(record[5:])
