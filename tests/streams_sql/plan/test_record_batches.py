"""Records that are read as columns are the rows that they are one by one, with the same problems."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.formats.kafka_format import KafkaFormat, kafka_columns
from streams_sql.formats.library import column_decoder_of, format_of
from streams_sql.formats.serde import Decode, Layout
from streams_sql.plan.column_batch import ColumnBatch
from streams_sql.plan.nodes import Read
from streams_sql.plan.pipeline import Row
from streams_sql.plan.records import Problem, RecordReader, Records
from streams_sql.sources import FormatUse, Source
from streams_sql.sql_types import BIGINT, BYTES, DOUBLE, INTEGER, STRING, SqlType
from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.formats.layouts import layout_of

COLUMNS = "n INT, t BIGINT, s STRING"
STATEMENTS = {
    "stream": f"CREATE STREAM s (k STRING KEY, {COLUMNS}) WITH (kafka_topic='s', value_format='JSON')",
    "table": f"CREATE TABLE s (k BIGINT PRIMARY KEY, {COLUMNS}) WITH (kafka_topic='s', value_format='JSON')",
    "no key": f"CREATE STREAM s ({COLUMNS}) WITH (kafka_topic='s', value_format='JSON')",
    "window": f"CREATE STREAM s (k STRING KEY, {COLUMNS}) WITH (kafka_topic='s', value_format='JSON', window_type='TUMBLING', "
    "window_size='1 SECONDS')",
    "timestamp": f"CREATE STREAM s ({COLUMNS}) WITH (kafka_topic='s', value_format='JSON', timestamp='t')",
    "headers": f"CREATE STREAM s (k STRING KEY, {COLUMNS}, h BYTES HEADER('h')) WITH (kafka_topic='s', value_format='JSON')",
}
RECORD = st.tuples(
    st.none()
    | st.sampled_from([b"", b"a", b"\xff", b"twelve bytes", struct.pack(">q", 7), b"k" + struct.pack(">q", 7)]),
    st.none() | st.sampled_from([b"", b"{", b'{"n":1,"t":5}', b'{"n":"2","s":3}', b'{"t":-1}', b'{"N":null,"s":"x"}']),
    st.sampled_from([(), (("h", b"1"), ("h", None)), (("g", b"2"),)]),
)
GOOD = st.tuples(
    st.just(b"k" + struct.pack(">q", 7)), st.sampled_from([b'{"n":1,"t":5}', b'{"t":6,"s":"x"}']), st.just(())
)


@cache
def read_of(statement: str) -> tuple[Read, Layout, Layout]:
    kind = statement.split()[1]
    made = planned(f"CREATE {kind} made AS SELECT * FROM s EMIT CHANGES", sources(statement))
    node: Any = made.node
    while not isinstance(node, Read):
        node = node.input
    source: Source = node.source
    key = Layout(source.key_format, source.schema.key, source.topic, is_key=True)
    return node, key, Layout(source.value_format, source.schema.value, source.topic, is_key=False)


def decoder_of(layout: Layout) -> Decode:
    return format_of(layout.format.name).decoder(layout)


def records_of(given: Sequence[tuple[bytes | None, bytes | None, Any]]) -> Records:
    keys, values, headers = zip(*given, strict=True) if given else ((), (), ())
    offsets = [10 + 2 * number for number in range(len(given))]
    return Records(keys, values, range(100, 100 + len(given)), [3] * len(given), offsets, headers)


@pytest.mark.parametrize("kind", STATEMENTS)
@given(st.lists(st.lists(RECORD | GOOD, max_size=4) | st.lists(GOOD, max_size=4), max_size=4))
def test_columns_are_the_rows_that_records_are(kind: str, batches: list[list[tuple[Any, Any, Any]]]) -> None:
    read, key, value = read_of(STATEMENTS[kind])
    told: list[Problem] = []
    expected_told: list[Problem] = []
    reader = RecordReader(
        read, decoder_of(key), decoder_of(value), told.append, column_decoder_of(key), column_decoder_of(value)
    )
    reference = RecordReader(read, decoder_of(key), decoder_of(value), expected_told.append)
    for batch in batches:
        records = records_of(batch)
        rows: list[Row] = reader.rows(records)
        assert rows == reference.rows(records)
        assert told == expected_told


def test_good_records_are_columns_and_one_that_is_bad_makes_rows_of_all() -> None:
    read, key, value = read_of(STATEMENTS["stream"])
    reader = RecordReader(
        read, decoder_of(key), decoder_of(value), lambda _: None, column_decoder_of(key), column_decoder_of(value)
    )
    good = (b"a", b'{"n":1}', ())
    assert isinstance(reader.batch(records_of([good, good])), ColumnBatch)
    assert isinstance(reader.batch(records_of([good, (b"a", None, ())])), list)
    assert isinstance(reader.batch(records_of([(None, b"{}", ()), good])), list)


PAYLOADS = st.lists(st.none() | st.binary(max_size=9) | st.binary(min_size=8, max_size=8) | st.text().map(str.encode))


@pytest.mark.parametrize("type_", [INTEGER, BIGINT, DOUBLE, STRING, BYTES], ids=str)
@given(PAYLOADS)
def test_values_of_the_kafka_format(type_: SqlType, payloads: list[bytes | None]) -> None:
    layout = layout_of({"K": type_}, FormatUse("KAFKA"))
    decode = kafka_columns(layout)
    assert decode is not None
    found = decode(payloads)
    expected = KafkaFormat().decoder(layout)(payloads)
    if {tuple}.issuperset(map(type, expected)) and not (type_ == STRING and "\ufffd" in str(expected)):
        assert found is not None
        assert repr(list(zip(*found, strict=True))) == repr(expected)
    elif found is not None:
        assert list(zip(*found, strict=True)) == expected
