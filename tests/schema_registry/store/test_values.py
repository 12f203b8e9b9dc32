"""Values: to the byte as Confluent writes them, and read however others write them."""

import pytest

from schema_registry.config import Config
from schema_registry.mode import Mode
from schema_registry.schema import Metadata, Reference, Rule, RuleSet, Schema
from schema_registry.store.keys import (
    AssociationKey,
    Broken,
    ClearSubjectKey,
    ConfigKey,
    ContextKey,
    DeleteSubjectKey,
    Key,
    ModeKey,
    NoopKey,
    SchemaKey,
)
from schema_registry.store.values import (
    AssociationValue,
    ClearSubjectValue,
    ConfigValue,
    ContextValue,
    DeleteSubjectValue,
    ModeValue,
    SchemaValue,
    Value,
    parse_value,
)

SCHEMA_KEY = SchemaKey("s", 1)
CONTRACT = Schema(
    '{"type":"object"}',
    "JSON",
    (Reference("other.json", "other", 2),),
    Metadata({"**.ssn": ("PII",)}, {"owner": "ann"}, ("owner",)),
    RuleSet(domain=(Rule("r", kind="CONDITION", mode="WRITE", type="CEL", params={"a": "b"}, expr="true"),)),
)
BYTES: list[tuple[Key, Value, str]] = [
    (
        SCHEMA_KEY,
        SchemaValue("s", 1, 7, Schema('"string"')),
        r'{"subject":"s","version":1,"id":7,"schemaType":"AVRO","schema":"\"string\"","deleted":false}',
    ),
    (
        SCHEMA_KEY,
        SchemaValue("s", 1, 7, CONTRACT, deleted=True, md5="AAAA"),
        (
            '{"subject":"s","version":1,"id":7,"md5":"AAAA","schemaType":"JSON",'
            '"references":[{"name":"other.json","subject":"other","version":2}],'
            '"metadata":{"tags":{"**.ssn":["PII"]},"properties":{"owner":"ann"},"sensitive":["owner"]},'
            '"ruleSet":{"domainRules":[{"name":"r","kind":"CONDITION","mode":"WRITE","type":"CEL","params":{"a":"b"},'
            r'"expr":"true","disabled":false}]},"schema":"{\"type\":\"object\"}","deleted":true}'
        ),
    ),
    (
        ConfigKey("s"),
        ConfigValue("s", Config(normalize=True, level="FULL", policy="LENIENT", group="g")),
        '{"subject":"s","normalize":true,"compatibilityLevel":"FULL","compatibilityPolicy":"LENIENT","compatibilityGroup":"g"}',
    ),
    (ConfigKey(None), ConfigValue(None, Config(level="NONE")), '{"compatibilityLevel":"NONE"}'),
    (ModeKey("s"), ModeValue("s", Mode.IMPORT), '{"subject":"s","mode":"IMPORT"}'),
    (DeleteSubjectKey("s"), DeleteSubjectValue("s", 4), '{"subject":"s","version":4}'),
    (ClearSubjectKey("s"), ClearSubjectValue("s"), '{"subject":"s"}'),
    (ContextKey("default", ".c"), ContextValue("default", ".c"), '{"tenant":"default","context":".c"}'),
    (
        AssociationKey("default", "orders", "lkc", "topic", "value", "s"),
        AssociationValue("g", "default", "orders", "lkc", "id", "topic", "value", "s", "STRONG", False, 5),
        (
            '{"guid":"g","tenant":"default","resourceName":"orders","resourceNamespace":"lkc","resourceId":"id",'
            '"resourceType":"topic","associationType":"value","subject":"s","lifecycle":"STRONG","frozen":false,"createTs":5}'
        ),
    ),
]


@pytest.mark.parametrize(("key", "value", "text"), BYTES)
def test_a_value_has_confluents_bytes_and_is_read_back(key: Key, value: Value, text: str) -> None:
    assert value.encode() == text.encode()
    assert parse_value(key, text.encode()) == value


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        # Before schema types there were no references either; Karapace leaves out what is empty.
        (SCHEMA_KEY, '{"id":7,"schema":"x"}', SchemaValue("s", 1, 7, Schema("x"))),
        (
            SCHEMA_KEY,
            '{"deleted":true,"schema":"x","schemaType":null,"references":null,"id":7,"offset":3,"ts":4}',
            SchemaValue("s", 1, 7, Schema("x"), deleted=True),
        ),
        (ConfigKey("s"), '{"compatibilityLevel":"FULL"}', ConfigValue("s", Config(level="FULL"))),
        (SCHEMA_KEY, "", None),
        (SCHEMA_KEY, "null", None),
        (NoopKey(), "anything", None),
    ],
)
def test_other_writers_values_are_read(key: Key, text: str, value: Value | None) -> None:
    assert parse_value(key, text.encode()) == value


def test_members_of_newer_writers_are_kept() -> None:
    text = b'{"subject":"s","version":1,"id":7,"schemaType":"AVRO","schema":"x","deleted":false,"seal":{"by":["ann"]}}'
    value = parse_value(SCHEMA_KEY, text)
    assert isinstance(value, SchemaValue)
    assert value.encode() == text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (SCHEMA_KEY, "{"),
        (SCHEMA_KEY, "[]"),
        (SCHEMA_KEY, "{}"),
        (SCHEMA_KEY, '{"id":7}'),
        (SCHEMA_KEY, '{"id":"7","schema":"x"}'),
        (SCHEMA_KEY, '{"id":7,"schema":{}}'),
        (SCHEMA_KEY, '{"id":7,"schema":"x","references":[{"name":1}]}'),
        (SCHEMA_KEY, '{"id":7,"schema":"x","references":3}'),
        (SCHEMA_KEY, '{"id":7,"schema":"x","metadata":[]}'),
        (SCHEMA_KEY, '{"id":7,"schema":"x","ruleSet":{"domainRules":{}}}'),
        (ConfigKey(None), '{"compatibilityLevel":"SOMETIMES"}'),
        (ModeKey(None), '{"mode":"SOMETIMES"}'),
        (DeleteSubjectKey("s"), "{}"),
        (ContextKey("default", ".c"), "7"),
    ],
)
def test_a_broken_value_says_why(key: Key, text: str) -> None:
    found = parse_value(key, text.encode())
    assert isinstance(found, Broken)
    assert found.reason
