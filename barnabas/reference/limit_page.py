"""The limits that somebody may meet, each with its number as the code has it and where that stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from barnabas.reference.markdown import cell, code, page, table
from barnabas.services import SERVICES

_INTRODUCTION: Final = """\
What is beyond a limit is refused, or waits, as the last column says; nothing is cut or dropped without a word. Where a limit is a setting, its name leads to the [settings](../settings.md) of that service; the others are fixed, and their constants are named.
What one node cannot do at all stands in [GAPS.md](../../GAPS.md)."""
_UNITS: Final = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_UNLIMITED: Final = (1 << 31) - 1
# A setting is SERVICE/NAME, a constant MODULE:NAME.
_LIMITS: Final[Mapping[str, Sequence[tuple[str, str, str, str]]]] = {
    "Broker": (
        ("a record batch", "bytes", "broker/message.max.bytes", "MESSAGE_TOO_LARGE; of one topic: `max.message.bytes`"),
        ("a request", "bytes", "broker/socket.request.max.bytes", "the connection is closed"),
        ("the answer to a fetch", "bytes", "broker/fetch.max.bytes", "the rest comes with the next fetch"),
        ("a batch after decompression", "bytes", "barnabas.wire.compression:INFLATED_MAX_BYTES", "it is refused"),
        ("the name of a topic", "characters", "core_broker.metadata.topic_names:NAME_MAX_CHARACTERS", "INVALID_TOPIC_EXCEPTION"),
        ("partitions that one request makes", "partitions", "core_broker.metadata.topics:NEW_PARTITIONS_MAX", "the request is refused"),
        ("connections", "connections", "broker/max.connections", "one too many is closed"),
        ("connections of one address", "connections", "broker/max.connections.per.ip", "one too many is closed"),
        ("a connection without a request", "ms", "broker/connections.max.idle.ms", "it is closed"),
        ("members of a classic group, with ids given out", "members", "broker/group.max.members.and.pending", "GROUP_MAX_SIZE_REACHED"),
        ("members of classic groups on one connection", "members", "broker/connection.max.group.members", "GROUP_MAX_SIZE_REACHED"),
        ("what the members of a group tell of themselves", "bytes", "broker/group.max.metadata.bytes", "GROUP_MAX_SIZE_REACHED"),
        ("a pattern that a group subscribes to", "characters", "core_broker.coordinators.groups.regular_expressions:REGEX_MAX_CHARACTERS", "INVALID_REGULAR_EXPRESSION"),
        ("a note beside a committed offset", "bytes", "broker/offset.metadata.max.bytes", "OFFSET_METADATA_TOO_LARGE"),
        ("the timeout of transactions", "ms", "broker/transaction.max.timeout.ms", "INVALID_TRANSACTION_TIMEOUT"),
    ),
    "Every HTTP service": (
        ("requests under way (Schema Registry, Connect, SQL)", "requests", "barnabas.kernel.http.http_settings:REQUESTS_MAX", "503"),
        ("requests and streams under way (REST proxy)", "requests", "rest_proxy.assembly:REQUESTS_MAX", "503"),
        ("connections", "connections", "barnabas.kernel.http.server:CONNECTIONS_MAX", "further ones wait"),
        ("requests under way on one HTTP/2 connection", "requests", "barnabas.kernel.http.server:STREAMS_MAX", "further ones wait"),
        ("the request line and headers", "bytes", "barnabas.kernel.http.server:HEADERS_MAX_BYTES", "431"),
        ("a connection on which no request comes", "ms", "barnabas.kernel.http.server:IDLE_MAX_MS", "it is closed"),
        ("the time of a request that is no stream", "ms", "rest/request.timeout.ms", "503"),
        ("the same of Connect", "ms", "connect/request.timeout.ms", "503"),
    ),
    "Schema Registry": (
        ("the body of a request", "bytes", "registry/size.limit.filter.max.request.body.size", "413"),
        ("a schema", "characters", "schema_registry.formats.parsed_schema:SCHEMA_MAX_CHARACTERS", "42201"),
        ("levels of a schema", "levels", "schema_registry.formats.parsed_schema:NESTING_MAX_LEVELS", "42201; of JSON Schema 64"),
        ("schemas that one refers to, directly or not", "schemas", "schema_registry.parsing:REFERENCES_MAX", "42201"),
        ("steps of one comparison of JSON schemas", "steps", "schema_registry.formats.json_schema.differ:COMPARISON_MAX_STEPS", "counts as incompatible, and says so"),
        ("schemas in one answer of a search", "schemas", "registry/schema.search.max.limit", "the rest is asked for with `offset`"),
    ),
    "REST proxy": (
        ("the body of a request, and a record of an upload", "bytes", "rest/producer.request.max.bytes", "413"),
        ("entries of `records:batch`", "entries", "rest_proxy.v3.produce_batch:ENTRIES_MAX", "refused"),
        ("records of one upload that wait for receipts", "records", "rest/stream.records.in.flight.max", "the upload is not read on"),
        ("text of an upload that waits for receipts", "bytes", "rest_proxy.v3.produce_stream:IN_FLIGHT_MAX_BYTES", "the upload is not read on"),
        ("records in one answer", "bytes", "rest/consumer.request.max.bytes", "the rest comes with the next read"),
        ("consumer instances", "instances", "rest/consumer.instances.max", "503"),
        ("a consumer instance that nobody asks", "ms", "rest/consumer.instance.timeout.ms", "it is forgotten"),
        ("live streams that belong to consumer groups", "streams", "rest_proxy.streams.live:MEMBERS_MAX", "503"),
        ("a pattern that a consumer instance subscribes to", "characters", "rest_proxy.v2.consuming.topic_pattern:PATTERN_MAX_CHARACTERS", "refused"),
    ),
    "Connect": (
        ("the body of a request", "bytes", "connect.assembly:BODY_MAX_BYTES", "413"),
        ("a file of a config provider", "bytes", "connect.config.providers:FILE_MAX_BYTES", "the task fails and says so"),
        ("rows that `…lookback` remembers", "rows", "connect.connectors.jdbc.lookback:ROWS_MAX", "the window is made shorter"),
        ("digits of a decimal", "digits", "connect.data.logical:DECIMAL_MAX_DIGITS", "the record is rejected"),
        ("the time that tasks have to stop", "ms", "connect/task.shutdown.graceful.timeout.ms", "they are killed"),
        ("the pause before a failed task starts again", "ms", "connect/task.restart.backoff.max.ms", "it does not grow further"),
    ),
    "SQL": (
        ("the body of a request", "bytes", "streams_sql.assembly.instance:BODY_MAX_BYTES", "413"),
        ("statements of one request", "statements", "streams_sql.engine.statements.request:STATEMENTS_MAX", "refused"),
        ("a statement", "characters", "streams_sql.language.parsing:STATEMENT_CHARACTERS_MAX", "refused"),
        ("a statement without what is in quotes", "characters", "streams_sql.language.parsing:BARE_CHARACTERS_MAX", "refused"),
        ("levels of queries in queries", "levels", "streams_sql.language.queries:DEPTH_MAX", "refused"),
        ("places where a query reads", "places", "streams_sql.language.queries:READS_MAX", "refused"),
        ("digits of a DECIMAL", "digits", "streams_sql.sql_types:DECIMAL_PRECISION_MAX", "refused"),
        ("records of TAIL", "records", "streams_sql.analysis.ranges:TAIL_MAX", "refused"),
        ("a row of `/inserts-stream`", "bytes", "streams_sql.http.inserts:LINE_MAX_BYTES", "refused"),
        ("push queries", "queries", "sql/ksql.max.push.queries", "refused"),
        ("scans of views", "queries", "sql/ksql.query.pull.max.concurrent.requests", "refused"),
        ("rows or records that one pull query reads", "rows", "sql/sql.pull.scan.max.rows", "it ends with an error that names the setting"),
        ("the time that one pull query looks", "ms", "sql/sql.pull.scan.max.ms", "it ends with an error that names the setting"),
        ("what one pull query keeps to sort, group and join", "bytes", "sql/sql.pull.memory.max.bytes", "it ends with an error that names the setting"),
        ("what a push query with state keeps", "entries", "streams_sql.local.limits:STATE_ENTRIES_MAX", "it ends with an error"),
        ("records of one batch of a query", "records", "sql/sql.batch.max.records", "the rest comes with the next batch"),
        ("errors kept for SHOW ERRORS, of one query", "errors", "streams_sql.engine.queries.error_log:ERRORS_MAX", "the oldest go"),
        ("the timeout of ASSERT", "ms", "streams_sql.engine.statements.assertions:TIMEOUT_MAX_MS", "refused"),
    ),
    "The command": (
        ("a file of `barnabas apply`", "bytes", "barnabas.cli.apply.document:FILE_BYTES_MAX", "refused"),
        ("the wait of `barnabas backup` for a moment between transactions", "s", "barnabas.backup.held_files:SETTLE_LIMIT_S", "it ends with an error and leaves nothing"),
        ("scripts within scripts", "levels", "streams_sql.language.scripts:SCRIPTS_WITHIN_MAX", "refused"),
    ),
}  # fmt: skip


def limit_page() -> str:
    blocks = [_INTRODUCTION]
    for title, limits in _LIMITS.items():
        rows = [(what, _amount(_value(place), unit), _source(place), beyond) for what, unit, place, beyond in limits]
        blocks += [f"## {title}", table(("of", "limit", "where", "beyond it"), rows)]
    return page("Limits", *blocks)


def _value(place: str) -> int:
    service, slash, name = place.partition("/")
    if slash:
        value = SERVICES[service].catalogue()[name].default
    else:
        module, _, constant = place.partition(":")
        value = getattr(import_module(module), constant)
    if not isinstance(value, int | float):
        raise TypeError(f"the limit {place} is {value!r} and no number")
    return int(value)


def _source(place: str) -> str:
    service, slash, name = place.partition("/")
    if slash:
        return f"[{code(name)}](settings-{service}.md)"
    module, _, constant = place.partition(":")
    return f"fixed, {code(constant)} in {code(module)}"


def _amount(number: int, unit: str) -> str:
    if number == _UNLIMITED:
        return "none"
    if unit == "bytes":
        for name, size in _UNITS:
            if number >= size and number % size == 0:
                return f"{number // size} {name}"
    if unit == "ms" and number % 1000 == 0:
        return f"{number // 1000:,} s"
    return cell(f"{number:,} {unit}")
