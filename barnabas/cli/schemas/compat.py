"""`barnabas schemas compat`: the compatibility level of a subject or of the registry."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import add_registry_and_report_form
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError

LEVELS: Final = (
    *("BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE"),
    *("FULL", "FULL_TRANSITIVE", "NONE"),
)
POLICIES: Final = ("STRICT", "LENIENT")
_NO_LEVEL_HERE: Final = 40408


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    parser.add_argument("verb", choices=("get", "set", "delete"), help="delete: back to that of the registry")
    parser.add_argument("level", nargs="?", type=str.upper, choices=LEVELS, metavar="LEVEL", help=", ".join(LEVELS))
    parser.add_argument(
        "--policy", type=str.upper, choices=POLICIES, help="how strictly JSON schemas are compared; with set alone"
    )
    parser.add_argument("--subject", "-s", metavar="SUBJECT", help="of one subject; without it, of the whole registry")


def run(arguments: Namespace) -> int:
    return registry.run(_compat, arguments)


def _compat(client: RegistryClient, arguments: Namespace) -> int:
    subject = arguments.subject
    given = {"compatibility": arguments.level, "compatibilityPolicy": arguments.policy}
    wanted = {name: value for name, value in given.items() if value is not None}
    if (arguments.verb == "set") != bool(wanted):
        raise CommandError(
            f"compat {arguments.verb} takes {'a level or --policy' if arguments.verb == 'set' else 'no level and no --policy'}",
            "Write `compat set LEVEL`, `compat get` or `compat delete`.",
            2,
        )
    if arguments.verb == "set":
        client.set_config(subject, wanted)
    elif arguments.verb == "delete":
        _delete_config(client, subject)
    level, inherited, policy = _terms(client, subject)
    if arguments.output == output.JSON:
        shown = {"subject": subject, "level": level, "inherited": inherited}
        output.write_json(sys.stdout, {**shown, "policy": policy} if policy else shown)
    else:
        where = " (of the whole registry)" if inherited else ""
        print(f"{level}{where}{f', policy {policy}' if policy else ''}")
    return 0


def _delete_config(client: RegistryClient, subject: str | None) -> None:
    try:
        client.delete_config(subject)
    except RegistryClientError as error:
        if error.code not in (registry.SUBJECT_NOT_FOUND, _NO_LEVEL_HERE):
            raise
        raise CommandError(
            f"{subject} has no level of its own; nothing was deleted", "`compat get` shows the level in force."
        ) from None


def _terms(client: RegistryClient, subject: str | None) -> tuple[str, bool, str | None]:
    """The level in force, whether it comes from outside of the subject, and the policy if one is set."""
    try:
        own = client.config(subject)
    except RegistryClientError as error:
        if error.code != _NO_LEVEL_HERE:
            raise
        own = {}
    inherited = "compatibilityLevel" not in own
    in_force = client.config(subject, inherited=True) if inherited else own
    return in_force["compatibilityLevel"], inherited, in_force.get("compatibilityPolicy")
