"""What statements answer, for people: each `@type` of the server's objects as tables and lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TextIO

from barnabas.cli import output
from barnabas.cli.output import CSV, JSON, JSON_LINES, TABLE, Column, printable
from barnabas.cli.sql.types import type_text
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled

Entity = Mapping[str, Any]

STATEMENT_SHOWN_CHARACTERS: Final = 120
_NEW_QUERY: Final = "Created query with ID "

# Names that other statements need.
_WHOLE: Final = ("id", "name", "topic", "column", "function", "connector", "class")
_STATES: Final = {
    "RUNNING": styles.GREEN,
    "READY": styles.GREEN,
    "ERROR": styles.RED,
    "PAUSED": styles.YELLOW,
    "STARTING": styles.YELLOW,
}


class Part(NamedTuple):
    """A table, or with `text` alone some lines; `title` stands above it."""

    title: str = ""
    columns: Sequence[Column] = ()
    rows: Sequence[Sequence[Any]] = ()
    text: str = ""


def write_entity(out: TextIO, form: str, entity: Entity) -> None:
    if form in (JSON, JSON_LINES):
        out.write(json.dumps(entity, ensure_ascii=False, indent=2 if form == JSON else None) + "\n")
        return
    parts = _PARTS.get(entity.get("@type", ""), _unknown)(entity)
    for place, part in enumerate(parts):
        if form == CSV:
            if part.columns:
                output.write(out, CSV, part.columns, part.rows)
            continue
        if place:
            out.write("\n")
        _write_part(out, part)
    for warning in entity.get("warnings") or () if form == TABLE else ():
        out.write(f"WARNING: {warning['message']}\n")


def table_of(entity: Entity) -> Part | None:
    """The first table in the result of a statement, if there is one."""
    parts = _PARTS.get(entity.get("@type", ""), _unknown)(entity)
    return next((part for part in parts if part.columns), None)


def _write_part(out: TextIO, part: Part) -> None:
    if part.title:
        title = printable(part.title)
        out.write(styled(title, styles.BOLD, out) + "\n")
    if part.columns:
        output.write(out, TABLE, part.columns, part.rows)
    if part.text:
        out.write("".join([printable(line) + "\n" for line in part.text.splitlines()]))


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> Part:
    columns = [Column(name, _state if name == "state" else None, is_whole=name in _WHOLE) for name in names]
    return Part(title, columns, list(rows))


def _state(value: Any) -> str | None:
    return _STATES.get(str(value))


# --- lists ---


def _sources(member: str) -> Callable[[Entity], list[Part]]:
    names = ("name", "topic", "key_format", "value_format", "windowed")

    def parts(entity: Entity) -> list[Part]:
        rows = [
            (each["name"], each["topic"], each.get("keyFormat"), each.get("valueFormat"), each.get("isWindowed"))
            for each in entity[member]
        ]
        return [_table(names, rows)]

    return parts


def query_state(query: Entity) -> str | None:
    """ksqlDB's clients know no query that is starting, so the server reports that it runs."""
    return "STARTING" if query.get("isStarting") else query.get("state")


def is_new_query(entity: Entity) -> bool:
    """Whether it reports a query that was created just now."""
    return str((entity.get("commandStatus") or {}).get("message", "")).startswith(_NEW_QUERY)


def _queries(entity: Entity) -> list[Part]:
    return [_query_table(entity["queries"]), *_query_errors(entity["queries"])]


def _query_errors(queries: Iterable[Entity]) -> list[Part]:
    lines = [f"{each['id']}: {each['error']}" for each in queries if each.get("error")]
    return [Part("errors", text="\n".join(lines))] if lines else []


def _query_table(queries: Iterable[Entity], title: str = "") -> Part:
    rows = [
        (
            each["id"],
            query_state(each),
            _read(each),
            ", ".join(each.get("sinks", ())),
            _one_line(each["queryString"]),
        )
        for each in queries
    ]
    return _table(("id", "state", "read", "sink", "statement"), rows, title)


def _read(query: Entity) -> str | None:
    """How far a query has read its topics, where that is known."""
    progress = query.get("progress")
    if progress is None:
        return None
    behind = progress["recordsBehind"]
    return f"{progress['percent']} %, {behind} behind" if behind else f"{progress['percent']} %"


def _topics(entity: Entity) -> list[Part]:
    rows = [(each["name"], len(each["replicaInfo"]), max(each["replicaInfo"], default=0)) for each in entity["topics"]]
    return [_table(("topic", "partitions", "replicas"), rows)]


