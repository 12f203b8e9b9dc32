"""`barnabas connectors create`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from barnabas.cli import output
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.connectors import files
from barnabas.cli.connectors.arguments import add_settings, add_worker, client_of
from barnabas.cli.connectors.validate import validation, write_warnings


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_report_form(parser)
    add_settings(parser)
    parser.add_argument("--paused", action="store_true", help="do not start it yet")


def run(arguments: Namespace) -> int:
    client = client_of(arguments)
    described = files.described(arguments)
    body: dict[str, Any] = {"name": described.name, "config": described.config}
    if arguments.paused:
        body["initial_state"] = "PAUSED"
    write_warnings(validation(client, described.config))
    created = client.call("POST", "/connectors", body)
    content = {"name": created["name"], "type": created["type"], "result": "created"}
    output.report(arguments.output, content, f"created {created['name']} ({created['type']})")
    return 0
