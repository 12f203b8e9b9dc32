"""Keys: to the byte as Confluent writes them, and read however others write them."""

import pytest

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
    Unknown,
    parse_key,
)

BYTES: list[tuple[Key, str]] = [
    (SchemaKey("orders-value", 3), '{"keytype":"SCHEMA","subject":"orders-value","version":3,"magic":1}'),
    (SchemaKey(":.ctx:a/b %é", 1), '{"keytype":"SCHEMA","subject":":.ctx:a/b %é","version":1,"magic":1}'),
    (SchemaKey("", 1), '{"keytype":"SCHEMA","version":1,"magic":1}'),
    (ConfigKey(None), '{"keytype":"CONFIG","magic":0}'),
    (ConfigKey("s"), '{"keytype":"CONFIG","subject":"s","magic":0}'),
    (ModeKey(None), '{"keytype":"MODE","magic":0}'),
    (ModeKey(":.ctx:"), '{"keytype":"MODE","subject":":.ctx:","magic":0}'),
    (DeleteSubjectKey("s"), '{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}'),
    (ClearSubjectKey("s"), '{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}'),
    (NoopKey(), '{"keytype":"NOOP","magic":0}'),
    (ContextKey("default", ".ctx"), '{"keytype":"CONTEXT","tenant":"default","context":".ctx","magic":0}'),
    (
        AssociationKey("default", "orders", "lkc-1", "topic", "value", "orders-value"),
        (
            '{"keytype":"ASSOC","tenant":"default","resourceName":"orders","resourceNamespace":"lkc-1",'
            '"resourceType":"topic","associationType":"value","subject":"orders-value","magic":0}'
        ),
    ),
]


@pytest.mark.parametrize(("key", "text"), BYTES)
def test_a_key_has_confluents_bytes_and_is_read_back(key: Key, text: str) -> None:
    assert key.encode() == text.encode()
    assert parse_key(text.encode()) == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"subject": "s", "version": 2, "magic": 1, "keytype": "SCHEMA"}', SchemaKey("s", 2)),
        ('{"keytype":"SCHEMA","subject":"s","version":2,"magic":0}', SchemaKey("s", 2)),
        ('{"keytype":"CONFIG","subject":null,"magic":0}', ConfigKey(None)),
        ('{"keytype":"NOOP","magic":0,"later":{}}', NoopKey()),
        ('{"keytype":"HOLOGRAM","magic":0}', Unknown("HOLOGRAM")),
    ],
)
def test_other_writers_keys_are_read(text: str, key: Key | Unknown) -> None:
    assert parse_key(text.encode()) == key


@pytest.mark.parametrize(
    "raw",
    [
        None,
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"7",
        b"{}",
        b'{"keytype":5}',
        b'{"keytype":"SCHEMA","subject":"s","magic":1}',
        b'{"keytype":"SCHEMA","subject":"s","version":true,"magic":1}',
        b'{"keytype":"SCHEMA","subject":["s"],"version":1,"magic":1}',
        b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":2}',
        b"[" * 100_000,
    ],
)
def test_a_broken_key_says_why(raw: bytes | None) -> None:
    found = parse_key(raw)
    assert isinstance(found, Broken)
    assert found.reason
