"""What goes on while processes are killed: records over REST, rows of a database and lines of a file through Connect."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import httpx

from tests.chaos.stage import Addresses, http_client

TICK_S: Final = 0.2
BATCH_RECORDS: Final = 20
PEOPLE: Final = 50
ROWS_PER_TICK: Final = 10
BUSY_S: Final = 60.0
EVENTS: Final = "chaos-events"
LINES: Final = "chaos-lines"
JSON_V2: Final = {"Content-Type": "application/vnd.kafka.json.v2+json"}


class Load(threading.Thread, ABC):
    """Does one thing at every tick, until it is told to stop."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self._stopping = threading.Event()

    def run(self) -> None:
        with contextlib.closing(self.ticks()) as ticks:
            while not self._stopping.wait(TICK_S):
                next(ticks)

    def stop(self) -> None:
        self._stopping.set()
        self.join()

    @abstractmethod
    def ticks(self) -> Generator[None]:
        """Each step is one tick."""


class RestLoad(Load):
    """Posts records with numbers; those that were acknowledged must be found in the end, others may."""

    def __init__(self, number: int, addresses: Addresses) -> None:
        super().__init__(f"rest-{number}")
        self.acknowledged: set[str] = set()
        self.sent = 0
        self.refused = 0
        self._url = f"{addresses.rest}/topics/{EVENTS}"
        self._number = number

    def ticks(self) -> Generator[None]:
        with http_client() as client:
            while True:
                events = [self._event(self.sent + place) for place in range(BATCH_RECORDS)]
                self.sent += len(events)
                self._post(client, events)
                yield

    def _event(self, number: int) -> dict[str, Any]:
        return {"id": f"{self._number}-{number}", "who": f"p{number % PEOPLE}", "amount": number}

    def _post(self, client: httpx.Client, events: list[dict[str, Any]]) -> None:
        try:
            answer = client.post(self._url, headers=JSON_V2, json={"records": [{"value": one} for one in events]})
            placed = answer.json()["offsets"] if answer.status_code == httpx.codes.OK else []
        except (httpx.HTTPError, ValueError):
            placed = []
        for event, place in zip(events, placed, strict=False):
            if place.get("error_code") is None and place.get("offset") is not None:
                self.acknowledged.add(event["id"])
        self.refused += len(events) - sum(place.get("error_code") is None for place in placed)


class RowLoad(Load):
    """Inserts rows into the table that the JDBC source reads."""

    def __init__(self, database: Path) -> None:
        super().__init__("rows")
        self._database = database
        with contextlib.closing(sqlite3.connect(database, timeout=BUSY_S)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, price REAL)")
            connection.commit()

    def ticks(self) -> Generator[None]:
        with contextlib.closing(sqlite3.connect(self._database, timeout=BUSY_S)) as connection:
            while True:
                rows = [(f"item {place}", place / 4) for place in range(ROWS_PER_TICK)]
                connection.executemany("INSERT INTO orders (item, price) VALUES (?, ?)", rows)
                connection.commit()
                yield


class LineLoad(Load):
    """Appends lines to the file that the file source follows."""

    def __init__(self, file: Path) -> None:
        super().__init__("lines")
        self.lines = 0
        self._file = file
        file.touch()

    def ticks(self) -> Generator[None]:
        with self._file.open("a") as file:
            while True:
                file.writelines(f"line {self.lines + place}\n" for place in range(ROWS_PER_TICK))
                file.flush()
                self.lines += ROWS_PER_TICK
                yield
