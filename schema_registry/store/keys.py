"""The keys of `_schemas`. Compaction compares bytes, so members stand in Confluent's order, and empty ones are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

DEFAULT_TENANT: Final = "default"

_SCHEMA_MAGICS: Final = (0, 1)
_MAGIC: Final = 0


@dataclass(frozen=True, slots=True)
class Broken:
    """Bytes that make no sense, and why; they stay in the topic and mean nothing."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A key of a type that this version does not know."""

    keytype: str


@dataclass(frozen=True, slots=True)
class SchemaKey:
    subject: str
    version: int

    def encode(self) -> bytes:
        return _encode(keytype="SCHEMA", subject=self.subject, version=self.version, magic=1)


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """The configuration of a subject or context; without one, of the default context."""

    subject: str | None

    def encode(self) -> bytes:
        return _encode(keytype="CONFIG", subject=self.subject, magic=_MAGIC)


@dataclass(frozen=True, slots=True)
class ModeKey:
    """The mode of a subject or context; without one, of the default context."""

    subject: str | None

    def encode(self) -> bytes:
        return _encode(keytype="MODE", subject=self.subject, magic=_MAGIC)


@dataclass(frozen=True, slots=True)
class DeleteSubjectKey:
    subject: str

    def encode(self) -> bytes:
        return _encode(keytype="DELETE_SUBJECT", subject=self.subject, magic=_MAGIC)


@dataclass(frozen=True, slots=True)
class ClearSubjectKey:
    """An import begins in a subject or context; without one, in the default context."""

    subject: str | None

    def encode(self) -> bytes:
        return _encode(keytype="CLEAR_SUBJECT", subject=self.subject, magic=_MAGIC)


@dataclass(frozen=True, slots=True)
class NoopKey:
    def encode(self) -> bytes:
        return _encode(keytype="NOOP", magic=_MAGIC)


@dataclass(frozen=True, slots=True)
class ContextKey:
    tenant: str | None
    context: str

    def encode(self) -> bytes:
        return _encode(keytype="CONTEXT", tenant=self.tenant, context=self.context, magic=_MAGIC)


@dataclass(frozen=True, slots=True)
class AssociationKey:
    """What ties a resource, such as a topic, to a subject."""

    tenant: str | None
    resource_name: str | None
    resource_namespace: str | None
    resource_type: str | None
    association_type: str | None
    subject: str | None

    def encode(self) -> bytes:
        return _encode(
            keytype="ASSOC",
            tenant=self.tenant,
            resourceName=self.resource_name,
            resourceNamespace=self.resource_namespace,
            resourceType=self.resource_type,
            associationType=self.association_type,
            subject=self.subject,
            magic=_MAGIC,
        )


Key = (
    SchemaKey | ConfigKey | ModeKey | DeleteSubjectKey | ClearSubjectKey | NoopKey | ContextKey | AssociationKey
)  # fmt: skip


def parse_key(raw: bytes | None) -> Key | Unknown | Broken:
    """Read a key as Confluent or Karapace wrote it: members in any order, further ones ignored."""
    if not raw:
        return Broken("the record has no key")
    try:
        members = orjson.loads(raw)
        if not isinstance(members, dict):
            raise ValueError("it is not a JSON object")
        keytype = text_of(members, "keytype")
        parse = _PARSERS.get(keytype)
        return Unknown(keytype) if parse is None else parse(members)
    except ValueError as error:
        return Broken(f"the key is not one of a registry: {error}")


def text_of(members: Mapping[str, Any], name: str) -> str:
    """A text that must be there. Writers leave out empty ones, so a missing subject is the empty one."""
    text = optional_text_of(members, name)
    if text is None and name != "subject":
        raise ValueError(f"{name} is missing")
    return text or ""


def optional_text_of(members: Mapping[str, Any], name: str) -> str | None:
    text = members.get(name)
    if text is not None and not isinstance(text, str):
        raise ValueError(f"{name} is {text!r}, not a text")
    return text


def number_of(members: Mapping[str, Any], name: str) -> int:
    number = members.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f"{name} is {number!r}, not a whole number")
    return number


def _encode(**members: str | int | None) -> bytes:
    return orjson.dumps({name: member for name, member in members.items() if member is not None and member != ""})


def _parse_schema(members: Mapping[str, Any]) -> SchemaKey:
    magic = members.get("magic", _SCHEMA_MAGICS[0])
    if magic not in _SCHEMA_MAGICS:
        raise ValueError(f"magic is {magic!r}; 0 and 1 are known")
    return SchemaKey(text_of(members, "subject"), number_of(members, "version"))


def _parse_association(members: Mapping[str, Any]) -> AssociationKey:
    return AssociationKey(
        optional_text_of(members, "tenant"),
        optional_text_of(members, "resourceName"),
        optional_text_of(members, "resourceNamespace"),
        optional_text_of(members, "resourceType"),
        optional_text_of(members, "associationType"),
        optional_text_of(members, "subject"),
    )


_PARSERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Key]]] = {
    "SCHEMA": _parse_schema,
    "CONFIG": lambda members: ConfigKey(optional_text_of(members, "subject")),
    "MODE": lambda members: ModeKey(optional_text_of(members, "subject")),
    "DELETE_SUBJECT": lambda members: DeleteSubjectKey(text_of(members, "subject")),
    "CLEAR_SUBJECT": lambda members: ClearSubjectKey(optional_text_of(members, "subject")),
    "NOOP": lambda _: NoopKey(),
    "CONTEXT": lambda members: ContextKey(optional_text_of(members, "tenant"), text_of(members, "context")),
    "ASSOC": _parse_association,
}