def _properties(entity: Entity) -> list[Part]:
    changed = set(entity.get("overwrittenProperties", ()))
    rows = [(each["name"], each["value"], each["name"] in changed) for each in entity["properties"]]
    return [_table(("property", "value", "set_here"), rows)]


def _variables(entity: Entity) -> list[Part]:
    return [_table(("variable", "value"), [(each["name"], each["value"]) for each in entity["variables"]])]


def _indexes(entity: Entity) -> list[Part]:
    rows = [(each["name"], each["table"], ", ".join(each["columns"]), each["state"]) for each in entity["indexes"]]
    return [_table(("name", "table", "columns", "state"), rows)]


def _types(entity: Entity) -> list[Part]:
    return [_table(("type", "schema"), [(name, type_text(schema)) for name, schema in entity["types"].items()])]


def _functions(entity: Entity) -> list[Part]:
    rows = [(each["name"], each.get("type"), each.get("category")) for each in entity["functions"]]
    return [_table(("function", "kind", "category"), rows)]


def _errors(entity: Entity) -> list[Part]:
    rows = [
        (
            datetime.fromtimestamp(each["time"] / 1000, UTC).isoformat(timespec="milliseconds"),
            each["queryId"],
            each["kind"],
            each["topic"],
            each["partition"],
            each["offset"],
            each["times"],
            each["message"],
        )
        for each in entity["errors"]
    ]
    names = ("time", "id", "kind", "topic", "partition", "offset", "times", "message")
    counted = [
        f"{query}: {', '.join(f'{kind} {count}' for kind, count in kinds.items())}"
        for query, kinds in entity["counts"].items()
        if kinds
    ]
    return [_table(names, rows), *([Part("so far", text="\n".join(counted))] if counted else [])]


# --- descriptions ---


def _source(described: Entity) -> list[Part]:
    about = f"{described['type'].lower()} {described['name']}, topic {described['topic']}"
    formats = f"key {described.get('keyFormat')}, value {described.get('valueFormat')}"
    parts = [_fields(f"{about} ({formats})", described["fields"])]
    for title, member in (("read by", "readQueries"), ("written by", "writeQueries")):
        if described.get(member):
            parts += [_query_table(described[member], title), *_query_errors(described[member])]
    if described.get("extended"):
        parts.append(
            _table(
                ("partitions", "replicas", "timestamp"),
                [(described["partitions"], described["replication"], described.get("timestamp") or None)],
            )
        )
    parts += _lineage(described)
    for title, member in (("figures", "statistics"), ("errors", "errorStats"), ("statement", "statement")):
        if described.get("extended") and described.get(member):
            parts.append(Part(title, text=described[member]))
    return parts


def _fields(title: str, fields: Iterable[Entity]) -> Part:
    rows = [(each["name"], type_text(each["schema"]), (each.get("type") or "").lower() or None) for each in fields]
    return _table(("column", "type", "role"), rows, title)


def _lineage(described: Entity) -> list[Part]:
    """Which columns each comes from; those of declared sources only where others are between."""
    columns = described.get("columnLineage")
    if not columns:
        return []
    rows = [(each["column"], _origins(each["sources"]), _origins(each["declared"])) for each in columns]
    if all(direct == declared for _, direct, declared in rows):
        return [_table(("column", "comes_from"), [(name, direct) for name, direct, _ in rows])]
    return [_table(("column", "comes_from", "declared_as"), rows)]


def _origins(origins: Iterable[Entity]) -> str | None:
    return ", ".join(f"{each['source']}.{each['column']}" for each in origins) or None


def _query(described: Entity) -> list[Part]:
    sources, sinks = ", ".join(described["sources"]), ", ".join(described["sinks"])
    state = described.get("state")
    about = f"{described['id'] or described.get('queryType', 'query')}{f', {state}' if state else ''}"
    parts = [_fields(f"{about}: from {sources}{f' into {sinks}' if sinks else ''}", described["fields"])]
    parts += _lineage(described)
    for title, member in (("statement", "statementText"), ("plan", "executionPlan"), ("Spark's plan", "topology")):
        if described.get(member):
            parts.append(Part(title, text=described[member]))
    if described.get("overriddenProperties"):
        parts.append(_table(("property", "value"), described["overriddenProperties"].items()))
    if described.get("queryErrors"):
        parts.append(Part("errors", text="\n".join([each["errorMessage"] for each in described["queryErrors"]])))
    return parts


# --- connectors ---


def _connectors(entity: Entity) -> list[Part]:
    rows = [(each["name"], each.get("type"), each.get("state"), each.get("className")) for each in entity["connectors"]]
    return [_table(("connector", "type", "state", "class"), rows)]


