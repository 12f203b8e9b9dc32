"""`barnabas connectors show`: the settings of a connector, its tasks, and their errors in full."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from functools import partial
from typing import TextIO

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.connectors.arguments import add_name, add_worker, client_of
from barnabas.cli.connectors.client import ConnectClient, path_of
from barnabas.cli.connectors.states import STATE_STYLES, ConnectorState, status_of
from barnabas.cli.output import JSON
from barnabas.cli.terminal.styles import styled
from barnabas.cli.terminal.watch import add_watch, watch


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_report_form(parser)
    add_name(parser)
    add_watch(parser)


def run(arguments: Namespace) -> int:
    write = partial(_write, client=client_of(arguments), arguments=arguments)
    if arguments.watch:
        watch(write)
    write(sys.stdout)
    return 0


def _write(out: TextIO, client: ConnectClient, arguments: Namespace) -> None:
    name = arguments.name
    info = client.call("GET", path_of(name))
    found = ConnectorState.of(status_of(client, name), info)
    if arguments.output == JSON:
        output.write_json(
            out,
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
        return
    print(f"{name}: {info['type']}, {_styled(found.state, out)}, {found.running} tasks running", file=out)
    for setting, text in sorted(info["config"].items()):
        print(output.printable(f"  {setting} = {text}"), file=out)
    print(f"connector: {_styled(found.connector.state, out)} on {found.connector.worker}", file=out)
    for task in found.tasks:
        print(f"task {task.task}: {_styled(task.state, out)} on {task.worker}", file=out)
    for trace in _traces(found):
        print(file=out)
        for line in trace.rstrip().splitlines():
            print(output.printable(line.expandtabs()), file=out)


def _traces(found: ConnectorState) -> list[str]:
    """Each once: tasks that fail for one reason say the same."""
    return list(dict.fromkeys([part.trace for part in found if part.trace]))


def _styled(state: str, out: TextIO) -> str:
    return styled(state, STATE_STYLES.get(state), out)
