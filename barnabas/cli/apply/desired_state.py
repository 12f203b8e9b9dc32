"""What a file for `barnabas apply` asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from barnabas.cli.apply import statements
from barnabas.cli.apply.document import Value, optional, read_text, substituted
from barnabas.cli.apply.statements import Wanted
from barnabas.cli.command_error import CommandError
from barnabas.cli.schemas.registry import TYPES_BY_SUFFIX
from barnabas.cli.sql.script import PlacedStatement, UnreadableScript, placed
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF

T = TypeVar("T")

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
class DesiredState:
    """The whole file. `name` is what the things that it makes are known by."""

    name: str
    topics: tuple[WantedTopic, ...] = ()
    schemas: tuple[WantedSchema, ...] = ()
    connectors: tuple[WantedConnector, ...] = ()
    statements: tuple[Wanted, ...] = ()


def read(path: Path, variables: Mapping[str, str]) -> DesiredState:
    """CommandError with all that is wrong, and the lines of it."""
    document = Value.load(path, variables)
    members = document.members("the file", _MEMBERS)
    found = DesiredState(
        _name(document, members.get("name")),
        tuple(_each(members.get("topics"), "topics", _topic)),
        tuple(_in_order(_each(members.get("schemas"), "schemas", lambda name, each: (_schema(name, each), each)))),
        tuple(_each(members.get("connectors"), "connectors", _connector)),
        tuple(statements.read(optional(members.get("sql"), _texts_of_sql) or (), document.mistakes)),
    )
    document.mistakes.report()
    return found


def _name(document: Value, value: Value | None) -> str:
    if value is None:
        hint = "Write `name: NAME`: --prune knows by it what this file has made."
        document.mistakes.note(document.problem("the file has no name", hint))
        return ""
    name = optional(value, lambda each: each.text("the name"))
    if name is not None and not _NAME.fullmatch(name):
        hint = "Names have up to 249 letters, digits, dots, underscores and dashes."
        document.mistakes.note(value.problem(f"{name!r} is no name", hint))
    return name or ""


def _each(part: Value | None, what: str, read_one: Callable[[str, Value], T]) -> list[T]:
    """What a part of the file names, but for what is wrong, which is noted."""
    members = optional(part, lambda each: each.members(f"{what!r}")) or {}
    found = [optional(value, partial(read_one, name)) for name, value in members.items()]
    return [each for each in found if each is not None]


def _topic(name: str, value: Value) -> WantedTopic:
    place = f"{value.path}:{value.line}"
    if value.is_text and value.node.value in ("", "~", "null"):
        return WantedTopic(name, None, None, None, place)
    what = f"topic {name!r}"
    members = value.members(what, _TOPIC)
    partitions, replicas, configs = (members.get(member) for member in _TOPIC)
    return WantedTopic(
        name,
        optional(partitions, lambda each: each.whole("partitions", 1, PARTITIONS_MAX)),
        optional(replicas, lambda each: each.whole("replication-factor", 1, REPLICATION_MAX)),
        optional(configs, lambda each: _texts(each.members(f"configs of {what}"))),
        place,
    )


def _schema(subject: str, value: Value) -> WantedSchema:
    what = f"schema {subject!r}"
    members = value.members(what, _SCHEMA)
    if ("file" in members) == ("schema" in members):
        value.mistakes.note(value.problem(f"{what} needs `file` or `schema`, and not both"))
    kind = optional(members.get("type"), lambda each: each.choice("type", TYPES))
    file = optional(members.get("file"), lambda each: _schema_file(what, each, is_typed="type" in members))
    text, found = file or (optional(members.get("schema"), _inline), AVRO)
    references = optional(members.get("references"), lambda each: each.items("references")) or ()
    read_references = [optional(each, _reference) for each in references]
    return WantedSchema(
        subject,
        text or "",
        kind or found,
        tuple([each for each in read_references if each is not None]),
        optional(members.get("compatibility"), lambda each: each.choice("compatibility", LEVELS)),
        optional(members.get("normalize"), lambda each: each.truth("normalize")) or False,
        f"{value.path}:{value.line}",
    )


def _schema_file(what: str, file: Value, *, is_typed: bool) -> tuple[str, str]:
    """What is in it, and the type that its suffix stands for."""
    path = file.path.parent / file.text("file")
    kind = TYPES_BY_SUFFIX.get(path.suffix)
    if kind is None and not is_typed:
        raise file.problem(
            f"the type of {path} is unknown from its name", f"Use {', '.join(TYPES_BY_SUFFIX)}, or give `type`."
        )
    return _content(what, file, path), kind or AVRO


def _content(what: str, file: Value, path: Path) -> str:
    try:
        return read_text(path)
    except CommandError as error:
        raise file.problem(f"{what}: {error}") from None


def _inline(schema: Value) -> str:
    return schema.text("schema") if schema.is_text else json.dumps(schema.plain(), ensure_ascii=False)


def _reference(value: Value) -> WantedReference:
    members = value.members("a reference", _REFERENCE)
    for member in ("name", "subject"):
        if member not in members:
            raise value.problem(f"the reference has no {member!r}")
    return WantedReference(
        members["name"].text("name"),
        members["subject"].text("subject"),
        optional(members.get("version"), lambda each: each.whole("version", 1, VERSION_MAX)),
    )


def _in_order(schemas: Iterable[tuple[WantedSchema, Value]]) -> list[WantedSchema]:
    """Schemas are registered in the order of the file: what others refer to stands before them."""
    found = list(schemas)
    later = {schema.subject for schema, _ in found}
    for schema, value in found:
        for reference in schema.references:
            if reference.subject in later:
                mistake = value.problem(
                    f"schema {schema.subject!r} refers to {reference.subject!r}, which does not stand before it",
                    "Schemas are registered in the order of the file.",
                )
                value.mistakes.note(mistake)
        later.discard(schema.subject)
    return [schema for schema, _ in found]


def _connector(name: str, value: Value) -> WantedConnector:
    members = value.members(f"connector {name!r}")
    config = _texts(members)
    if config.get("name", name) != name:
        value.mistakes.note(value.problem(f"connector {name!r} calls itself {config['name']!r}", "Leave `name` out."))
    if "connector.class" not in members:
        hint = "`barnabas connectors plugins` shows what it may be."
        value.mistakes.note(value.problem(f"connector {name!r} has no connector.class", hint))
    return WantedConnector(name, {**config, "name": name}, f"{value.path}:{value.line}")


def _texts(members: Mapping[str, Value]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in members.items():
        with value.mistakes.noted():
            found[name] = value.text(name)
    return found


def _texts_of_sql(value: Value) -> list[PlacedStatement]:
    """Each entry is a text with statements, or `file: NAME`; one text alone will do, too."""
    found: list[PlacedStatement] = []
    for entry in [value] if value.is_text else value.items("sql"):
        found += optional(entry, _entry) or []
    return found


def _entry(entry: Value) -> list[PlacedStatement]:
    if not entry.is_mapping:
        return _placed(entry.text("sql"), str(entry.path), entry.block_line, entry.margin)
    members = entry.members("an entry of sql", ("file",))
    if "file" not in members:
        raise entry.problem("an entry of sql is a text with statements, or `file: NAME`")
    path = entry.path.parent / members["file"].text("file")
    text = substituted(_content("sql", members["file"], path), entry.variables, path, 1)
    return _placed(text, str(path), 1)


def _placed(text: str, script: str, first_line: int, margin: int | None = 0) -> list[PlacedStatement]:
    try:
        # Empty lines before it make the places those of the file.
        return list(placed(["\n" * (first_line - 1), *text.splitlines(keepends=True)], script, margin))
    except UnreadableScript as problem:
        raise CommandError(str(problem)) from None
