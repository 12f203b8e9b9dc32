"""How schemas look in answers. Members that came with 8.0 are told to clients that bear unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.kernel.http.schema import BOOLEAN, INTEGER, STRING, Shape, enum, list_of, map_of, open_object
from schema_registry.schema import (
    AVRO,
    DOMAIN_MODES,
    ENVIRONMENTS,
    MIGRATION_MODES,
    RULE_KINDS,
    SCHEMA_TYPES,
    Reference,
    Schema,
    guid_of,
)
from schema_registry.state.version import Version
from schema_registry.subject import Subject

REFERENCE: Final = Shape("SchemaReference", open_object({"name": STRING, "subject": STRING, "version": INTEGER}))
METADATA: Final = Shape(
    "Metadata",
    open_object({}, {"tags": map_of(list_of(STRING)), "properties": map_of(STRING), "sensitive": list_of(STRING)}),
)
_RULE: Final = Shape(
    "Rule",
    open_object(
        {"name": STRING, "kind": enum(*RULE_KINDS), "type": STRING},
        {
            "doc": STRING,
            "mode": enum(*MIGRATION_MODES, *DOMAIN_MODES),
            "tags": list_of(STRING),
            "params": map_of(STRING),
            "expr": STRING,
            "onSuccess": STRING,
            "onFailure": STRING,
            "disabled": BOOLEAN,
        },
    ),
)
_RULES: Final = list_of(_RULE)
RULE_SET: Final = Shape(
    "RuleSet",
    open_object(
        {},
        {"migrationRules": _RULES, "domainRules": _RULES, "encodingRules": _RULES, "enableAt": enum(*ENVIRONMENTS)},
    ),
)
_CONTRACT: Final = {
    "schemaType": enum(*SCHEMA_TYPES),
    "references": list_of(REFERENCE),
    "metadata": METADATA,
    "ruleSet": RULE_SET,
}
_DATES: Final[dict[str, dict[str, Any]]] = {"ts": INTEGER, "deleted": BOOLEAN}
SCHEMA_REQUEST: Final = Shape(
    "SchemaRequest", open_object({"schema": STRING}, {**_CONTRACT, "version": INTEGER, "id": INTEGER})
)
SCHEMA_EXAMPLE: Final = {"schema": '{"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}'}
VERSION: Final = Shape(
    "SchemaVersion",
    open_object(
        {"subject": STRING, "version": INTEGER, "id": INTEGER, "schema": STRING},
        {"guid": STRING, **_CONTRACT, **_DATES, "aliases": list_of(STRING)},
    ),
)
REGISTERED: Final = Shape(
    "RegisteredSchema",
    open_object({"id": INTEGER}, {"version": INTEGER, "guid": STRING, **_CONTRACT, "schema": STRING}),
)
CONTENT: Final = Shape(
    "SchemaContent",
    open_object(
        {"schema": STRING},
        {
            "subject": STRING,
            "version": INTEGER,
            "guid": STRING,
            **_CONTRACT,
            "maxId": INTEGER,
            **_DATES,
            "subjects": list_of(STRING),
        },
    ),
)


@dataclass(frozen=True, slots=True)
class View:
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
