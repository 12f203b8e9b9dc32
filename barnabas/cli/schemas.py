"""`barnabas schemas`: list, show, register, delete, compat; the other actions have modules of their own."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from barnabas.cli import output, registry, schemas_backup, schemas_compare, terminal
from barnabas.cli.command_error import CommandError
from barnabas.cli.confirmation import confirm
from barnabas.cli.output import Column
from barnabas.cli.pairs import parse_pairs
from barnabas.cli.registry import Named
from barnabas.cli.schema_print import pretty
from barnabas.kernel.serdes.registry_client import ALL_CONTEXTS, RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SchemaText, SubjectVersion

DELETED: Final = "deleted"
# What the registry says when something is deleted already, though not for good.
_SOFT_DELETED: Final = (40404, 40406)
_NO_LEVEL_HERE: Final = 40408
_CONFLICT: Final = 409


def run(arguments: Namespace) -> int:
    works = {
        "list": _list,
        "show": _show,
        "diff": schemas_compare.diff,
        "check": schemas_compare.check,
        "register": _register,
        "delete": _delete,
        "compat": _compat,
        "export": schemas_backup.export,
        "import": schemas_backup.restore,
    }
    trouble_status = schemas_compare.EXIT_TROUBLE if arguments.action == "check" else 1
    return registry.run(works[arguments.action], arguments, trouble_status)


def _list(client: RegistryClient, arguments: Namespace) -> int:
    found = client.schemas(
        arguments.prefix or ALL_CONTEXTS, deleted=arguments.deleted, latest_only=not arguments.versions
    )
    rows = [
        (each.subject, each.version, each.id, each.schema.type, DELETED if each.deleted else "live")
        for each in sorted(found, key=lambda each: (each.subject, each.version))
    ]
    columns = [Column("subject"), Column("version"), Column("id"), Column("type")]
    if arguments.deleted:
        columns.append(Column("state", lambda state: terminal.DIM if state == DELETED else None))
    output.write(sys.stdout, arguments.output, columns, [row[: len(columns)] for row in rows])
    if not rows:
        _comment(f"no subject begins with {arguments.prefix}" if arguments.prefix else "there are no subjects")
    return 0


def _show(client: RegistryClient, arguments: Namespace) -> int:
    found = registry.find(client, arguments.subject)
    schema = found.schema if isinstance(found, SubjectVersion) else found
    if arguments.output == output.JSON:
        place: dict[str, Any] = {"id": Named.parse(arguments.subject).id}
        if isinstance(found, SubjectVersion):
            place = {"subject": found.subject, "version": found.version, "id": found.id}
        output.write_json(sys.stdout, {**place, "schemaType": schema.type, **schema.to_json()})
        return 0
    if isinstance(found, SubjectVersion):
        _comment(f"{found.subject} version {found.version}, id {found.id}, {schema.type}")
    else:
        _comment(f"id {arguments.subject}, {schema.type}")
    for reference in schema.references:
        _comment(f"{reference.name} is {reference.subject} version {reference.version}")
    for name, value in ((schema.metadata or {}).get("properties") or {}).items():
        _comment(f"{name} = {value}")
    _mention_rules(schema.rule_set or {})
    print(pretty(schema))
    return 0


def _mention_rules(rule_set: Mapping[str, Any]) -> None:
    rules = [rule for kind in rule_set.values() if isinstance(kind, list) for rule in kind]
    if rules:
        types = ", ".join(sorted({str(rule.get("type")) for rule in rules}))
        count, pronoun = ("1 rule", "it") if len(rules) == 1 else (f"{len(rules)} rules", "them")
        _comment(f"{count} ({types}); --output json shows {pronoun}")


def _comment(text: str) -> None:
    """What is said of a schema goes beside it, so that the schema alone can be written to a file."""
    sys.stdout.flush()
    shown = terminal.painted(text, terminal.DIM) if terminal.colours_here(sys.stderr) else text
    print(shown, file=sys.stderr)


def _register(client: RegistryClient, arguments: Namespace) -> int:
    schema = registry.read_schema(arguments.file, arguments.type, arguments.reference)
    properties = parse_pairs(arguments.metadata)
    if properties:
        schema = replace(schema, metadata={"properties": properties})
    try:
        client.register(arguments.subject, schema, normalize=arguments.normalize)
    except RegistryClientError as error:
        return _refused(client, arguments, schema, error)
    found = client.lookup(arguments.subject, schema, normalize=arguments.normalize)
    if arguments.output == output.JSON:
        output.write_json(sys.stdout, {"subject": found.subject, "version": found.version, "id": found.id})
    else:
        print(f"registered {found.subject} version {found.version}, id {found.id}")
    return 0


def _refused(client: RegistryClient, arguments: Namespace, schema: SchemaText, error: RegistryClientError) -> int:
    """Tell why a schema is not taken."""
    if error.code == registry.INVALID_SCHEMA:
        raise registry.invalid(arguments.file, error)
    if error.status == _CONFLICT:
        answer = schemas_compare.compatibility(client, arguments, schema)
        if not answer["is_compatible"]:
            schemas_compare.tell_differences(arguments, answer, sys.stderr)
            return schemas_compare.EXIT_INCOMPATIBLE
    raise error


def _delete(client: RegistryClient, arguments: Namespace) -> int:
    named = Named.parse(arguments.subject)
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
