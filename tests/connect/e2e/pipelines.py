"""Configurations of the connectors that make pipelines, and what comes out of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect_service import ConnectProcess
from tests.process_tree import children

STRINGS = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
PLAIN_JSON = {"value.converter": JSON, "value.converter.schemas.enable": "false", "key.converter": STRINGS}
QUICK_CONSUMER = {
    "consumer.override.session.timeout.ms": "3000",
    "consumer.override.heartbeat.interval.ms": "300",
}
CHUNK = 40
PAUSE_S = 0.02


def file_source(file: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "poll.interval.ms": "20",
        "value.converter": STRINGS,
    }


def file_sink(file: Path, topic: str, *, exactly_once: bool, **others: str) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": topic,
        "exactly.once": str(exactly_once).lower(),
        "value.converter": STRINGS,
        "consumer.override.isolation.level": "read_committed",
        **others,
    }


def table_source(url: str, table: str, prefix: str, **others: str) -> dict[str, str]:
    return {
        "connector.class": "JdbcSource",
        "connection.url": url,
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": prefix,
        "table.whitelist": table,
        "poll.interval.ms": "50",
        "table.poll.interval.ms": "300",
        "connection.backoff.ms": "200",
        **others,
    }


def table_sink(url: str, topic: str, table: str, **others: str) -> dict[str, str]:
    return {
        "connector.class": "JdbcSink",
        "connection.url": url,
        "topics": topic,
        "table.name.format": table,
        "connection.backoff.ms": "200",
        "retry.backoff.ms": "200",
        "consumer.override.isolation.level": "read_committed",
        **others,
    }


def compare(expected: Sequence[object], found: Sequence[object], *, exactly_once: bool) -> None:
    """Row by row: none is missing, none was made up, and exactly-once none is there twice."""
    assert set(found) == set(expected)
    if exactly_once:
        assert [row for row, count in Counter(found).items() if count > 1] == []


def task_processes(worker: ConnectProcess) -> set[int]:
    """The processes of the tasks: children of the one that the worker forks them from."""
    return {task for server in children(worker.pid) for task in children(server)}


@contextmanager
def _fed(feed: Callable[[int], bool]) -> Iterator[Callable[[], int]]:
    """Feed numbers in chunks, each again until it is taken; yields what tells how many were taken by now."""
    ends = threading.Event()
    taken = 0

    def work() -> None:
        nonlocal taken
        while not ends.wait(PAUSE_S):
            if feed(taken):
                taken += CHUNK

    feeding = threading.Thread(target=work)
    feeding.start()
    try:
        yield lambda: taken
    finally:
        ends.set()
        feeding.join()


@contextmanager
def growing_file(file: Path) -> Iterator[Callable[[], int]]:
    with file.open("a") as out:

        def feed(start: int) -> bool:
            out.writelines(f"{line}\n" for line in lines(start + CHUNK, start))
            out.flush()
            return True

        with _fed(feed) as taken:
            yield taken


@contextmanager
def growing_table(database: SampleDatabase, table: str) -> Iterator[Callable[[], int]]:
    def feed(start: int) -> bool:
        try:
            # What was committed just before the database died is there already.
            database.execute(
                f"INSERT INTO {table} SELECT n, 'name ' || n, n / 8.0 FROM generate_series({start}, {start + CHUNK - 1}) n "
                "ON CONFLICT DO NOTHING"
            )
        except DBAPIError:
            return False
        return True

    with _fed(feed) as taken:
        yield taken


def lines(end: int, start: int = 0) -> list[str]:
    return [f"line {number}" for number in range(start, end)]