def _connector_plugins(entity: Entity) -> list[Part]:
    rows = [(each["className"], each.get("type"), each.get("version")) for each in entity["connectorsPlugins"]]
    return [_table(("class", "type", "version"), rows)]


def _connector(entity: Entity) -> list[Part]:
    status = entity["status"]
    connector = status["connector"]
    about = f"{status['type']} connector {status['name']}: {entity['connectorClass']}"
    rows = [("connector", connector["state"], connector["worker_id"])]
    rows += [(f"task {task['id']}", task["state"], task["worker_id"]) for task in status["tasks"]]
    parts = [_table(("part", "state", "worker"), rows, about)]
    for name, each in (("connector", connector), *((f"task {task['id']}", task) for task in status["tasks"])):
        if each.get("msg"):
            parts.append(Part(f"why the {name} failed", text=each["msg"]))
    if entity.get("topics"):
        parts.append(_table(("topic",), [(topic,) for topic in entity["topics"]]))
    if entity.get("sources"):
        rows = [(each["name"], each["type"].lower(), each["topic"]) for each in entity["sources"]]
        parts.append(_table(("name", "kind", "topic"), rows, "streams and tables"))
    return parts


def _created_connector(entity: Entity) -> list[Part]:
    return [Part(text=f"Created connector {entity['info']['name']}")]


def _dropped_connector(entity: Entity) -> list[Part]:
    return [Part(text=f"Dropped connector {entity['connectorName']}")]


# --- what is so ---


def _asserted_topic(entity: Entity) -> list[Part]:
    return [Part(text=f"Topic {entity['topicName']} {_exists(entity)}.")]


def _asserted_schema(entity: Entity) -> list[Part]:
    subject = "" if entity.get("subject") is None else f" subject name {entity['subject']}"
    number = "" if entity.get("id") is None else f" id {entity['id']}"
    return [Part(text=f"Schema with{subject}{number} {_exists(entity)}.")]


def _exists(entity: Entity) -> str:
    return "exists" if entity["exists"] else "does not exist"


def _function(entity: Entity) -> list[Part]:
    parts = [Part(f"{entity['name']} ({entity['type'].lower()})", text=entity["description"])]
    for each in entity["functions"]:
        arguments = [f"{one['name']} {one['type']}{'...' if one['isVariadic'] else ''}" for one in each["arguments"]]
        lines = [each.get("description") or ""]
        lines += [f"  {one['name']}: {one['description']}" for one in each["arguments"] if one.get("description")]
        signature = f"{entity['name']}({', '.join(arguments)}) -> {each['returnType']}"
        parts.append(Part(signature, text="\n".join(filter(None, lines))))
    return parts


def _status(entity: Entity) -> list[Part]:
    return [Part(text=entity["commandStatus"]["message"])]


def _warning(entity: Entity) -> list[Part]:
    return [Part(text=entity["message"])]


def _unknown(entity: Entity) -> list[Part]:
    """What a later server may say."""
    return [Part(text=json.dumps(entity, ensure_ascii=False, indent=2))]


def _all(member: str, one: Callable[[Entity], list[Part]]) -> Callable[[Entity], list[Part]]:
    return lambda entity: [part for described in entity[member] for part in one(described)]


def _one_line(statement: str) -> str:
    line = " ".join(statement.split())
    return line if len(line) <= STATEMENT_SHOWN_CHARACTERS else f"{line[:STATEMENT_SHOWN_CHARACTERS]}…"


_PARTS: Final[Mapping[str, Callable[[Entity], list[Part]]]] = {
    "currentStatus": _status,
    "warning_entity": _warning,
    "streams": _sources("streams"),
    "tables": _sources("tables"),
    "queries": _queries,
    "kafka_topics": _topics,
    "kafka_topics_extended": _topics,
    "errors": _errors,
    "properties": _properties,
    "variables": _variables,
    "type_list": _types,
    "indexes": _indexes,
    "function_names": _functions,
    "describe_function": _function,
    "sourceDescription": lambda entity: _source(entity["sourceDescription"]),
    "source_descriptions": _all("sourceDescriptions", _source),
    "queryDescription": lambda entity: _query(entity["queryDescription"]),
    "query_descriptions": _all("queryDescriptions", _query),
    "connector_info": _created_connector,
    "drop_connector": _dropped_connector,
    "connector_list": _connectors,
    "connector_plugins_list": _connector_plugins,
    "connector_description": _connector,
    "assert_topic": _asserted_topic,
    "assert_schema": _asserted_schema,
}
