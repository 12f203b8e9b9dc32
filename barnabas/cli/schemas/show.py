"""`barnabas schemas show`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from barnabas.cli import output
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import WHICH, add_registry_and_report_form
from barnabas.cli.schemas.formatting import pretty, write_comment
from barnabas.cli.schemas.registry import SchemaName
from barnabas.cli.terminal.styles import styled
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SubjectVersion


def add_arguments(parser: ArgumentParser) -> None:
    add_registry_and_report_form(parser)
    parser.add_argument("subject", metavar="SCHEMA", help=WHICH)


def run(arguments: Namespace) -> int:
    return registry.run(_show, arguments)


def _show(client: RegistryClient, arguments: Namespace) -> int:
    found = registry.find(client, arguments.subject)
    schema = found.schema if isinstance(found, SubjectVersion) else found
    if arguments.output == output.JSON:
        identity: dict[str, Any] = {"id": SchemaName.parse(arguments.subject).id}
        if isinstance(found, SubjectVersion):
            identity = {"subject": found.subject, "version": found.version, "id": found.id}
        output.write_json(sys.stdout, {**identity, "schemaType": schema.type, **schema.to_json()})
        return 0
    if isinstance(found, SubjectVersion):
        write_comment(f"{found.subject} version {found.version}, id {found.id}, {schema.type}")
    else:
        write_comment(f"id {arguments.subject}, {schema.type}")
    for reference in schema.references:
        write_comment(f"{reference.name} is {reference.subject} version {reference.version}")
    for name, value in ((schema.metadata or {}).get("properties") or {}).items():
        write_comment(f"{name} = {value}")
    _mention_rules(schema.rule_set or {})
    for line in pretty(schema).split("\n"):
        print(styled(line, None, sys.stdout))
    return 0


def _mention_rules(rule_set: Mapping[str, Any]) -> None:
    rules = [rule for kind in rule_set.values() if isinstance(kind, list) for rule in kind]
    if rules:
        types = ", ".join(sorted({str(rule.get("type")) for rule in rules}))
        count, pronoun = ("1 rule", "it") if len(rules) == 1 else (f"{len(rules)} rules", "them")
        write_comment(f"{count} ({types}); --output json shows {pronoun}")
