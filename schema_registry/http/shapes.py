"""How schemas look in answers. Members that came with 8.0 are told to clients that bear unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schema_registry.schema import AVRO, Reference, Schema, guid_of
from schema_registry.state.version import Version
from schema_registry.subject import Subject


@dataclass(frozen=True, slots=True)
class Shape:
    """`modern`: with the newer members. `text` and `references` stand in for those of the schema when they are given."""

    modern: bool
    text: str | None = None
    references: Sequence[Reference] | None = None

    def version(self, version: Version, *, dated: bool = True) -> dict[str, Any]:
        """A version of a subject."""
        return {
            "subject": version.subject,
            "version": version.number,
            "id": version.id,
            **self._guid(version),
            **self._type(version.schema),
            **self._contract(version.schema),
            **self._text(version.schema),
            **self._dates(version, dated=dated),
        }

    def registered(self, version: Version) -> dict[str, Any]:
        """The answer to a registration."""
        if not self.modern:
            return {"id": version.id}
        return {
            "id": version.id,
            "version": version.number,
            **self._guid(version),
            **self._type(version.schema),
            **self._contract(version.schema),
            **self._text(version.schema),
        }

    def content(self, version: Version, max_id: int | None, *, with_subject: bool) -> dict[str, Any]:
        """What an id or a GUID stands for."""
        place = {"subject": version.subject, "version": version.number} if self.modern and with_subject else {}
        maximum = {} if max_id is None else {"maxId": max_id}
        return {
            **place,
            **self._guid(version),
            **self._type(version.schema),
            **self._text(version.schema),
            **self._contract(version.schema),
            **maximum,
            **self._dates(version, dated=True),
        }

    def _guid(self, version: Version) -> dict[str, Any]:
        return {"guid": guid_of(version.content.digest)} if self.modern else {}

    def _type(self, schema: Schema) -> dict[str, Any]:
        return {"schemaType": schema.schema_type} if self.modern or schema.schema_type != AVRO else {}

    def _contract(self, schema: Schema) -> dict[str, Any]:
        """What comes with the text."""
        members: dict[str, Any] = {}
        references = schema.references if self.references is None else self.references
        if references:
            members["references"] = [reference.to_json() for reference in references]
        if schema.metadata is not None:
            members["metadata"] = schema.metadata.to_json()
        if schema.rule_set is not None:
            members["ruleSet"] = schema.rule_set.to_json()
        return members

    def _text(self, schema: Schema) -> dict[str, Any]:
        return {"schema": schema.text if self.text is None else self.text}

    def _dates(self, version: Version, *, dated: bool) -> dict[str, Any]:
        return {"ts": version.written_ms, "deleted": version.deleted} if self.modern and dated else {}


def qualified_references(version: Version, form: str) -> Sequence[Reference] | None:
    """The references with their contexts written out, when the client wants them so and the schema has a context."""
    parent = Subject.parse(version.subject)
    if form != "qualified" or parent.in_default_context:
        return None
    return [
        Reference(reference.name, str(parent.beside(reference.subject)), reference.version)
        for reference in version.schema.references
    ]
