"""`barnabas connectors pause`, `resume` and `stop`: the target state of a connector."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.connectors.arguments import add_name, add_worker, client_of
from barnabas.cli.connectors.client import path_of


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_report_form(parser)
    add_name(parser)


def run(arguments: Namespace) -> int:
    client = client_of(arguments)
    client.call("PUT", path_of(arguments.name, f"/{arguments.action}"))
    content = {"name": arguments.name, "requested": arguments.action}
    output.report(arguments.output, content, f"{arguments.name}: {arguments.action} requested")
    return 0
