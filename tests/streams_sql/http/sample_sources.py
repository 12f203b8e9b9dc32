"""A stream, a table that a query fills, and that query, for tests of how they are told of."""

from __future__ import annotations

from streams_sql.engine.queries.query_status import QueryState, QueryStatus
from streams_sql.language.statements import Kind, WindowKind
from streams_sql.sources import Column, FormatUse, HeaderColumn, KeyWindow, Schema, Source, TimestampRule
from streams_sql.sql_types import BIGINT, INTEGER, STRING, Array, Decimal, Field, Struct

ADDRESS = Struct((Field("CITY", STRING), Field("CODES", Array(INTEGER))))
ORDERS = Source(
    name="ORDERS",
    kind=Kind.STREAM,
    schema=Schema(
        (Column("ID", INTEGER),),
        (Column("PRICE", Decimal(6, 2)), Column("ADDRESS", ADDRESS)),
        (HeaderColumn("H"), HeaderColumn("TRACE", "trace")),
    ),
    topic="orders",
    key_format=FormatUse("KAFKA"),
    value_format=FormatUse("JSON"),
    statement="CREATE STREAM ORDERS …;",
    timestamp=TimestampRule("AT"),
)
COUNTS = Source(
    name="COUNTS",
    kind=Kind.TABLE,
    schema=Schema((Column("ID", INTEGER),), (Column("N", BIGINT),)),
    topic="COUNTS",
    key_format=FormatUse("KAFKA"),
    value_format=FormatUse("AVRO"),
    statement="CREATE TABLE COUNTS AS …;",
    key_window=KeyWindow(WindowKind.TUMBLING, 60_000),
    query_id="CTAS_COUNTS_2",
)
STATUS = QueryStatus("CTAS_COUNTS_2", "CREATE TABLE COUNTS AS …;", COUNTS, QueryState.RUNNING)
