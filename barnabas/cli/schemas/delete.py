"""`barnabas schemas delete`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.confirmation import confirm
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import add_registry_and_report_form
from barnabas.cli.schemas.registry import SchemaName
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError

# What the registry says when something is deleted already, though not for good.
_SOFT_DELETED: Final = (40404, 40406)


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    parser.add_argument("subject", metavar="SUBJECT", help="SUBJECT or SUBJECT:VERSION")
    parser.add_argument("--permanent", action="store_true", help="for good; without it, ids stay readable")
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")


def run(arguments: Namespace) -> int:
    return registry.run(_delete, arguments)


def _delete(client: RegistryClient, arguments: Namespace) -> int:
    named = SchemaName.parse(arguments.subject)
    if named.subject is None:
        raise CommandError(
            f"{arguments.subject} is an id; ids are not deleted", "Name a SUBJECT or SUBJECT:VERSION.", 2
        )
    if arguments.permanent and not arguments.yes:
        confirm(f"delete {arguments.subject} for good? Records that were written with it can no longer be read.")
    try:
        gone = client.delete(named.subject, named.version)
    except RegistryClientError as error:
        if not arguments.permanent or error.code not in _SOFT_DELETED:
            raise
        gone = []
    if arguments.permanent:
        gone = client.delete(named.subject, named.version, permanent=True)
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, {"subject": named.subject, "versions": gone, "permanent": arguments.permanent})
    else:
        how = " for good" if arguments.permanent else ""
        print(f"deleted {named.subject} version{'' if len(gone) == 1 else 's'} {', '.join(map(str, gone))}{how}")
    return 0
