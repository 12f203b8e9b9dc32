"""`barnabas connectors delete`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.confirmation import confirm
from barnabas.cli.connectors.arguments import add_name, add_worker, add_yes, client_of
from barnabas.cli.connectors.client import path_of


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_report_form(parser)
    add_name(parser)
    add_yes(parser)


def run(arguments: Namespace) -> int:
    client = client_of(arguments)
    if not arguments.yes:
        confirm(f"delete connector {arguments.name}?")
    client.call("DELETE", path_of(arguments.name))
    content = {"name": arguments.name, "result": "deleted"}
    output.report(arguments.output, content, f"deleted {arguments.name}")
    return 0
