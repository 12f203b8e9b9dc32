"""`barnabas schemas check`: whether a schema is compatible with the versions of a subject."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.schemas import compatibility, registry
from barnabas.cli.schemas.arguments import add_registry_and_report_form, add_schema_file
from barnabas.cli.schemas.compatibility import EXIT_INCOMPATIBLE
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError

EXIT_COMPATIBLE: Final = 0
EXIT_TROUBLE: Final = 3
_STATUSES: Final = (
    "Exit status: 0 compatible, or there is no such subject yet; 1 incompatible, or no such subject with --must-exist; "
    "2 FILE is not a valid schema, or the command line is wrong; 3 the registry cannot be reached, or refuses to answer."
)


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    parser.epilog = _STATUSES
    add_schema_file(parser)
    parser.add_argument("--version", metavar="VERSION", help="compare with this version alone; latest is one")
    parser.add_argument("--must-exist", action="store_true", help="a subject that does not exist is no success")


def run(arguments: Namespace) -> int:
    return registry.run(_check, arguments, EXIT_TROUBLE)


def _check(client: RegistryClient, arguments: Namespace) -> int:
    schema = registry.read_schema(arguments.file, arguments.type, arguments.reference)
    exists = _exists(client, arguments.subject)
    answer = compatibility.check(client, arguments, schema, arguments.version if exists else None)
    compatible = bool(answer["is_compatible"])
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, answer)
    if not exists:
        where = sys.stderr if arguments.output == output.JSON else sys.stdout
        print(f"{arguments.subject} does not exist yet, so that there is nothing to compare with", file=where)
        return EXIT_INCOMPATIBLE if arguments.must_exist else EXIT_COMPATIBLE
    if arguments.output != output.JSON:
        if compatible:
            print(styled(f"{arguments.file} is compatible with {arguments.subject}", styles.GREEN, sys.stdout))
        else:
            compatibility.write_differences(arguments, answer, sys.stdout)
    return EXIT_COMPATIBLE if compatible else EXIT_INCOMPATIBLE


def _exists(client: RegistryClient, subject: str) -> bool:
    try:
        client.versions(subject)
    except RegistryClientError as error:
        if error.code != registry.SUBJECT_NOT_FOUND:
            raise
        return False
    return True
