"""Measurements of the host in process: what one thread makes of rows and records, without a topic, a server or a JVM around it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from barnabas.kernel.service_runner import collect_garbage_rarely
from benchmarks.job import Figures, LoadFailed
from benchmarks.sql_engines import Kind, Query, our_query, our_source
from benchmarks.sql_records import customer, json_order
from benchmarks.sql_stage import passed
from streams_sql.formats.serde import Layout
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.nodes import Node, Read
from streams_sql.plan.pipeline import chain_of, compile_steps, run_steps
from streams_sql.plan.records import Problem, RecordReader, Records
from streams_sql.sources import Source
from streams_sql.spark.jobs.codecs import decoder_of
from tests.streams_sql.analysis.catalogues import planned, sources

TOPIC = "orders"
TOGETHER = 5_000


def filter_rows(count: int) -> Figures:
    """Rows that are there, through WHERE and SELECT."""
    chain = chain_of(_node("filter-json"))
    steps = compile_steps(chain.operators, _unexpected)
    read = _reader(chain.base)
    batches = [read(records) for records in _records(count)]
    return _rate(count, passed(count), lambda: sum(len(run_steps(steps, rows)) for rows in batches))


def filter_records(count: int) -> Figures:
    """The same, from keys and JSON as they lie in a topic."""
    chain = chain_of(_node("filter-json"))
    steps = compile_steps(chain.operators, _unexpected)
    read, batches = _reader(chain.base), list(_records(count))
    return _rate(count, passed(count), lambda: sum(len(run_steps(steps, read(records))) for records in batches))


def count_rows(count: int) -> Figures:
    """Rows that are there, counted by customer: each tells of its customer's new count."""
    pipeline = Pipeline(_node("count"), _unexpected)
    (leaf,) = pipeline.leaves
    read = _reader(leaf.read)
    batches = [read(records) for records in _records(count)]
    return _rate(count, count, lambda: sum(len(pipeline.feed(0, rows)) for rows in batches))


def _node(kind: Kind) -> Node:
    query = Query(kind, TOPIC, "sink")
    return planned(our_query(query), sources(our_source(query, TOPIC))).node


def _reader(read: Node) -> Callable[[Records], list[Any]]:
    assert isinstance(read, Read)
    key, value = _layouts(read.source)
    return RecordReader(read, decoder_of(key), decoder_of(value), _refused).rows


def _layouts(source: Source) -> tuple[Layout, Layout]:
    return (
        Layout(source.key_format, source.schema.key, source.topic, is_key=True),
        Layout(source.value_format, source.schema.value, source.topic, is_key=False),
    )


def _records(count: int) -> Iterator[Records]:
    for start in range(0, count, TOGETHER):
        numbers = range(start, min(start + TOGETHER, count))
        keys, values = [customer(number).encode() for number in numbers], [json_order(number) for number in numbers]
        yield Records(keys, values, numbers, [0] * len(numbers), numbers)


def _rate(count: int, expected: int, run: Callable[[], int]) -> Figures:
    # As in the server.
    collect_garbage_rarely()
    used, began = time.process_time(), time.monotonic()
    made = run()
    took, used = time.monotonic() - began, time.process_time() - used
    if made != expected:
        raise LoadFailed(f"{made:,} rows have come of {count:,}, and not {expected:,}")
    return {"rows_s": count / took, "cpu_us": used / count * 1e6}


def _refused(problem: Problem) -> None:
    raise LoadFailed(problem.reason)


def _unexpected(error: Exception) -> None:
    raise LoadFailed(str(error)) from error
