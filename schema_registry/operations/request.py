"""What clients ask to be registered, looked up or checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from schema_registry.errors import InvalidRules, SchemaRefused
from schema_registry.schema import (
    AVRO,
    DOMAIN_MODES,
    MIGRATION_MODES,
    InvalidMember,
    Metadata,
    Reference,
    Rule,
    RuleSet,
    Schema,
)

RULE_NAME_MAX_CHARACTERS: Final = 256
_NUMBER_MAX: Final = (1 << 31) - 1
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """A schema, with the version and the id that it shall have (None: as it comes; version -1: as the latest one)."""

    schema: Schema
    version: int | None = None
    id: int | None = None

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> SchemaRequest:
        """Read the body of a request; InvalidMember says what is wrong with it."""
        text = members.get("schema")
        if "schema" not in members and ("type" in members or "$schema" in members):
            raise SchemaRefused(
                "Empty schema: the body seems to be the schema itself. Send it as the text of a member:"
                ' {"schema": "{\\"type\\": …}"}'
            )
        if text is not None and not isinstance(text, str):
            raise InvalidMember("schema must be a text that holds the schema: write its JSON as an escaped string")
        schema_type = AVRO if members.get("schemaType") is None else members["schemaType"]
        references = [] if members.get("references") is None else members["references"]
        if isinstance(schema_type, (dict, list)) or not isinstance(references, list):
            raise InvalidMember("schemaType must be a text, and references an array")
        schema = Schema(
            text or "",
            str(schema_type),
            tuple(Reference.from_json(item) for item in references),
            Metadata.from_json(members.get("metadata")),
            RuleSet.from_json(members.get("ruleSet")),
        )
        version = _number(members.get("version"), "version")
        schema_id = _number(members.get("id"), "id")
        return cls(schema, version or None, None if schema_id is None or schema_id < 0 else schema_id)


def check_rules(rules: RuleSet | None) -> None:
    """Refuse rules that no client could carry out; InvalidRules."""
    if rules is None:
        return
    phases = (
        (rules.migration, MIGRATION_MODES, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"),
        (rules.domain, DOMAIN_MODES, "Domain rules can only be WRITE, READ, WRITEREAD"),
        (rules.encoding, DOMAIN_MODES, "Encoding rules can only be WRITE, READ, WRITEREAD"),
    )
    names: set[str] = set()
    for phase, modes, complaint in phases:
        for rule in phase:
            if rule.name in names:
                raise InvalidRules(f"Found rule with duplicate name '{rule.name}'")
            names.add(_checked_name(rule))
            _check_actions(rule)
            if rule.mode not in modes:
                raise InvalidRules(complaint)


def _checked_name(rule: Rule) -> str:
    name = rule.name
    if name is None:
        raise InvalidRules("Missing rule name")
    if not name:
        raise InvalidRules("Empty rule name")
    if len(name) > RULE_NAME_MAX_CHARACTERS:
        raise InvalidRules("Rule name too long")
    if not (name[0].isalpha() or name[0] == "_"):
        raise InvalidRules(f"Illegal initial character in rule name: {name}")
    if not all(character.isalnum() or character in "_-" for character in name):
        raise InvalidRules(f"Illegal character in rule name: {name}")
    if rule.type is None:
        raise InvalidRules("Missing rule type")
    if rule.kind is None:
        # Confluent's registry cannot read a record with such a rule.
        raise InvalidRules("Missing rule kind")
    return name


def _check_actions(rule: Rule) -> None:
    for actions in (rule.on_success, rule.on_failure):
        if actions and "," in actions and rule.mode not in (None, "WRITEREAD", "UPDOWN"):
            raise InvalidRules("Multiple actions only valid with WRITEREAD and UPDOWN")


def _number(value: object, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= _NUMBER_MAX:
        raise InvalidMember(f"{name} is {value!r}; it must be a whole number up to {_NUMBER_MAX}")
    return value
