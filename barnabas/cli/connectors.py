"""`barnabas connectors`: what there is, and the life of a connector; offsets and dead letters have modules of their own."""

from __future__ import annotations

import re
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable
from typing import Any, Final

from barnabas.cli import connector_figures, connector_files, connector_offsets, dead_letters, output, terminal
from barnabas.cli.command_error import CommandError
from barnabas.cli.confirmation import confirm
from barnabas.cli.connect_client import NOT_FOUND, PLUGINS, ConnectClient, Refusal, path_of, plugin_path_of
from barnabas.cli.connector_states import FAILED, NO_WORKER, RUNNING, UNASSIGNED, ConnectorState
from barnabas.cli.connectors_arguments import WATCH_S, worker_url
from barnabas.cli.output import JSON, TABLE, Column
from barnabas.kernel.settings import MASK

ERROR_SHOWN_CHARACTERS: Final = 120
EXIT_INVALID: Final = 2
UNCHANGED: Final = "unchanged"
_STYLES: Final = {
    RUNNING: terminal.GREEN, FAILED: terminal.RED, "PAUSED": terminal.YELLOW, "STOPPED": terminal.DIM, UNASSIGNED: terminal.YELLOW,
    "RESTARTING": terminal.YELLOW,
}  # fmt: skip
_OWN_FAILURE: Final = re.compile(r"^connect\.[\w.]+: ")
"""The class of a failure that explains itself."""
_CLEAR: Final = "\x1b[2J\x1b[H"


def run(arguments: Namespace) -> int:
    works: dict[str, Callable[[ConnectClient, Namespace], int]] = {
        "list": _watched(_list),
        "show": _watched(_show),
        "plugins": _plugins,
        "create": _create,
        "apply": _apply,
        "validate": _validate,
        "pause": _target,
        "resume": _target,
        "stop": _target,
        "restart": _restart,
        "delete": _delete,
        "offsets": connector_offsets.run,
        "dlq": dead_letters.run,
    }
    return works[arguments.action](ConnectClient(worker_url(arguments)), arguments)


def _watched(work: Callable[[ConnectClient, Namespace], int]) -> Callable[[ConnectClient, Namespace], int]:
    def watch(client: ConnectClient, arguments: Namespace) -> int:
        while arguments.watch:
            if sys.stdout.isatty():
                sys.stdout.write(_CLEAR)
            try:
                work(client, arguments)
            except CommandError as error:
                # Whoever watches a worker wants to see it come back.
                print(error)
            sys.stdout.flush()
            time.sleep(WATCH_S)
        return work(client, arguments)

    return watch


# --- reading ---


def _list(client: ConnectClient, arguments: Namespace) -> int:
    connectors = _connectors(client)
    figures = connector_figures.collect(client, _worker_ids(connectors.values()))
    rows = []
    for name, parts in sorted(connectors.items()):
        found = ConnectorState.of(parts["status"], parts["info"])
        metrics = figures.get(name, connector_figures.Figures())
        rows.append(
            (
                name,
                parts["info"]["type"],
                found.state,
                found.running,
                f"{metrics.rate:.0f}/s",
                metrics.lag,
                metrics.dead_letters or None,
                _last_error(found),
            )
        )
    columns = [
        Column("name"), Column("type"), Column("state", _STYLES.get), Column("tasks"), Column("rate"), Column("lag"),
        Column("dead_letters"), Column("last_error", lambda _error: terminal.RED),
    ]  # fmt: skip
    output.write(sys.stdout, arguments.output, columns, rows)
    if not rows and arguments.output == TABLE:
        print("There are no connectors. `barnabas connectors plugins` shows what they can be.", file=sys.stderr)
    return 0


