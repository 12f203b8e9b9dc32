"""`barnabas schemas register`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import Final

from barnabas.cli import output
from barnabas.cli.key_values import parse_key_values
from barnabas.cli.schemas import compatibility, registry
from barnabas.cli.schemas.arguments import add_registry_and_report_form, add_schema_file
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SchemaText

_CONFLICT: Final = 409


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    add_schema_file(parser)
    parser.add_argument(
        "--metadata",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a property of the schema; may be repeated",
    )


def run(arguments: Namespace) -> int:
    return registry.run(_register, arguments)


def _register(client: RegistryClient, arguments: Namespace) -> int:
    schema = registry.read_schema(arguments.file, arguments.type, arguments.reference)
    properties = parse_key_values(arguments.metadata)
    if properties:
        schema = replace(schema, metadata={"properties": properties})
    try:
        client.register(arguments.subject, schema, normalize=arguments.normalize)
    except RegistryClientError as error:
        return _rejected(client, arguments, schema, error)
    found = client.lookup(arguments.subject, schema, normalize=arguments.normalize)
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, {"subject": found.subject, "version": found.version, "id": found.id})
    else:
        print(f"registered {found.subject} version {found.version}, id {found.id}")
    return 0


def _rejected(client: RegistryClient, arguments: Namespace, schema: SchemaText, error: RegistryClientError) -> int:
    """Show why a schema is rejected."""
    if error.code == registry.INVALID_SCHEMA:
        raise registry.invalid(arguments.file, error)
    if error.status == _CONFLICT:
        answer = compatibility.check(client, arguments, schema)
        if not answer["is_compatible"]:
            compatibility.write_differences(arguments, answer, sys.stderr)
            return compatibility.EXIT_INCOMPATIBLE
    raise error
