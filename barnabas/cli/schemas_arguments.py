"""The command line of `barnabas schemas`. Nothing is imported here that takes time to load."""

from __future__ import annotations

import argparse
import os
from typing import Any, Final

from barnabas.cli.command_parser import add_action
from barnabas.cli.output import FORMS, REPORT_FORMS, TABLE, TEXT
from barnabas.cli.service_address import SERVICES, address_of, default_text

USER_VARIABLE: Final = "SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO"
LEVELS: Final = (
    *("BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE"),
    *("FULL", "FULL_TRANSITIVE", "NONE"),
)
POLICIES: Final = ("STRICT", "LENIENT")
_CHECK_STATUSES: Final = (
    "Exit status: 0 compatible, or there is no such subject yet; 1 incompatible, or no such subject with --must-exist; "
    "2 FILE is not a valid schema, or the command line is wrong; 3 the registry cannot be reached, or refuses to answer."
)
_WHICH: Final = "SUBJECT, SUBJECT:VERSION or an id"


def add_command(commands: Any) -> None:
    about = "list, compare, check, register and back up schemas"
    parser = commands.add_parser("schemas", help=about, description=f"{about[0].upper()}{about[1:]}.")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_readers(actions)
    _add_writers(actions)
    _add_settings(actions)
    _add_backup(actions)


def add_registry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--registry",
        metavar="URL",
        help=f"the schema registry, or several with commas; {default_text('registry')}",
    )


def registry_url(arguments: argparse.Namespace) -> tuple[str, bool]:
    """The address of the registry, and whether somebody named it."""
    variable, _ = SERVICES["registry"]
    return arguments.registry or address_of("registry"), bool(arguments.registry or os.environ.get(variable))


def _add_readers(actions: Any) -> None:
    one = _action(actions, "list", "list the subjects", FORMS, TABLE)
    one.add_argument("prefix", nargs="?", metavar="PREFIX", help="only subjects that begin so")
    one.add_argument("--versions", action="store_true", help="show every version, not the newest alone")
    one.add_argument("--deleted", action="store_true", help="show what is deleted but not for good, too")
    one = _action(actions, "show", "show a schema")
    one.add_argument("subject", metavar="SCHEMA", help=_WHICH)
    one = _action(actions, "diff", "compare two schemas")
    one.add_argument(
        "left",
        metavar="OLD",
        help=f"{_WHICH}, or a file: what holds a / or ends in .avsc, .json or .proto, unless :VERSION follows",
    )
    one.add_argument("right", metavar="NEW", nargs="?", help="the same; without it, the last two versions of OLD")
    one = _action(actions, "check", "tell whether a schema is compatible, and if not, why and what would help")
    one.epilog = _CHECK_STATUSES
    _schema_file(one)
    one.add_argument("--version", metavar="VERSION", help="compare with this version alone; latest is one")
    one.add_argument("--must-exist", action="store_true", help="a subject that does not exist is no success")


def _add_writers(actions: Any) -> None:
    one = _action(actions, "register", "register a schema")
    _schema_file(one)
    one.add_argument(
        "--metadata",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a property of the schema; may be repeated",
    )
    one = _action(actions, "delete", "delete a version, or a subject with all versions")
    one.add_argument("subject", metavar="SUBJECT", help="SUBJECT or SUBJECT:VERSION")
    one.add_argument("--permanent", action="store_true", help="for good; without it, ids stay readable")
    one.add_argument("--yes", "-y", action="store_true", help="do not ask")


def _add_settings(actions: Any) -> None:
    one = _action(actions, "compat", "show, set or unset the compatibility level")
    one.add_argument("verb", choices=("get", "set", "delete"), help="delete: back to that of the registry")
    one.add_argument("level", nargs="?", type=str.upper, choices=LEVELS, metavar="LEVEL", help=", ".join(LEVELS))
    one.add_argument(
        "--policy", type=str.upper, choices=POLICIES, help="how strictly JSON schemas are compared; with set alone"
    )
    one.add_argument("--subject", "-s", metavar="SUBJECT", help="of one subject; without it, of the whole registry")


def _add_backup(actions: Any) -> None:
    one = _action(actions, "export", "write the whole registry to a file, with ids, versions, settings and modes")
    one.add_argument("file", nargs="?", metavar="FILE", help="where to; standard output when left out")
    one = _action(actions, "import", "bring an exported registry back")
    one.add_argument("file", metavar="FILE", help="what export has written")
    one.add_argument("--merge", action="store_true", help="even if other schemas are there; what is there stays")


def _action(
    actions: Any, name: str, about: str, forms: tuple[str, ...] = REPORT_FORMS, form: str = TEXT
) -> argparse.ArgumentParser:
    parser = add_action(actions, name, about)
    add_registry(parser)
    parser.add_argument("--output", "-o", choices=forms, default=form, help=f"form of the output ({form})")
    return parser


def _schema_file(parser: argparse.ArgumentParser) -> None:
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