def _show(client: ConnectClient, arguments: Namespace) -> int:
    name = arguments.name
    info = client.call("GET", path_of(name))
    found = ConnectorState.of(_status(client, name), info)
    if arguments.output == JSON:
        output.write_json(
            sys.stdout,
            {
                "name": name,
                "type": info["type"],
                "state": found.state,
                "connector": {"state": found.connector.state, "worker": found.connector.worker},
                "tasks": [{"id": task.task, "state": task.state, "worker": task.worker} for task in found.tasks],
                "traces": _traces(found),
                "config": info["config"],
            },
        )
        return 0
    print(f"{name}: {info['type']}, {_painted(found.state)}, {found.running} tasks running")
    for setting, text in sorted(info["config"].items()):
        print(f"  {setting} = {output.printable(text)}")
    print(f"connector: {_painted(found.connector.state)} on {found.connector.worker}")
    for task in found.tasks:
        print(f"task {task.task}: {_painted(task.state)} on {task.worker}")
    for trace in _traces(found):
        print()
        for line in trace.rstrip().splitlines():
            print(output.printable(line.expandtabs()))
    return 0


def _traces(found: ConnectorState) -> list[str]:
    """Each once: tasks that fail for one reason say the same."""
    return list(dict.fromkeys([part.trace for part in found if part.trace]))


def _plugins(client: ConnectClient, arguments: Namespace) -> int:
    if arguments.plugin is None:
        found = client.call("GET", f"{PLUGINS}?connectorsOnly={'false' if arguments.all else 'true'}")
        rows = [(each["class"], each["type"], each.get("version")) for each in found]
        output.write(sys.stdout, arguments.output, [Column("class"), Column("type"), Column("version")], rows)
        return 0
    keys = client.call("GET", plugin_path_of(arguments.plugin, "/config"))
    settings = [
        (
            key["name"],
            key["type"].lower(),
            "required" if key["required"] else key["default_value"],
            key["documentation"],
        )
        for key in keys
    ]
    columns = [Column("setting"), Column("type"), Column("default"), Column("meaning")]
    output.write(sys.stdout, arguments.output, columns, settings)
    return 0


# --- writing ---


def _create(client: ConnectClient, arguments: Namespace) -> int:
    described = connector_files.described(arguments)
    body: dict[str, Any] = {"name": described.name, "config": described.config}
    if arguments.paused:
        body["initial_state"] = "PAUSED"
    _told_warnings(_validation(client, described.config))
    created = client.call("POST", "/connectors", body)
    content = {"name": created["name"], "type": created["type"], "result": "created"}
    output.report(arguments.output, content, f"created {created['name']} ({created['type']})")
    return 0


def _apply(client: ConnectClient, arguments: Namespace) -> int:
    """All files are read before anything is changed: a mistake in the last leaves everything as it was."""
    described = [each for file in arguments.file for each in connector_files.read(file)]
    changes = []
    try:
        for each in described:
            change = _change(client, each)
            if change != UNCHANGED:
                _told_warnings(_validation(client, each.config))
            if change != UNCHANGED and not arguments.dry_run:
                client.call("PUT", path_of(each.name, "/config"), each.config)
            changes.append({"name": each.name, "change": change, "dry_run": arguments.dry_run})
            if arguments.output != JSON:
                print(f"{each.name}: {change}{' (dry run)' if arguments.dry_run else ''}")
    finally:
        # Also of those before one that fails: they are changed.
        if arguments.output == JSON:
            output.write_json(sys.stdout, changes)
    return 0


def _change(client: ConnectClient, described: connector_files.Described) -> str:
    try:
        former = client.call("GET", path_of(described.name, "/config"))
    except Refusal as refusal:
        if refusal.code != NOT_FOUND:
            raise
        return "created"
    names = sorted(
        name for name in former.keys() | described.config.keys() if former.get(name) != described.config.get(name)
    )
    if names and all(former.get(name) == MASK and name in described.config for name in names):
        return f"set again, since secrets cannot be compared: {', '.join(names)}"
    return f"changed {', '.join(names)}" if names else UNCHANGED


def _validate(client: ConnectClient, arguments: Namespace) -> int:
    described = connector_files.described(arguments)
    result = _validation(client, described.config)
    warnings = _told_warnings(result)
    problems = [(entry["value"]["name"], error) for entry in result["configs"] for error in entry["value"]["errors"]]
    if arguments.output == JSON:
        errors = [{"setting": name, "error": error} for name, error in problems]
        content = {
            "name": described.name,
            "is_valid": not problems,
            "errors": errors,
            "warnings": result.get("warnings", []),
        }
        output.write_json(sys.stdout, content)
        return EXIT_INVALID if problems else 0
    for name, error in problems:
        print(f"{name}: {error}", file=sys.stderr)
    if problems:
        return EXIT_INVALID
    print(f"{described.name}: the settings are right{_with(warnings)}")
    return 0


