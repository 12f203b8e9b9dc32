"""The values of `_schemas`, in the order of members that Confluent's registry writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from schema_registry.config import Config
from schema_registry.mode import Mode
from schema_registry.schema import AVRO, Metadata, Reference, RuleSet, Schema
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
    number_of,
    optional_text_of,
    text_of,
)


@dataclass(frozen=True, slots=True)
class SchemaValue:
    """A version of a subject. `further` are members of newer writers, which a rewritten record keeps."""

    subject: str
    version: int
    id: int
    schema: Schema
    deleted: bool = False
    md5: str | None = None
    further: Mapping[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        schema = self.schema
        members = _without_empty(
            subject=self.subject,
            version=self.version,
            id=self.id,
            md5=self.md5,
            schemaType=schema.schema_type,
            references=[reference.to_json() for reference in schema.references],
        )
        if schema.metadata is not None:
            members["metadata"] = schema.metadata.to_json()
        if schema.rule_set is not None:
            members["ruleSet"] = schema.rule_set.to_json()
        return orjson.dumps({**members, "schema": schema.text, "deleted": self.deleted, **self.further})


@dataclass(frozen=True, slots=True)
class ConfigValue:
    subject: str | None
    config: Config

    def encode(self) -> bytes:
        return orjson.dumps({**_without_empty(subject=self.subject), **self.config.to_json()})


@dataclass(frozen=True, slots=True)
class ModeValue:
    subject: str | None
    mode: Mode

    def encode(self) -> bytes:
        return orjson.dumps(_without_empty(subject=self.subject, mode=self.mode.value))


@dataclass(frozen=True, slots=True)
class DeleteSubjectValue:
    """Versions up to this one are soft-deleted."""

    subject: str
    version: int

    def encode(self) -> bytes:
        return orjson.dumps(_without_empty(subject=self.subject, version=self.version))


@dataclass(frozen=True, slots=True)
class ClearSubjectValue:
    subject: str | None

    def encode(self) -> bytes:
        return orjson.dumps(_without_empty(subject=self.subject))


@dataclass(frozen=True, slots=True)
class ContextValue:
    tenant: str | None
    context: str

    def encode(self) -> bytes:
        return orjson.dumps(_without_empty(tenant=self.tenant, context=self.context))


@dataclass(frozen=True, slots=True)
class AssociationValue:
    guid: str | None
    tenant: str | None
    resource_name: str | None
    resource_namespace: str | None
    resource_id: str | None
    resource_type: str | None
    association_type: str | None
    subject: str | None
    lifecycle: str | None
    frozen: bool
    created_ms: int | None

    def encode(self) -> bytes:
        return orjson.dumps(
            _without_empty(
                guid=self.guid,
                tenant=self.tenant,
                resourceName=self.resource_name,
                resourceNamespace=self.resource_namespace,
                resourceId=self.resource_id,
                resourceType=self.resource_type,
                associationType=self.association_type,
                subject=self.subject,
                lifecycle=self.lifecycle,
                frozen=self.frozen,
                createTs=self.created_ms,
            )
        )


Value = SchemaValue | ConfigValue | ModeValue | DeleteSubjectValue | ClearSubjectValue | ContextValue | AssociationValue

_SCHEMA_MEMBERS: Final = frozenset(
    {"subject", "version", "id", "md5", "schemaType", "references", "metadata", "ruleSet", "schema", "deleted"}
    # Where a writer once read the record; the record's own place and time are what counts.
    | {"offset", "ts"}
)


def parse_value(key: Key, raw: bytes | None) -> Value | Broken | None:
    """Read the value of a key. None: the key is deleted, for which others also write an empty value or JSON's null."""
    if not raw or isinstance(key, NoopKey):
        return None
    try:
        members = orjson.loads(raw)
        if members is None:
            return None
        if not isinstance(members, dict):
            raise ValueError("it is not a JSON object")
        return _PARSERS[type(key)](key, members)
    except (ValueError, TypeError) as error:
        return Broken(f"the value cannot be read: {error}")


def _without_empty(**members: Any) -> dict[str, Any]:
    return {name: member for name, member in members.items() if member is not None and member not in ("", [])}


def _parse_schema(key: SchemaKey, members: Mapping[str, Any]) -> SchemaValue:
    schema = Schema(
        text_of(members, "schema"),
        optional_text_of(members, "schemaType") or AVRO,
        tuple(Reference.from_json(reference) for reference in members.get("references") or ()),
        Metadata.from_json(members.get("metadata")),
        RuleSet.from_json(members.get("ruleSet")),
    )
    further = {name: member for name, member in members.items() if name not in _SCHEMA_MEMBERS}
    deleted = bool(members.get("deleted"))
    md5 = optional_text_of(members, "md5")
    return SchemaValue(key.subject, key.version, number_of(members, "id"), schema, deleted, md5, further)


def _parse_association(key: AssociationKey, members: Mapping[str, Any]) -> AssociationValue:
    return AssociationValue(
        optional_text_of(members, "guid"),
        key.tenant,
        key.resource_name,
        key.resource_namespace,
        optional_text_of(members, "resourceId"),
        key.resource_type,
        key.association_type,
        key.subject,
        optional_text_of(members, "lifecycle"),
        bool(members.get("frozen")),
        members.get("createTs"),
    )


_PARSERS: Final[Mapping[type, Callable[[Any, Mapping[str, Any]], Value]]] = {
    SchemaKey: _parse_schema,
    # Old values lack the subject; the key always has it.
    ConfigKey: lambda key, members: ConfigValue(key.subject, Config.from_json(members)),
    ModeKey: lambda key, members: ModeValue(key.subject, Mode(text_of(members, "mode"))),
    DeleteSubjectKey: lambda key, members: DeleteSubjectValue(key.subject, number_of(members, "version")),
    ClearSubjectKey: lambda key, members: ClearSubjectValue(key.subject),
    ContextKey: lambda key, members: ContextValue(key.tenant, key.context),
    AssociationKey: _parse_association,
}
