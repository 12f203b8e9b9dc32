"""What tests make in services, found by a look before and one after, and removed: each class knows one service.

Whoever made it, the test or a service on its behalf, what was not there before goes. What was there stays, whatever a test did to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import quote

from barnabas.embedded.http_service import HttpService, Refusal

DEADLINE_S: Final = 60.0
PAUSE_S: Final = 0.02
PASSES_MAX: Final = 3
BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
CONFLICT: Final = 409
SERVER_ERROR: Final = 500
SQL_LISTS: Final = "SHOW QUERIES; SHOW STREAMS; SHOW TABLES; SHOW TYPES; SHOW FUNCTIONS;"


class LeftoversRemain(Exception):
    """A service would not let go of what a test has made."""


class Leftovers(Protocol):
    def remove(self) -> None:
        """LeftoversRemain, Refusal, NoAnswer."""


class Connectors:
    """Of a worker, with their offsets: those outlive a connector, and one of the same name would go on from there."""

    def __init__(self, url: str) -> None:
        self._worker = HttpService(url)
        self._before = self._names()

    def remove(self) -> None:
        made = sorted(self._names() - self._before)
        # All of them at once: a task takes a moment to stop.
        for name in made:
            self._call("PUT", _connector(name, "/stop"))
        for name in made:
            _wait(partial(self._is_stopped, name), f"the connector {name} did not stop")
            self._reset_offsets(name)
            self._call("DELETE", _connector(name))

    def _reset_offsets(self, name: str) -> None:
        """Whether or not some are stored: a task that is about to end stores its last ones, and the worker waits for that."""
        try:
            self._call("DELETE", _connector(name, "/offsets"))
        except Refusal as refusal:
            # A connector may say that its offsets are not to be changed.
            if refusal.status != BAD_REQUEST:
                raise

    def _names(self) -> set[str]:
        return set(self._call("GET", "/connectors"))

    def _is_stopped(self, name: str) -> bool:
        try:
            status = self._call("GET", _connector(name, "/status"))
        except Refusal as refusal:
            if refusal.status != NOT_FOUND:
                raise
            # It is so new that nobody has told of it yet.
            return False
        return status["connector"]["state"] == "STOPPED" and not status["tasks"]

    def _call(self, method: str, path: str) -> Any:
        """A worker refuses while it rebalances, and offsets of a sink until the member of its group has left."""
        return _persist(
            lambda: self._worker.call(method, path), lambda refusal: refusal.status in (CONFLICT, SERVER_ERROR)
        )


class Statements:
    """What statements have made in a SQL server: queries, streams, tables, types and functions. Topics are the broker's."""

    def __init__(self, url: str) -> None:
        self._server = HttpService(url)
        self._before = set(self._removals())

    def remove(self) -> None:
        """Queries first, since nothing is dropped that they use. Some go with others, so that it is looked again."""
        refusals: list[Refusal] = []
        for _ in range(PASSES_MAX):
            made = self._made()
            if not made:
                return
            refusals = [refusal for statement in made if (refusal := self._refusal(statement)) is not None]
        told = ", ".join(map(str, refusals)) or "it is still there"
        raise LeftoversRemain(f"{self._server.url} keeps what the test has made: {told}")

    def _made(self) -> list[str]:
        return [statement for statement in self._removals() if statement not in self._before]

    def _refusal(self, statement: str) -> Refusal | None:
        try:
            self._execute(statement)
        except Refusal as refusal:
            return refusal
        return None

    def _removals(self) -> list[str]:
        """A statement for each that there is, in an order in which they may be run."""
        queries, streams, tables, types, functions = self._execute(SQL_LISTS)
        return [
            *(f"TERMINATE {query['id']};" for query in queries["queries"]),
            *(f"DROP STREAM {_quoted(source['name'])};" for source in streams["streams"]),
            *(f"DROP TABLE {_quoted(source['name'])};" for source in tables["tables"]),
            *(f"DROP TYPE {_quoted(name)};" for name in types["types"]),
            *(f"DROP FUNCTION {_quoted(function['name'])};" for function in functions["functions"]),
        ]

    def _execute(self, text: str) -> Any:
        return self._server.call("POST", "/ksql", {"ksql": text})


class Subjects:
    """Of a registry, in all contexts, and the settings of the registry as a whole. Ids of schemas go on from where they are.

    `for_good`: without it, what is deleted can be read by its id, for those who keep ids of schemas that they have written."""

    def __init__(self, url: str, *, for_good: bool) -> None:
        self._registry = HttpService(url)
        self._for_good = for_good
        self._mode, self._config = self._scope("/mode"), self._scope("/config")
        self._live, self._deleted = self._names(), self._deleted_names()

    def remove(self) -> None:
        if self._scope("/mode") != self._mode:
            self._registry.call("PUT", "/mode?force=true", self._mode)
        if self._scope("/config") != self._config:
            self._registry.call("DELETE", "/config")
            level = self._config["compatibilityLevel"]
            self._registry.call("PUT", "/config", {**self._config, "compatibility": level})
        live, deleted = self._names() - self._live, self._deleted_names()
        self._delete(live)
        if self._for_good:
            self._delete((live | deleted) - self._deleted, "?permanent=true")

    def _delete(self, subjects: Iterable[str], how: str = "") -> None:
        """Those that others refer to are not deleted before these are."""
        remaining = set(subjects)
        while remaining:
            refusals = {}
            for subject in sorted(remaining):
                try:
                    self._registry.call("DELETE", f"/subjects/{quote(subject, safe='')}{how}")
                except Refusal as refusal:
                    if refusal.status != NOT_FOUND:
                        refusals[subject] = refusal
            if refusals.keys() == remaining:
                raise LeftoversRemain(f"{self._registry.url} keeps {', '.join(map(str, refusals.values()))}")
            remaining = set(refusals)

    def _names(self) -> set[str]:
        return set(self._registry.call("GET", "/subjects"))

    def _deleted_names(self) -> set[str]:
        return set(self._registry.call("GET", "/subjects?deletedOnly=true"))

    def _scope(self, path: str) -> Any:
        return self._registry.call("GET", path)


class ConsumerInstances:
    """Of a REST proxy: one that nobody deletes keeps its name, and partitions of its group."""

    def __init__(self, url: str) -> None:
        self._proxy = HttpService(url)
        self._before = self._paths()

    def remove(self) -> None:
        for path in self._paths() - self._before:
            self._proxy.call("DELETE", path)

    def _paths(self) -> set[str]:
        return {
            f"/consumers/{quote(each['group'], safe='')}/instances/{quote(each['instance_id'], safe='')}"
            for each in self._proxy.call("GET", "/consumers")
        }


def _connector(name: str, rest: str = "") -> str:
    return f"/connectors/{quote(name, safe='')}{rest}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _persist(work: Callable[[], Any], is_passing: Callable[[Refusal], bool]) -> Any:
    deadline_s = time.monotonic() + DEADLINE_S
    while True:
        try:
            return work()
        except Refusal as refusal:
            if not is_passing(refusal) or time.monotonic() > deadline_s:
                raise
        time.sleep(PAUSE_S)


def _wait(condition: Callable[[], bool], problem: str) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > deadline_s:
            raise LeftoversRemain(f"{problem} within {DEADLINE_S:.0f} s")
        time.sleep(PAUSE_S)
