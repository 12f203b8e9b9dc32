"""The queries in Flink's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.connection import HOST
from benchmarks.sql_engines import Query, Site
from benchmarks.sql_records import HIDDEN_COUNTRY, LOWEST_AMOUNT, WINDOW_MS

# What Flink's own guide advises for throughput, with the interval at which ours looks for records; it costs latency.
MINI_BATCHES: Final[Mapping[str, str]] = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "200 ms",
    "table.exec.mini-batch.size": "50000",
}
NO_MINI_BATCHES: Final[Mapping[str, str]] = {"table.exec.mini-batch.enabled": "false"}
_UPSERT: Final[Mapping[str, str]] = {
    "connector": "upsert-kafka",
    "key.format": "raw",
    "value.format": "json",
    # The key stands in the key alone. Flink takes it from the value as well unless it is told, finds none there, and has NULL for it.
    "value.fields-include": "EXCEPT_KEY",
}


def settings_of(query: Query) -> Mapping[str, str]:
    return MINI_BATCHES if query.kind == "count" and query.pace == "default" else NO_MINI_BATCHES


def flink_source(query: Query, topic: str, site: Site) -> str:
    name = source_name(query, topic)
    time = "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts"
    if topic == query.customers:
        options = _options(topic, site, **_UPSERT)
        return f"CREATE TABLE {name} (customer STRING, name STRING, level INT, {time}, PRIMARY KEY (customer) NOT ENFORCED) {options}"
    columns = "id BIGINT, amount DOUBLE, quantity INT, country STRING, note STRING"
    if query.kind == "filter-avro":
        columns = columns.replace("id", "ID").replace("amount", "AMOUNT").replace("quantity", "QUANTITY")
        columns = columns.replace("country", "COUNTRY").replace("note", "NOTE")
    timed = f", {time}" if is_timed(query) else ""
    startup = "earliest-offset" if query.from_beginning else "latest-offset"
    options = _options(topic, site, **{"scan.startup.mode": startup, **_keyed(query, site)})
    return f"CREATE TABLE {name} (customer STRING, {columns}{timed}) {options}"


def flink_sink(query: Query, site: Site) -> str:
    name = query.sink.replace("-", "_")
    match query.kind:
        case "count":
            columns = "customer STRING, n BIGINT, PRIMARY KEY (customer) NOT ENFORCED"
            return f"CREATE TABLE {name} ({columns}) {_options(query.sink, site, **_UPSERT)}"
        case "window":
            columns = "customer STRING, began BIGINT, n BIGINT"
        case "join":
            columns = "customer STRING, id BIGINT, amount DOUBLE, name STRING"
        case _:
            columns = "customer STRING, id BIGINT, country STRING, total DOUBLE"
    return f"CREATE TABLE {name} ({columns}) {_options(query.sink, site, **_keyed(query, site))}"


def flink_query(query: Query) -> str:
    orders = source_name(query, query.orders)
    insert = f"INSERT INTO {query.sink.replace('-', '_')}"
    match query.kind:
        case "count":
            return f"{insert} SELECT customer, COUNT(*) FROM {orders} GROUP BY customer"
        case "window":
            rows = f"TUMBLE(TABLE {orders}, DESCRIPTOR(ts), INTERVAL '{WINDOW_MS // 1000}' SECOND)"
            began = "1000 * UNIX_TIMESTAMP(CAST(window_start AS STRING))"
            return f"{insert} SELECT customer, {began}, COUNT(*) FROM TABLE({rows}) GROUP BY window_start, window_end, customer"
        case "join":
            customers = source_name(query, query.customers)
            return (
                f"{insert} SELECT o.customer, o.id, o.amount, c.name FROM {orders} AS o "
                f"JOIN {customers} FOR SYSTEM_TIME AS OF o.ts AS c ON o.customer = c.customer"
            )
        case "filter-avro":
            return (
                f"{insert} SELECT customer, ID, COUNTRY, AMOUNT * QUANTITY FROM {orders} "
                f"WHERE AMOUNT > {LOWEST_AMOUNT} AND COUNTRY <> '{HIDDEN_COUNTRY}'"
            )
    return (
        f"{insert} SELECT customer, id, country, amount * quantity FROM {orders} "
        f"WHERE amount > {LOWEST_AMOUNT} AND country <> '{HIDDEN_COUNTRY}'"
    )


def is_timed(query: Query) -> bool:
    """Whether it asks for the time of orders, which costs something to keep."""
    return query.kind in ("window", "join")


def source_name(query: Query, topic: str) -> str:
    """The name of a topic as this query reads it."""
    timed, begun = "_timed" if is_timed(query) else "", "" if query.from_beginning else "_from_now"
    return f"{topic.replace('-', '_')}{timed}{begun}"


def _keyed(query: Query, site: Site) -> Mapping[str, str]:
    keys = {"key.format": "raw", "key.fields": "customer", "value.fields-include": "EXCEPT_KEY"}
    if query.kind == "filter-avro":
        return {**keys, "value.format": "avro-confluent", "value.avro-confluent.url": site.registry_url}
    return {**keys, "value.format": "json"}


def _options(topic: str, site: Site, **options: str) -> str:
    given = {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": f"{HOST}:{site.broker_port}",
        **options,
    }
    return "WITH (" + ", ".join(f"'{name}'='{value}'" for name, value in given.items()) + ")"
