"""`barnabas connectors validate`: what is wrong with a connector's settings."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any, Final

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.connectors import files
from barnabas.cli.connectors.arguments import add_settings, add_worker, client_of
from barnabas.cli.connectors.client import ConnectClient, plugin_path_of
from barnabas.cli.output import JSON

EXIT_INVALID: Final = 2


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_report_form(parser)
    add_settings(parser)


def run(arguments: Namespace) -> int:
    client = client_of(arguments)
    described = files.described(arguments)
    result = validation(client, described.config)
    warnings = write_warnings(result)
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
        output.say(f"{name}: {error}", sys.stderr)
    if problems:
        return EXIT_INVALID
    print(f"{described.name}: the settings are right{_with(warnings)}")
    return 0


def validation(client: ConnectClient, config: dict[str, str]) -> Any:
    kind = config.get("connector.class")
    if kind is None:
        raise CommandError(
            "connector.class is not set", "`barnabas connectors plugins` shows what it may be.", EXIT_INVALID
        )
    return client.call("PUT", plugin_path_of(kind, "/config/validate"), config)


def write_warnings(validation: Any) -> int:
    """Write the warnings of unknown settings and return their count; a worker of Apache Kafka has none."""
    warnings = validation.get("warnings", [])
    for warning in warnings:
        output.say(f"warning: {warning}", sys.stderr)
    return len(warnings)


def _with(warnings: int) -> str:
    return f", with {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""
