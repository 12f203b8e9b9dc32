"""What makes a schema's identity, byte by byte, and how schemas are read from JSON and written to it."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from schema_registry.schema import (
    AVRO,
    InvalidMember,
    Metadata,
    Reference,
    RuleSet,
    Schema,
    guid_of,
)

TEXT = '{"type":"string","doc":"grüße"}'
REFERENCES = [
    {"name": "a.Money", "subject": "money-value", "version": 258},
    {"name": "b", "subject": "c", "version": -1},
]
METADATA: dict[str, Any] = {
    "tags": {"z.**": ["PII", "GDPR"], "a": ["x"]},
    "properties": {"owner": "team", "confluent:version": "3"},
    "sensitive": ["ssn", "card"],
}
UPGRADE = {"name": "up", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA", "expr": "$.a", "disabled": True}
ENCRYPT = {
    "name": "encrypt",
    "doc": "hides it",
    "kind": "TRANSFORM",
    "mode": "WRITEREAD",
    "type": "ENCRYPT",
    "tags": ["PII", "CARD"],
    "params": {"kek": "k1", "alg": "aes"},
    "onSuccess": "NONE",
    "onFailure": "ERROR,NONE",
}
CHECK = {"name": "check", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "size(m.id) > 0"}
RULE_SET: dict[str, Any] = {
    "migrationRules": [UPGRADE],
    "domainRules": [CHECK],
    "encodingRules": [ENCRYPT],
    "enableAt": "CLIENT",
}

TEXT_BYTES = TEXT.encode()
REFERENCE_BYTES = b"a.Moneymoney-value\x00\x00\x01\x02" + b"bc\xff\xff\xff\xff"
METADATA_BYTES = b"\x01" + b"ax" + b"z.**GDPRPII" + b"confluent:version3" + b"ownerteam" + b"cardssn"
RULE_BYTES = (
    b"\x01"
    b"upTRANSFORMUPGRADEJSONATA$.a\x01"
    b"checkCONDITIONWRITECELsize(m.id) > 0"
    b"encrypthides itTRANSFORMWRITEREADENCRYPT"
    b"CARDPII"
    b"algaeskekk1"
    b"NONEERROR,NONE"
    b"CLIENT"
)


def schema(
    references: list[dict[str, Any]] | None = None,
    metadata: dict[str, Any] | None = None,
    rule_set: dict[str, Any] | None = None,
) -> Schema:
    return Schema(
        TEXT,
        AVRO,
        tuple(Reference.from_json(one) for one in references or ()),
        Metadata.from_json(metadata),
        RuleSet.from_json(rule_set),
    )


@pytest.mark.parametrize(
    ("made", "hashed"),
    [
        (schema(), TEXT_BYTES),
        (schema(REFERENCES), TEXT_BYTES + REFERENCE_BYTES),
        (schema(None, METADATA), TEXT_BYTES + METADATA_BYTES),
        (schema(None, None, RULE_SET), TEXT_BYTES + RULE_BYTES),
        (schema(REFERENCES, METADATA, RULE_SET), TEXT_BYTES + REFERENCE_BYTES + METADATA_BYTES + RULE_BYTES),
        (schema(None, {}), TEXT_BYTES + b"\x01"),
        (schema(None, {}, {}), TEXT_BYTES + b"\x01\x01"),
    ],
    ids=["text", "references", "metadata", "rules", "all", "empty metadata", "empty metadata and rules"],
)
def test_the_identity_is_the_md5_of_the_parts_in_order(made: Schema, hashed: bytes) -> None:
    assert made.digest() == hashlib.md5(hashed, usedforsecurity=False).digest()


def test_the_type_is_no_part_of_the_identity() -> None:
    assert Schema("{}", "JSON").digest() == Schema("{}", "AVRO").digest()


def test_the_order_of_references_is_a_part_of_the_identity() -> None:
    assert schema(REFERENCES).digest() != schema(REFERENCES[::-1]).digest()


def test_the_guid_is_the_digest_in_the_form_of_a_uuid() -> None:
    assert guid_of(bytes(range(16))) == "00010203-0405-0607-0809-0a0b0c0d0e0f"


def test_metadata_and_rules_survive_json() -> None:
    metadata, rule_set = Metadata.from_json(METADATA), RuleSet.from_json(RULE_SET)

    assert metadata is not None
    assert rule_set is not None
    assert list(metadata.to_json()["tags"]) == ["a", "z.**"]
    assert Metadata.from_json(metadata.to_json()) == metadata
    assert RuleSet.from_json(rule_set.to_json()) == rule_set
    assert rule_set.to_json()["encodingRules"][0]["onFailure"] == "ERROR,NONE"


@pytest.mark.parametrize(
    ("read", "value", "complaint"),
    [
        (Reference.from_json, [], "a reference must be a JSON object, not an array"),
        (Reference.from_json, {"name": "a", "version": 1}, "a reference needs the texts name and subject"),
        (Reference.from_json, {"name": "a", "subject": "b", "version": True}, "the version of reference 'a' is True"),
        (Metadata.from_json, "x", "metadata must be a JSON object, not a text"),
        (Metadata.from_json, {"tags": {"a": "b"}}, "metadata.tags.a must be a JSON array, not a text"),
        (Metadata.from_json, {"properties": {"a": []}}, "metadata.properties.a must be a text, not an array"),
        (Metadata.from_json, {"sensitive": [1]}, "metadata.sensitive must hold texts alone"),
        (RuleSet.from_json, {"domainRules": {}}, "ruleSet.domainRules must be a JSON array, not an object"),
        (
            RuleSet.from_json,
            {"domainRules": [{"kind": "x"}]},
            "rule.kind is 'x'; it must be one of TRANSFORM, CONDITION",
        ),
        (RuleSet.from_json, {"enableAt": "MOON"}, "ruleSet.enableAt is 'MOON'"),
    ],
)
def test_what_cannot_be_understood_is_named(read: Any, value: object, complaint: str) -> None:
    with pytest.raises(InvalidMember) as caught:
        read(value)

    assert complaint in str(caught.value)


def test_newer_metadata_wins_over_older() -> None:
    older = Metadata(tags={"a": ("x",)}, properties={"owner": "old", "kept": "1"}, sensitive=("ssn",))
    newer = Metadata(tags={"b": ("y",)}, properties={"owner": "new"}, sensitive=("card",))

    assert older.merged(newer) == Metadata(
        tags={"a": ("x",), "b": ("y",)},
        properties={"kept": "1", "owner": "new"},
        sensitive=("card", "ssn"),
    )
    assert older.merged(None) == older


def test_a_newer_rule_takes_the_place_of_one_with_its_name() -> None:
    older = RuleSet.from_json({"domainRules": [CHECK, {**ENCRYPT, "doc": "old"}], "enableAt": "CLIENT"})
    newer = RuleSet.from_json({"domainRules": [ENCRYPT], "migrationRules": [UPGRADE]})

    assert older is not None
    merged = older.merged(newer)

    assert merged == RuleSet.from_json(
        {"migrationRules": [UPGRADE], "domainRules": [CHECK, ENCRYPT], "enableAt": "CLIENT"}
    )


def test_the_version_in_metadata_is_put_in_and_taken_out() -> None:
    plain = Metadata(properties={"owner": "team"})

    assert plain.with_version(7).properties == {"confluent:version": "7", "owner": "team"}
    assert plain.with_version(7).without_version() == plain
