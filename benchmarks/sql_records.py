"""What the queries read: orders, as JSON and as Avro, the customers that they are from, and what must come out of them."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any, Final

from confluent_kafka import Producer

from barnabas.kernel.serdes.avro import AvroCodec
from barnabas.kernel.serdes.framing import id_prefix
from benchmarks.connection import HOST
from benchmarks.job import LoadFailed

PARTS: Final = 2
CUSTOMERS: Final = 10_000
# Orders of one millisecond; a window of a minute holds a few hundred thousand.
ORDERS_PER_MS: Final = 5
WINDOW_MS: Final = 60_000
COUNTRIES: Final = ("DE", "FR", "GB", "JP", "US")
NOTE: Final = "a note of forty characters, more or less"
# Behind the last order of each partition comes one of this customer, a day later: engines that wait until the time of all they read
# has passed have waited long enough then.
LAST_CUSTOMER: Final = "end"
DAY_MS: Final = 86_400_000
# Numbers that have nothing to do with each other, and come again only after all others.
STRIDE: Final = 7_919
CENTS: Final = 100_000
LOWEST_AMOUNT: Final = 500
HIDDEN_COUNTRY: Final = "JP"

WAITING_RECORDS_MAX: Final = 100_000
BATCH_RECORDS: Final = 10_000
FLUSH_LIMIT_SECONDS: Final = 120
ASK_LIMIT_SECONDS: Final = 30

AVRO_SCHEMA: Final = json.dumps(
    {
        "type": "record",
        "name": "orders",
        "fields": [
            {"name": "ID", "type": ["null", "long"]},
            {"name": "AMOUNT", "type": ["null", "double"]},
            {"name": "QUANTITY", "type": ["null", "int"]},
            {"name": "COUNTRY", "type": ["null", "string"]},
            {"name": "NOTE", "type": ["null", "string"]},
        ],
    }
)


def customer(number: int) -> str:
    return f"c{number * STRIDE % CUSTOMERS}"


def country(number: int) -> str:
    return COUNTRIES[number % len(COUNTRIES)]


def amount(number: int) -> float:
    return number * STRIDE % CENTS / 100


def json_order(number: int) -> bytes:
    return (
        f'{{"id":{number},"amount":{amount(number)},"quantity":{number % 10},"country":"{country(number)}","note":"{NOTE}"}}'
    ).encode()


def avro_orders(registry_url: str, topic: str) -> Callable[[int], bytes]:
    """What writes an order; the schema is registered."""
    body = json.dumps({"schema": AVRO_SCHEMA}).encode()
    headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
    request = urllib.request.Request(f"{registry_url}/subjects/{topic}-value/versions", body, headers)
    with urllib.request.urlopen(request, timeout=ASK_LIMIT_SECONDS) as answer:
        prefix = id_prefix(json.load(answer)["id"])
    encode = AvroCodec(AVRO_SCHEMA).encode

    def order(number: int) -> bytes:
        fields = (number, amount(number), number % 10, country(number), NOTE)
        return prefix + encode(dict(zip(("ID", "AMOUNT", "QUANTITY", "COUNTRY", "NOTE"), fields, strict=True)))

    return order


def is_passed(number: int) -> bool:
    """Whether the filter lets an order pass."""
    return amount(number) > LOWEST_AMOUNT and country(number) != HIDDEN_COUNTRY


def json_customer(number: int) -> bytes:
    return f'{{"name":"customer {number}","level":{number % 7}}}'.encode()


def write_orders(port: int, topic: str, count: int, begin_ms: int, order: Callable[[int], bytes]) -> None:
    """So many orders, shared out, and behind them the last of each partition."""
    for part in range(PARTS):
        numbers = range(part, count, PARTS)
        records = ((customer(number), order(number), begin_ms + number // ORDERS_PER_MS) for number in numbers)
        _write(port, topic, part, records)
        _write(port, topic, part, [(LAST_CUSTOMER, order(0), begin_ms + DAY_MS)])


def write_customers(port: int, topic: str, count: int, at_ms: int, customers: int = CUSTOMERS) -> None:
    """So many rows, which change each customer again and again, and behind them the last of each partition."""
    for part in range(PARTS):
        numbers = range(part, count, PARTS)
        _write(port, topic, part, ((f"c{number % customers}", json_customer(number), at_ms) for number in numbers))
        # As late as the last order: engines that join by time wait for both.
        _write(port, topic, part, [(f"{LAST_CUSTOMER}-{part}", json_customer(0), at_ms + 2 * DAY_MS)])


def _write(port: int, topic: str, partition: int, records: Iterable[tuple[str, bytes, int]]) -> None:
    failed: list[str] = []
    settings = {"bootstrap.servers": f"{HOST}:{port}", "acks": "all", "linger.ms": 20, "compression.type": "lz4"}
    producer = Producer(
        {
            **settings,
            "queue.buffering.max.messages": 2 * WAITING_RECORDS_MAX,
            "delivery.report.only.error": True,
            "on_delivery": lambda error, _message: failed.append(error.str()),
        }
    )
    for number, (key, value, timestamp) in enumerate(records):
        producer.produce(topic, value, key, partition, timestamp=timestamp)
        if number % BATCH_RECORDS == 0:
            _wait_for_room(producer)
    if producer.flush(FLUSH_LIMIT_SECONDS):
        raise LoadFailed(f"{topic} could not be filled in {FLUSH_LIMIT_SECONDS} s")
    if failed:
        raise LoadFailed(f"{len(failed)} records for {topic} were refused: {failed[0]}")


def _wait_for_room(producer: Any) -> None:
    while len(producer) > WAITING_RECORDS_MAX:
        producer.poll(0.01)
