"""Records through transforms and predicates, compared with what Kafka Connect 4.3.0 made of the same records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connect.api.plugin import PluginKind
from connect.api.record import Header, Record
from connect.api.settings import read
from connect.converters.converter import Converter, SchemaAndValue
from connect.data.schema import STRING, Schema
from connect.errors import ConnectError
from connect.plugins.catalogue import installed

PLUGINS = installed()
KINDS = (PluginKind.TRANSFORMATION, PluginKind.PREDICATE)
SCHEMA, *CASES = [
    json.loads(line) for line in (Path(__file__).parent / "recorded.jsonl").read_text(encoding="utf-8").splitlines()
]


def json_converter(*, schemas: bool) -> Converter:
    plugin = PLUGINS.find("JsonConverter", (PluginKind.CONVERTER,))
    made: Converter = plugin.made_by(
        read(plugin.settings_type, {"schemas.enable": "true" if schemas else "false"}), is_key=False
    )
    return made


WITH_SCHEMAS, WITHOUT = json_converter(schemas=True), json_converter(schemas=False)


def decoded(value: Any, *, schemas: bool) -> SchemaAndValue:
    if value is None:
        return SchemaAndValue(None, None)
    if schemas and value["schema"] == "rec":
        value = {**value, "schema": SCHEMA["schema"]}
    return (WITH_SCHEMAS if schemas else WITHOUT).decode("t", json.dumps(value).encode())


def encoded(schema: Schema | None, value: Any) -> Any:
    if schema is None and value is None:
        return None
    data = (WITHOUT if schema is None else WITH_SCHEMAS).encode("t", schema, value)
    return None if data is None else json.loads(data)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    plugin = PLUGINS.find(case["class"], KINDS)
    key, value = (decoded(case[side], schemas=case["schemas"]) for side in ("key", "value"))
    headers = tuple(Header(name, text, STRING) for name, text in case["headers"])
    record = Record(
        "t", value.value, value.schema, key.value, key.schema, case["partition"], case["timestamp"], headers, 5
    )
    try:
        made = plugin.made_by(read(plugin.settings_type, case["config"]))
        if plugin.kind is PluginKind.PREDICATE:
            return {"holds": made.holds(record)}
        changed = made.apply(record)
        if changed is None:
            return {"dropped": True}
        return {
            "topic": changed.topic,
            "key": encoded(changed.key_schema, changed.key),
            "value": encoded(changed.value_schema, changed.value),
            "headers": [[header.name, encoded(header.schema, header.value)] for header in changed.headers],
        }
    except ConnectError:
        return {"error": True}


@pytest.mark.parametrize("class_name", sorted({each["case"]["class"] for each in CASES}))
def test_records_become_what_kafka_makes_of_them(class_name: str) -> None:
    for each in CASES:
        if each["case"]["class"] == class_name:
            assert answer(each["case"]) == each["answer"], each["case"]["config"]
