"""What a file for `barnabas apply` asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from barnabas.cli.apply.document import Value, read_text, substituted
from barnabas.cli.registry import TYPES_BY_SUFFIX
from barnabas.cli.sql_script import PlacedStatement, UnreadableScript, placed
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF

PARTITIONS_MAX: Final = 100_000
REPLICATION_MAX: Final = 32_767
VERSION_MAX: Final = 2**31 - 1
TYPES: Final = (AVRO, JSON, PROTOBUF)
LEVELS: Final = (
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE",
)  # fmt: skip

_MEMBERS: Final = ("name", "topics", "schemas", "connectors", "sql")
_TOPIC: Final = ("partitions", "replication-factor", "configs")
_SCHEMA: Final = ("file", "schema", "type", "references", "compatibility", "normalize")
_REFERENCE: Final = ("name", "subject", "version")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class WantedTopic:
    """What is None is the broker's to choose, and is not compared."""

    name: str
    partitions: int | None
    replication_factor: int | None
    configs: Mapping[str, str] | None
    place: str


@dataclass(frozen=True, slots=True)
class WantedReference:
    """Without a version it is the newest."""

    name: str
    subject: str
    version: int | None


@dataclass(frozen=True, slots=True)
class WantedSchema:
    subject: str
    text: str
    type: str
    references: tuple[WantedReference, ...]
    compatibility: str | None
    normalize: bool
    place: str


@dataclass(frozen=True, slots=True)
class WantedConnector:
    name: str
    config: Mapping[str, str]
    place: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """The whole file. `name` is what the things that it makes are known by."""

    name: str
    topics: tuple[WantedTopic, ...] = ()
    schemas: tuple[WantedSchema, ...] = ()
    connectors: tuple[WantedConnector, ...] = ()
    statements: tuple[PlacedStatement, ...] = ()


def read(path: Path, variables: Mapping[str, str]) -> Wishes:
    """CommandError with the line of whatever is wrong."""
    document = Value.load(path, variables)
    members = document.members("the file", _MEMBERS)
    if "name" not in members:
        raise document.problem(
            "the file has no name", "Write `name: NAME`: --prune knows by it what this file has made."
        )
    name = members["name"].text("the name")
    if not _NAME.fullmatch(name):
        raise members["name"].problem(
            f"{name!r} is no name", "Names have up to 249 letters, digits, dots, underscores and dashes."
        )
    parts = {
        part: members[part].members(f"{part!r}") for part in ("topics", "schemas", "connectors") if part in members
    }
    return Wishes(
        name,
        tuple([_topic(topic, value) for topic, value in parts.get("topics", {}).items()]),
        _in_order([(_schema(subject, value), value) for subject, value in parts.get("schemas", {}).items()]),
        tuple([_connector(connector, value) for connector, value in parts.get("connectors", {}).items()]),
        tuple(_statements(members["sql"])) if "sql" in members else (),
    )


def _topic(name: str, value: Value) -> WantedTopic:
    place = f"{value.path}:{value.line}"
    if value.is_text and value.node.value in ("", "~", "null"):
        return WantedTopic(name, None, None, None, place)
    what = f"topic {name!r}"
    members = value.members(what, _TOPIC)
    partitions, replicas, configs = (members.get(member) for member in _TOPIC)
    return WantedTopic(
        name,
        None if partitions is None else partitions.whole("partitions", 1, PARTITIONS_MAX),
        None if replicas is None else replicas.whole("replication-factor", 1, REPLICATION_MAX),
        None if configs is None else _texts(configs, f"configs of {what}"),
        place,
    )


def _schema(subject: str, value: Value) -> WantedSchema:
    what = f"schema {subject!r}"
    members = value.members(what, _SCHEMA)
    if ("file" in members) == ("schema" in members):
        raise value.problem(f"{what} needs `file` or `schema`, and not both")
    kind = members["type"].choice("type", TYPES) if "type" in members else None
    if "file" in members:
        path = value.path.parent / members["file"].text("file")
        kind = kind or TYPES_BY_SUFFIX.get(path.suffix)
        if kind is None:
            raise members["file"].problem(
                f"the name of {path} does not tell its type", f"Use {', '.join(TYPES_BY_SUFFIX)}, or give `type`."
            )
        text = read_text(path)
    else:
        inline = members["schema"]
        text = inline.text("schema") if inline.is_text else json.dumps(inline.plain(), ensure_ascii=False)
    references = members["references"].items("references") if "references" in members else ()
    return WantedSchema(
        subject,
        text,
        kind or AVRO,
        tuple([_reference(each) for each in references]),
        members["compatibility"].choice("compatibility", LEVELS) if "compatibility" in members else None,
        "normalize" in members and members["normalize"].truth("normalize"),
        f"{value.path}:{value.line}",
    )


def _reference(value: Value) -> WantedReference:
    members = value.members("a reference", _REFERENCE)
    for member in ("name", "subject"):
        if member not in members:
            raise value.problem(f"the reference has no {member!r}")
    version = members.get("version")
    return WantedReference(
        members["name"].text("name"),
        members["subject"].text("subject"),
        None if version is None else version.whole("version", 1, VERSION_MAX),
    )


def _in_order(schemas: list[tuple[WantedSchema, Value]]) -> tuple[WantedSchema, ...]:
    """Schemas are registered in the order of the file: what others refer to stands before them."""
    later = {schema.subject for schema, _ in schemas}
    for schema, value in schemas:
        for reference in schema.references:
            if reference.subject in later:
                raise value.problem(
                    f"schema {schema.subject!r} refers to {reference.subject!r}, which does not stand before it",
                    "Schemas are registered in the order of the file.",
                )
        later.discard(schema.subject)
    return tuple([schema for schema, _ in schemas])


def _connector(name: str, value: Value) -> WantedConnector:
    config = _texts(value, f"connector {name!r}")
    if config.get("name", name) != name:
        raise value.problem(f"connector {name!r} calls itself {config['name']!r}", "Leave `name` out.")
    if "connector.class" not in config:
        raise value.problem(
            f"connector {name!r} has no connector.class", "`barnabas connectors plugins` shows what it may be."
        )
    return WantedConnector(name, {**config, "name": name}, f"{value.path}:{value.line}")


def _texts(value: Value, what: str) -> dict[str, str]:
    return {name: each.text(name) for name, each in value.members(what).items()}


def _statements(value: Value) -> list[PlacedStatement]:
    """Each entry is a text with statements, or `file: NAME`; one text alone will do, too."""
    found: list[PlacedStatement] = []
    for entry in [value] if value.is_text else value.items("sql"):
        if entry.is_mapping:
            members = entry.members("an entry of sql", ("file",))
            if "file" not in members:
                raise entry.problem("an entry of sql is a text with statements, or `file: NAME`")
            path = entry.path.parent / members["file"].text("file")
            text = substituted(read_text(path), entry.variables, path, 1)
            found += _placed(text, str(path), 1)
        else:
            found += _placed(entry.text("sql"), str(entry.path), entry.block_line)
    return found


def _placed(text: str, script: str, first_line: int) -> list[PlacedStatement]:
    from barnabas.cli.command_error import CommandError

    try:
        # Empty lines before it make the places those of the file.
        return list(placed(["\n" * (first_line - 1), *text.splitlines(keepends=True)], script))
    except UnreadableScript as problem:
        raise CommandError(str(problem)) from None
