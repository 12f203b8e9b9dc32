"""`barnabas configs`: describe, set, unset."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Final

from barnabas.cli import cluster, output, terminal
from barnabas.cli.output import Column
from barnabas.cli.pairs import parse_pairs
from barnabas.client.admin import config_resources, described_configs
from barnabas.client.admin.described_configs import DEFAULT_CONFIG, SOURCES
from barnabas.client.admin.session import Session

# What the command calls it: the type in requests, and the name that Kafka's tools have for it.
_KINDS: Final = {
    "topic": (described_configs.TOPIC, "topics"),
    "broker": (described_configs.BROKER, "brokers"),
    "group": (described_configs.GROUP, "groups"),
}


def run(arguments: Namespace) -> int:
    works = {"describe": _describe, "set": _set, "unset": _unset}
    return cluster.run(works[arguments.action], arguments)


async def _describe(session: Session, arguments: Namespace) -> int:
    resource_type, _ = _KINDS[arguments.kind]
    node = int(arguments.name) if arguments.kind == "broker" and arguments.name.isdigit() else None
    found = await described_configs.describe(session, resource_type, [arguments.name], node=node)
    rows = [
        (entry.name, entry.value, SOURCES.get(entry.config_source, "UNKNOWN"), entry.read_only)
        for entry in sorted(found[arguments.name], key=lambda entry: entry.name)
        if arguments.all or entry.config_source != DEFAULT_CONFIG
    ]
    columns = (
        Column("name"),
        Column("value"),
        Column("source", lambda source: terminal.CYAN if source.startswith("DYNAMIC") else None),
        Column("read_only"),
    )
    output.write(sys.stdout, arguments.output, columns, rows)
    if not rows and not arguments.all:
        print("Every value is the default; --all shows them.", file=sys.stderr)
    return 0


async def _set(session: Session, arguments: Namespace) -> int:
    _, name = _KINDS[arguments.kind]
    pairs = parse_pairs(arguments.pairs)
    await config_resources.alter(session, name, arguments.name, pairs, [])
    content = {"kind": arguments.kind, "name": arguments.name, "set": pairs}
    output.report(arguments.output, content, f"changed {arguments.kind} {arguments.name}: {' '.join(arguments.pairs)}")
    return 0


async def _unset(session: Session, arguments: Namespace) -> int:
    _, name = _KINDS[arguments.kind]
    await config_resources.alter(session, name, arguments.name, {}, arguments.names)
    content = {"kind": arguments.kind, "name": arguments.name, "unset": arguments.names}
    text = f"changed {arguments.kind} {arguments.name}: {' '.join(arguments.names)} back to default"
    output.report(arguments.output, content, text)
    return 0
