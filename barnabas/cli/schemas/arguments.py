"""Arguments that several commands of a registry have."""

from __future__ import annotations

import argparse
import os
from typing import Final

from barnabas.cli.command_parser import add_report_form
from barnabas.cli.service_address import SERVICES, address_of, default_text

USER_VARIABLE: Final = "SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO"
WHICH: Final = "SUBJECT, SUBJECT:VERSION or an id"


def add_registry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--registry",
        metavar="URL",
        help=f"the schema registry, or several with commas; {default_text('registry')}",
    )


def add_registry_and_report_form(parser: argparse.ArgumentParser) -> None:
    add_registry(parser)
    add_report_form(parser)


def registry_url(arguments: argparse.Namespace) -> tuple[str, bool]:
    """The address of the registry, and whether the user named it."""
    variable, _ = SERVICES["registry"]
    return arguments.registry or address_of("registry"), bool(arguments.registry or os.environ.get(variable))


def add_schema_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=".avsc, .json (JSON Schema) or .proto")
    parser.add_argument("--subject", "-s", required=True, metavar="SUBJECT", help="the subject that it is a version of")
    parser.add_argument(
        "--type", type=str.upper, choices=("AVRO", "JSON", "PROTOBUF"), help="if the file's name does not say it"
    )
    parser.add_argument(
        "--reference",
        action="append",
        default=[],
        metavar="NAME=SUBJECT:VERSION",
        help="a schema that this one uses by name; may be repeated",
    )
    parser.add_argument("--normalize", action="store_true", help="let the registry normalise the text first")
