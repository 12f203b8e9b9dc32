"""Plans without state, from the bytes of records to the bytes of records, in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Decode, Encode, Layout
from streams_sql.plan.nodes import Read
from streams_sql.plan.pipeline import chain_of, columns_of, compile_steps, run_steps
from streams_sql.plan.record_writing import RowEncoding
from streams_sql.plan.records import Headers, Problem, RecordReader, Records
from streams_sql.sources import Source
from tests.streams_sql.analysis.catalogues import planned, sources


@dataclass(frozen=True)
class Record:
    key: bytes | None
    value: bytes | None
    timestamp: int = 0
    headers: Headers = ()


@dataclass
class Run:
    """`written` are the records that came out, `problems` those that were passed over, `errors` what expressions failed with."""

    written: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    @property
    def values(self) -> list[Any]:
        return [None if record.value is None else json.loads(record.value) for record in self.written]


def run(statements: Sequence[str], records: Sequence[Record]) -> Run:
    """The last statement is the query, the others make what it needs. All records are in one partition."""
    *needed, query = statements
    plan = planned(query, sources(*needed))
    chain = chain_of(plan.node)
    assert isinstance(chain.base, Read)
    done = Run()
    reader = RecordReader(chain.base, *_decoders(chain.base.source), done.problems.append)
    count = len(records)
    rows = reader.rows(
        Records(
            [record.key for record in records],
            [record.value for record in records],
            [record.timestamp for record in records],
            [0] * count,
            range(count),
            [record.headers for record in records],
        )
    )
    rows = run_steps(compile_steps(chain.operators, done.errors.append), rows)
    encoding = RowEncoding(plan.sink, columns_of(plan.node), *_encoders(plan.sink), chain.base.source.topic)
    messages = encoding.messages(rows, done.problems.append)
    done.written = [Record(key, value, timestamp) for key, value, timestamp in zip(*messages, strict=True)]
    return done


def _layouts(source: Source) -> tuple[Layout, Layout]:
    schema = source.schema
    return (
        Layout(source.key_format, schema.key, source.topic, is_key=True),
        Layout(source.value_format, schema.value, source.topic, is_key=False),
    )


def _decoders(source: Source) -> tuple[Decode, Decode]:
    key, value = _layouts(source)
    return format_of(key.format.name).decoder(key), format_of(value.format.name).decoder(value)


def _encoders(source: Source) -> tuple[Encode, Encode]:
    key, value = _layouts(source)
    return format_of(key.format.name).encoder(key), format_of(value.format.name).encoder(value)
