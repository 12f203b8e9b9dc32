"""`barnabas connectors list`: connectors with state, rate, lag and last error."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from functools import partial
from typing import Any, Final, TextIO

from barnabas.cli import output
from barnabas.cli.connectors.arguments import add_form, add_worker, client_of
from barnabas.cli.connectors.client import NOT_FOUND, ConnectClient, Refusal, path_of
from barnabas.cli.connectors.metrics import ConnectorMetrics, collect
from barnabas.cli.connectors.states import NO_WORKER, STATE_STYLES, ConnectorState, status_of
from barnabas.cli.output import TABLE, Column
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.watch import add_watch, watch

ERROR_SHOWN_CHARACTERS: Final = 120
_OWN_FAILURE: Final = re.compile(r"^connect\.[\w.]+: ")
"""The class of a failure that explains itself."""


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_form(parser)
    add_watch(parser)


def run(arguments: Namespace) -> int:
    write = partial(_write_list, client=client_of(arguments), arguments=arguments)
    if arguments.watch:
        watch(write)
    write(sys.stdout)
    return 0


def _write_list(out: TextIO, client: ConnectClient, arguments: Namespace) -> None:
    connectors = _connectors(client)
    metrics = collect(client, _worker_ids(connectors.values()))
    rows = []
    for name, parts in sorted(connectors.items()):
        found = ConnectorState.of(parts["status"], parts["info"])
        measured = metrics.get(name, ConnectorMetrics())
        rows.append(
            (
                name,
                parts["info"]["type"],
                found.state,
                found.running,
                f"{measured.rate:.0f}/s",
                measured.lag,
                measured.dead_letters or None,
                _last_error(found),
            )
        )
    columns = [
        Column("name"), Column("type"), Column("state", STATE_STYLES.get), Column("tasks"), Column("rate"), Column("lag"),
        Column("dead_letters"), Column("last_error", lambda error: styles.RED if error else None),
    ]  # fmt: skip
    output.write(out, arguments.output, columns, rows)
    if not rows and arguments.output == TABLE:
        print("There are no connectors. `barnabas connectors plugins` shows what they can be.", file=sys.stderr)


def _connectors(client: ConnectClient) -> dict[str, Any]:
    """Status and info of all. One that was created just now has no status yet, and a worker leaves it out when it expands."""
    found: dict[str, Any] = client.call("GET", "/connectors?expand=status&expand=info")
    for name in client.call("GET", "/connectors"):
        if name in found:
            continue
        try:
            found[name] = {"info": client.call("GET", path_of(name)), "status": status_of(client, name)}
        except Refusal as refusal:
            # It may have been deleted meanwhile.
            if refusal.code != NOT_FOUND:
                raise
    return found


def _worker_ids(connectors: Iterable[Any]) -> list[str]:
    statuses = [parts["status"] for parts in connectors]
    parts = [part for status in statuses for part in (status["connector"], *status["tasks"])]
    return [part["worker_id"] for part in parts if part["worker_id"] != NO_WORKER]


def _last_error(found: ConnectorState) -> str | None:
    if found.first_trace is None:
        return None
    line = found.first_trace.strip().splitlines()[0]
    return _OWN_FAILURE.sub("", line, 1)[:ERROR_SHOWN_CHARACTERS]
