"""`barnabas status`: the whole platform on one screen."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, Final, TextIO

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.connectors.client import ConnectClient
from barnabas.cli.connectors.metrics import collect
from barnabas.cli.connectors.states import ConnectorState
from barnabas.cli.output import JSON, TABLE, Column
from barnabas.cli.platform.addresses import PlatformAddresses, add_addresses, addresses_of
from barnabas.cli.sql.entities import query_state
from barnabas.cli.status.cluster import ClusterStatus, cluster_status
from barnabas.cli.status.services import (
    DOWN,
    HEALTHY,
    UNHEALTHY,
    NoAnswer,
    ServiceStatus,
    ask,
    broker_status,
    folder_sizes,
    service_status,
    uptime_s,
)
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.cli.terminal.watch import add_watch, watch
from barnabas.running_platform import running_platforms

EXIT_UNHEALTHY: Final = 1
GROUPS_SHOWN_MAX: Final = 8
ROWS_SHOWN_MAX: Final = 12
SINK_GROUP_PREFIX: Final = "connect-"
"""Of the group of a sink connector, before its name."""
MB: Final = 1_000_000
MINUTE_S: Final = 60
HOUR_S: Final = 3_600
DAY_S: Final = 86_400

_STYLES: Final = {
    HEALTHY: styles.GREEN,
    UNHEALTHY: styles.YELLOW,
    DOWN: styles.RED,
    "RUNNING": styles.GREEN,
    "ERROR": styles.RED,
    "FAILED": styles.RED,
    "PAUSED": styles.YELLOW,
    "STARTING": styles.YELLOW,
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was found. A part that could not be asked is None; its service says why."""

    services: list[ServiceStatus]
    cluster: ClusterStatus | None = None
    queries: list[dict[str, Any]] | None = None
    connectors: list[dict[str, Any]] | None = None
    uptime_s: int | None = None
    data_directory: str | None = None
    disk: dict[str, int] = field(default_factory=dict)
    disk_free_bytes: int | None = None

    @property
    def is_healthy(self) -> bool:
        return all(service.health == HEALTHY for service in self.services)


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Show how the platform is. It is found by its data directory, else at the usual ports."
    add_addresses(parser)
    add_watch(parser)
    parser.add_argument("--output", "-o", choices=(TABLE, JSON), default=TABLE, help="form of the output (table)")


def run(arguments: Namespace) -> int:
    platform = addresses_of(arguments)
    if arguments.watch:
        # A platform that is started again may have other addresses.
        watch(lambda out: _show(out, look(addresses_of(arguments))))
    snapshot = look(platform)
    if arguments.output == JSON:
        output.write_json(sys.stdout, asdict(snapshot))
    else:
        _show(sys.stdout, snapshot)
    return 0 if snapshot.is_healthy else EXIT_UNHEALTHY


def look(platform: PlatformAddresses) -> Snapshot:
    """Ask all services at once; each has a few seconds."""
    with ThreadPoolExecutor(len(platform.addresses) + 2) as pool:
        http = [pool.submit(service_status, name, platform) for name in platform.addresses if name != "broker"]
        cluster = pool.submit(_cluster, platform) if "broker" in platform.addresses else None
        queries = pool.submit(_asked, _queries, platform, "sql")
        connectors = pool.submit(_asked, _connectors, platform, "connect")
        services = [future.result() for future in http]
        found: ClusterStatus | None = None
        if cluster is not None:
            broker, found = cluster.result()
            services.insert(0, broker)
        if found is not None:
            found = found.with_lags(_sink_lags(connectors.result() or ()))
        # Of a platform beside which only others were asked, nothing is shown.
        running = platform.running if any(platform.state_of(name) for name in platform.addresses) else None
        return Snapshot(
            services,
            found,
            queries.result(),
            connectors.result(),
            None if running is None else uptime_s(running.started_s, time.time()),
            None if running is None else str(platform.data_directory),
            {} if running is None else folder_sizes(platform.data_directory),
            None if running is None else shutil.disk_usage(platform.data_directory).free,
        )


def _cluster(platform: PlatformAddresses) -> tuple[ServiceStatus, ClusterStatus | None]:
    try:
        found = cluster_status(platform.addresses["broker"])
    except CommandError as error:
        return broker_status(platform, DOWN, str(error).splitlines()[0]), None
    return broker_status(platform, UNHEALTHY if found.problem else HEALTHY, found.problem or found.warning), found


def _asked(
    work: Callable[[str], list[dict[str, Any]]], platform: PlatformAddresses, service: str
) -> list[dict[str, Any]] | None:
    if service not in platform.addresses:
        return None
    try:
        return work(platform.addresses[service])
    except (NoAnswer, LookupError, TypeError, AttributeError):
        return None


def _queries(url: str) -> list[dict[str, Any]]:
    answer = ask(f"{url}/ksql", {"ksql": "SHOW QUERIES;"})
    return [
        {
            "query": query["id"],
            "state": query_state(query),
            "writes": ", ".join(query.get("sinks") or []) or None,
            "statement": " ".join(query["queryString"].split()),
        }
        for query in answer[0]["queries"]
    ]


