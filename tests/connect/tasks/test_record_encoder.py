"""Batches with several topics, schemas, places and headers, in one piece and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from connect.api.record import Header, Record
from connect.converters.converter import Converter, HeaderConverter, SchemaAndValue
from connect.data.schema import INT32, STRING, Schema
from connect.errors import Retry
from connect.tasks.messages import RetryState, RunningState
from connect.tasks.record_encoder import RecordEncoder
from connect.tasks.retries import Retries
from connect.tasks.settings import error_settings
from connect.tasks.spec import TaskId
from connect.tasks.task_converters import Converters
from connect.tasks.task_metrics import TaskMetrics
from connect.tasks.tolerance import Tolerance
from connect.tasks.transform_chain import TransformChain


class Tagged(Converter):
    """Says which schema and how many values a call had. It cannot encode `bad`, and fails as often as it is told to."""

    def __init__(self, outages: int = 0) -> None:
        super().__init__(None, is_key=False)
        self.outages = outages

    def encode(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_all(topic, schema, [value])[0]

    def encode_all(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> list[bytes | None]:
        if self.outages:
            self.outages -= 1
            raise Retry("the registry is away")
        if "bad" in values:
            raise ValueError("bad")
        kind = "-" if schema is None else schema.type.value
        return [f"{value}/{kind}/{len(values)}".encode() for value in values]

    def decode(self, topic: str, data: bytes | None) -> SchemaAndValue:
        raise NotImplementedError


class PlainHeaders(HeaderConverter):
    def __init__(self) -> None:
        super().__init__(None)

    def encode(self, topic: str, name: str, schema: Schema | None, value: Any) -> bytes | None:
        return str(value).encode()

    def decode(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue:
        raise NotImplementedError


class Bench:
    """An encoding, and what was told meanwhile."""

    def __init__(self, *, outages: int = 0, **config: str) -> None:
        self.told: list[object] = []
        self.rests: list[float] = []
        self.metrics = TaskMetrics(is_source=True)
        errors = error_settings({name.replace("_", "."): value for name, value in config.items()})
        retries = Retries(errors, self.rests.append, self.told.append, self.metrics)
        tolerance = Tolerance(errors, TaskId("bench", 0), self.metrics, None)
        converters = Converters(Tagged(), Tagged(outages), PlainHeaders())
        self.encoder = RecordEncoder(TransformChain((), tolerance), converters, tolerance, retries)


def test_topics_keep_their_order_and_schemas_their_runs() -> None:
    records = [
        Record("a", 1, INT32),
        Record("b", "x", STRING, "k", None, 3, 77),
        Record("a", 2, INT32),
        Record("a", "y", STRING, headers=(Header("h", 5),)),
        Record("a", None),
    ]
    to_a, to_b = Bench().encoder.encode(records)
    assert (to_a.topic, to_a.has_headers, to_b.topic, to_b.has_headers) == ("a", True, "b", False)
    assert to_a.messages == [
        {"key": None, "value": b"1/int32/2"},
        {"key": None, "value": b"2/int32/2"},
        {"key": None, "value": b"y/string/1", "headers": [("h", b"5")]},
        {"key": None, "value": b"None/-/1"},
    ]
    assert to_b.messages == [{"key": b"k/-/1", "value": b"x/string/1", "partition": 3, "timestamp": 77}]


def test_only_the_bad_record_of_a_batch_is_left_out() -> None:
    bench = Bench(errors_tolerance="all")
    records = [Record("a", "x", STRING, timestamp_ms=5), Record("a", "bad", STRING), Record("a", "y", STRING, "bad")]
    (outgoing,) = bench.encoder.encode(records)
    assert outgoing.messages == [{"key": b"None/-/1", "value": b"x/string/1", "timestamp": 5}]
    assert (bench.metrics.failures, bench.metrics.skipped) == (2, 2)


def test_a_registry_that_is_away_is_waited_for() -> None:
    bench = Bench(outages=4, errors_retry_delay_max_ms="1000")
    (outgoing,) = bench.encoder.encode([Record("a", "x", STRING)])
    assert outgoing.messages == [{"key": None, "value": b"x/string/1"}]
    assert bench.rests == [0.3, 0.6, 1.0, 1.0]
    assert bench.told == [*(RetryState("the registry is away", attempt) for attempt in range(1, 5)), RunningState()]
    assert bench.metrics.retries == 4
