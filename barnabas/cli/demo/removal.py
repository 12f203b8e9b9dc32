"""What a demo has made, removed again, with the positions of its connectors: a new one that finds them would skip its own rows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from barnabas.cli.connectors.client import NOT_FOUND, ConnectClient, Refusal, path_of
from barnabas.cli.connectors.offsets import STOPPED, wait_until_stopped
from barnabas.cli.demo.steps import (
    CONNECTORS,
    CUSTOMERS_TABLE,
    DATABASE,
    SUBJECTS,
    TOPICS,
    Urls,
    connector_configs,
    sql_command,
)

ENTITIES: Final = ("DEMO_TURNOVER", "DEMO_DEAR", "DEMO_ORDERS")
RESET_DEADLINE_S: Final = 30.0
RESET_PAUSE_S: Final = 0.5
LEFT: Final = (
    f"The demo has left what it had made by then: connectors {', '.join(CONNECTORS)}; {', '.join(ENTITIES)} of SQL; topics "
    f"{', '.join(TOPICS)}; subjects {', '.join(SUBJECTS)}; files in {{folder}}. `barnabas demo --remove` removes all but the "
    "files, and so does the next demo before it begins."
)


def remove(urls: Urls, call: Callable[[str], object]) -> None:
    """`call` runs a command; some of them have nothing to do, and fail."""
    client = ConnectClient(urls.connect)
    with TemporaryDirectory(prefix="barnabas-demo-") as folder:
        # A worker takes no connector without its database and table.
        with closing(sqlite3.connect(Path(folder) / DATABASE)) as database:
            database.execute(CUSTOMERS_TABLE)
        for name, config in connector_configs(Path(folder), urls).items():
            _remove_connector(client, name, config)
    for command in _commands(urls):
        call(command)


def _remove_connector(client: ConnectClient, name: str, config: Mapping[str, str]) -> None:
    """Its offsets outlive a connector, and can be reached through one of its name alone."""
    try:
        client.call("PUT", path_of(name, "/stop"))
    except Refusal as refusal:
        if refusal.code != NOT_FOUND:
            raise
        client.call("POST", "/connectors", {"name": name, "config": config, "initial_state": STOPPED})
    else:
        wait_until_stopped(client, name)
    _reset_offsets(client, name)
    client.call("DELETE", path_of(name))


def _reset_offsets(client: ConnectClient, name: str) -> None:
    """A sink's group may have its member for a moment after the task has stopped: the worker refuses until it has left."""
    deadline_s = time.monotonic() + RESET_DEADLINE_S
    while True:
        try:
            client.call("DELETE", path_of(name, "/offsets"))
            return
        except Refusal:
            if time.monotonic() > deadline_s:
                raise
        time.sleep(RESET_PAUSE_S)


def _commands(urls: Urls) -> list[str]:
    turnover, dear, orders = ENTITIES
    statements = (
        f"DROP TABLE IF EXISTS {turnover} DELETE TOPIC; DROP STREAM IF EXISTS {dear} DELETE TOPIC; "
        f"DROP STREAM IF EXISTS {orders};"
    )
    found = [sql_command(statements)]
    found += [f"barnabas topics delete --yes {topic}" for topic in TOPICS]
    found += [
        f"curl -sS -X DELETE {urls.registry}/subjects/{subject}{suffix}"
        for subject in SUBJECTS
        for suffix in ("", "?permanent=true")
    ]
    return found
