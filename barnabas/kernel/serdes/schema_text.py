"""Schemas as the registry's API speaks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

AVRO: Final = "AVRO"
JSON: Final = "JSON"
PROTOBUF: Final = "PROTOBUF"


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that a schema uses, and the registered schema behind it."""

    name: str
    subject: str
    version: int

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Reference:
        return cls(answer["name"], answer["subject"], answer["version"])

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema as it is sent to a registry and comes back; metadata and rules are passed on as they are."""

    text: str
    type: str = AVRO
    references: tuple[Reference, ...] = ()
    metadata: Mapping[str, Any] | None = None
    rule_set: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> SchemaText:
        return cls(
            text=answer["schema"],
            type=answer.get("schemaType") or AVRO,
            references=tuple(Reference.of(each) for each in answer.get("references") or ()),
            metadata=answer.get("metadata"),
            rule_set=answer.get("ruleSet"),
        )

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"schema": self.text}
        if self.type != AVRO:
            body["schemaType"] = self.type
        if self.references:
            body["references"] = [reference.to_json() for reference in self.references]
        if self.metadata is not None:
            body["metadata"] = self.metadata
        if self.rule_set is not None:
            body["ruleSet"] = self.rule_set
        return body


@dataclass(frozen=True, slots=True)
class SubjectVersion:
    """A schema where it is registered."""

    subject: str
    version: int
    id: int
    schema: SchemaText
    deleted: bool = False

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> SubjectVersion:
        return cls(
            subject=answer["subject"],
            version=answer["version"],
            id=answer["id"],
            schema=SchemaText.of(answer),
            deleted=bool(answer.get("deleted")),
        )
