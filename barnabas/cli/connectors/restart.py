"""`barnabas connectors restart`: a connector and its tasks."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form, whole_number
from barnabas.cli.connectors.arguments import add_name, add_worker, client_of
from barnabas.cli.connectors.client import path_of


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_report_form(parser)
    add_name(parser)
    parser.add_argument("--task", type=whole_number(0), metavar="N", help="one task alone")
    parser.add_argument("--failed", action="store_true", help="only what has failed")


def run(arguments: Namespace) -> int:
    client = client_of(arguments)
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