def _connectors(url: str) -> list[dict[str, Any]]:
    found = []
    parts = dict(sorted(ask(f"{url}/connectors?expand=status&expand=info").items()))
    statuses = {name: part["status"] for name, part in parts.items()}
    workers = {task["worker_id"] for status in statuses.values() for task in status["tasks"]}
    metrics = collect(ConnectClient(url), workers)
    for name, status in statuses.items():
        state = ConnectorState.of(status, parts[name]["info"])
        trace = state.first_trace
        found.append(
            {
                "connector": name,
                "type": status.get("type"),
                "state": state.state,
                "tasks": state.running,
                # It is not known of tasks that do not run.
                "lag": metrics[name].lag if name in metrics and state.is_running else None,
                "reason": trace.strip().splitlines()[0] if trace else None,
            }
        )
    return found


def _sink_lags(connectors: Iterable[dict[str, Any]]) -> dict[str, int]:
    """By group. A sink commits now and then, and its worker knows how far it has read: what is not committed yet is no arrear."""
    return {f"{SINK_GROUP_PREFIX}{one['connector']}": one["lag"] for one in connectors if one["lag"] is not None}


# --- showing ---


def _show(out: TextIO, snapshot: Snapshot) -> None:
    up = "" if snapshot.uptime_s is None else f", up for {duration(snapshot.uptime_s)}"
    state = "all services are healthy" if snapshot.is_healthy else "not all services are healthy"
    out.write(styled(f"barnabas: {state}{up}", styles.BOLD, out) + "\n\n")
    _table(
        out,
        (Column("service"), Column("url", is_whole=True), Column("health", _STYLES.get), Column("version"),
         Column("memory"), Column("restarts"), Column("reason")),
        [
            (one.name, one.url, one.health, _version(one), _megabytes(one.memory_bytes), one.restarts, one.reason)
            for one in snapshot.services
        ],
    )  # fmt: skip
    if all(service.health == DOWN for service in snapshot.services):
        out.write(
            "\nNothing answers. `barnabas up` starts the platform, `barnabas doctor` says what keeps it from starting;\n"
        )
        out.write("--data-dir, or --bootstrap-server, --registry, --rest, --connect and --sql, say where it is.\n")
        for folder, _ in running_platforms():
            out.write(f"One runs here: barnabas status --data-dir {shlex.quote(str(folder))}\n")
    if snapshot.cluster is not None:
        _show_cluster(out, snapshot.cluster)
    _show_rows(out, "query", snapshot.queries, ("query", "state", "writes", "statement"))
    _show_rows(out, "connector", snapshot.connectors, ("connector", "type", "state", "tasks", "lag", "reason"))
    if snapshot.data_directory is not None and snapshot.disk_free_bytes is not None:
        used = ", ".join([f"{name} {_megabytes(size)}" for name, size in snapshot.disk.items()])
        out.write(f"\ndata in {snapshot.data_directory}: {used}; {_megabytes(snapshot.disk_free_bytes)} free\n")


def _show_cluster(out: TextIO, cluster: ClusterStatus) -> None:
    out.write(
        f"\n{_count(cluster.brokers, 'broker')}, {_count(cluster.topics, 'topic')} and {cluster.internal} internal, "
        f"{_count(cluster.partitions, 'partition')}, {_count(len(cluster.groups), 'group')}\n"
    )
    shown = cluster.groups[:GROUPS_SHOWN_MAX]
    if shown:
        columns = (
            Column("group"),
            Column("protocol"),
            Column("state"),
            Column("lag", lambda lag: styles.YELLOW if lag else None),
        )
        _table(out, columns, [(one.group, one.protocol, one.state, one.lag) for one in shown])
    _more(out, len(cluster.groups) - len(shown))


def _show_rows(out: TextIO, noun: str, rows: Sequence[dict[str, Any]] | None, names: Sequence[str]) -> None:
    if rows is None:
        return
    if not rows:
        out.write(f"\n{_count(0, noun)}\n")
        return
    out.write("\n")
    columns = [Column(name, _STYLES.get if name == "state" else None) for name in names]
    _table(out, columns, [[row[name] for name in names] for row in rows[:ROWS_SHOWN_MAX]])
    _more(out, len(rows) - ROWS_SHOWN_MAX)


def _table(out: TextIO, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> None:
    output.write(out, TABLE, columns, rows)


def _more(out: TextIO, count: int) -> None:
    if count > 0:
        out.write(f"and {count} more\n")


def _count(number: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number or 'no'} {noun if number == 1 else plural}"


def _version(one: ServiceStatus) -> str | None:
    return one.version if one.stands_for is None else f"{one.version} (as {one.stands_for})"


def _megabytes(size: int | None) -> str | None:
    return None if size is None else f"{size / MB:,.0f} MB"


def duration(seconds: int) -> str:
    """In the two largest units."""
    parts = [(seconds // DAY_S, "d"), (seconds % DAY_S // HOUR_S, "h"), (seconds % HOUR_S // MINUTE_S, "min")]
    parts.append((seconds % MINUTE_S, "s"))
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    return " ".join([f"{number} {unit}" for number, unit in parts[:2]])
