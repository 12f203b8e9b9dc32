"""Fields inside of fields, in every transform that names fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from connect.api.plugin import PluginKind
from connect.api.record import Header, Record
from connect.api.settings import read
from connect.data.schema import INT32, STRING, struct
from connect.errors import InvalidSettings
from connect.plugins.catalogue import installed
from connect.transforms.field_path import parse_path

PLUGINS = installed()
SCHEMA = struct(("id", INT32), ("who", struct(("name", STRING), ("age", INT32.as_optional()))))
VALUE = {"id": 1, "who": {"name": "K.", "age": 30}}


def applied(name: str, config: dict[str, str], *, with_schema: bool) -> Record:
    plugin = PLUGINS.find(name, (PluginKind.TRANSFORMATION,))
    made = plugin.made_by(read(plugin.settings_type, {"field.syntax.version": "V2", **config}))
    changed: Record = made.apply(Record("t", VALUE, SCHEMA if with_schema else None, timestamp_ms=0))
    return changed


@pytest.mark.parametrize("with_schema", [True, False])
@pytest.mark.parametrize(
    ("name", "config", "value"),
    [
        ("Cast$Value", {"spec": "who.age:string"}, {"id": 1, "who": {"name": "K.", "age": "30"}}),
        ("ExtractField$Value", {"field": "who.name"}, "K."),
        ("InsertField$Value", {"topic.field": "who.topic"}, {"id": 1, "who": {"name": "K.", "age": 30, "topic": "t"}}),
        ("MaskField$Value", {"fields": "who.name,who.age"}, {"id": 1, "who": {"name": "", "age": 0}}),
        ("ReplaceField$Value", {"exclude": "who.age"}, {"id": 1, "who": {"name": "K."}}),
        ("ReplaceField$Value", {"include": "who.age"}, {"who": {"age": 30}}),
        ("ReplaceField$Value", {"include": "who"}, {"who": {"name": "K.", "age": 30}}),
        ("ReplaceField$Value", {"renames": "who.name:called"}, {"id": 1, "who": {"called": "K.", "age": 30}}),
        ("TimestampConverter$Value", {"field": "who.age", "target.type": "unix", "unix.precision": "seconds"}, VALUE),
    ],
)
def test_a_nested_field_is_changed_with_its_schema(
    name: str, config: dict[str, str], value: Any, with_schema: bool
) -> None:
    changed = applied(name, config, with_schema=with_schema)
    assert changed.value == value
    if with_schema:
        assert changed.value_schema is not None
        assert names_of(changed.value_schema) == names_in(value)


def names_of(schema: Any) -> Any:
    return {field.name: names_of(field.schema) for field in schema.fields}


def names_in(value: Any) -> Any:
    return {name: names_in(item) for name, item in value.items()} if isinstance(value, dict) else {}


def test_a_nested_field_becomes_a_header_and_goes() -> None:
    config = {"fields": "who.name", "headers": "name", "operation": "move"}
    changed = applied("HeaderFrom$Value", config, with_schema=True)
    assert changed.headers == (Header("name", "K.", STRING),)
    assert changed.value == {"id": 1, "who": {"age": 30}}


def test_a_nested_field_becomes_the_key() -> None:
    changed = applied("ValueToKey", {"fields": "id,who.age"}, with_schema=True)
    assert changed.key == {"id": 1, "age": 30}


@pytest.mark.parametrize(
    ("text", "version", "path"),
    [
        ("a.b", "V1", ("a.b",)),
        ("a.b", "v2", ("a", "b")),
        ("`a.b`.c", "V2", ("a.b", "c")),
        ("a.`b`", "V2", ("a", "b")),
        ("a`b", "V2", ("a`b",)),
        ("`a\\`.b`", "V2", ("a`.b",)),
    ],
)
def test_paths_are_read_as_kafka_reads_them(text: str, version: str, path: tuple[str, ...]) -> None:
    assert parse_path(text, version) == path


@pytest.mark.parametrize("text", ["`a", "`a`b", ".".join("a" * 65)])
def test_a_path_that_makes_no_sense_is_refused(text: str) -> None:
    plugin = PLUGINS.find("ExtractField$Value", (PluginKind.TRANSFORMATION,))
    with pytest.raises(InvalidSettings, match="for configuration field"):
        read(plugin.settings_type, {"field": text, "field.syntax.version": "V2"})


@pytest.mark.parametrize(("choice", "age"), [("true", 18), ("false", None)])
def test_insertion_fills_fields_that_are_null_and_have_a_default(choice: str, age: int | None) -> None:
    plugin = PLUGINS.find("InsertField$Value", (PluginKind.TRANSFORMATION,))
    config = {"topic.field": "topic", "replace.null.with.default": choice}
    made = plugin.made_by(read(plugin.settings_type, config))
    schema = struct(("age", replace(INT32, optional=True, default=18)))
    assert made.apply(Record("t", {"age": None}, schema)).value == {"age": age, "topic": "t"}