def _target(client: ConnectClient, arguments: Namespace) -> int:
    client.call("PUT", path_of(arguments.name, f"/{arguments.action}"))
    content = {"name": arguments.name, "requested": arguments.action}
    output.report(arguments.output, content, f"{arguments.name}: {arguments.action} requested")
    return 0


def _restart(client: ConnectClient, arguments: Namespace) -> int:
    if arguments.task is not None:
        client.call("POST", path_of(arguments.name, f"/tasks/{arguments.task}/restart"))
        part = f"task {arguments.task}"
        content = {"name": arguments.name, "restarting": [part]}
        output.report(arguments.output, content, f"{arguments.name}: {part} restarts")
        return 0
    only_failed = "true" if arguments.failed else "false"
    status = client.call("POST", path_of(arguments.name, f"/restart?includeTasks=true&onlyFailed={only_failed}"))
    parts = [("connector", status["connector"]), *[(f"task {task['id']}", task) for task in status["tasks"]]]
    restarting = [what for what, part in parts if part["state"] == "RESTARTING"]
    text = f"{arguments.name}: {', '.join(restarting) + ' restart' if restarting else 'nothing has failed'}"
    output.report(arguments.output, {"name": arguments.name, "restarting": restarting}, text)
    return 0


def _delete(client: ConnectClient, arguments: Namespace) -> int:
    if not arguments.yes:
        confirm(f"delete connector {arguments.name}?")
    client.call("DELETE", path_of(arguments.name))
    content = {"name": arguments.name, "result": "deleted"}
    output.report(arguments.output, content, f"deleted {arguments.name}")
    return 0


# --- what they share ---


def _connectors(client: ConnectClient) -> dict[str, Any]:
    """Status and info of all. One that was created just now has no status yet, and a worker leaves it out when it expands."""
    found: dict[str, Any] = client.call("GET", "/connectors?expand=status&expand=info")
    for name in client.call("GET", "/connectors"):
        if name in found:
            continue
        try:
            found[name] = {"info": client.call("GET", path_of(name)), "status": _status(client, name)}
        except Refusal as refusal:
            # It may have been deleted meanwhile.
            if refusal.code != NOT_FOUND:
                raise
    return found


def _status(client: ConnectClient, name: str) -> Any:
    try:
        return client.call("GET", path_of(name, "/status"))
    except Refusal as refusal:
        if refusal.code != NOT_FOUND:
            raise
    return {"connector": {"state": UNASSIGNED, "worker_id": NO_WORKER}, "tasks": []}


def _validation(client: ConnectClient, config: dict[str, str]) -> Any:
    kind = config.get("connector.class")
    if kind is None:
        raise CommandError(
            "connector.class is not set", "`barnabas connectors plugins` shows what it may be.", EXIT_INVALID
        )
    return client.call("PUT", plugin_path_of(kind, "/config/validate"), config)


def _told_warnings(validation: Any) -> int:
    """Tell of names that nobody knows, and how many they are; a worker of Kafka's says nothing of them."""
    warnings = validation.get("warnings", [])
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return len(warnings)


def _with(warnings: int) -> str:
    return f", with {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""


def _worker_ids(connectors: Iterable[Any]) -> list[str]:
    statuses = [parts["status"] for parts in connectors]
    parts = [part for status in statuses for part in (status["connector"], *status["tasks"])]
    return [part["worker_id"] for part in parts if part["worker_id"] != NO_WORKER]


def _last_error(found: ConnectorState) -> str | None:
    if found.first_trace is None:
        return None
    line = found.first_trace.strip().splitlines()[0]
    return _OWN_FAILURE.sub("", line, 1)[:ERROR_SHOWN_CHARACTERS]


def _painted(state: str) -> str:
    style = _STYLES.get(state)
    return terminal.painted(state, style) if style and terminal.colours_here(sys.stdout) else state
