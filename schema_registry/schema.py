"""A schema as the registry keeps it: text, type, references, metadata and rules, and the identity that follows from them."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

AVRO: Final = "AVRO"
JSON: Final = "JSON"
PROTOBUF: Final = "PROTOBUF"
SCHEMA_TYPES: Final = (JSON, PROTOBUF, AVRO)

VERSION_PROPERTY: Final = "confluent:version"
"""A metadata property in which a client names the version that it means to register."""

_PRESENT: Final = b"\x01"


class InvalidMember(ValueError):
    """A member of a JSON object that cannot be taken: which one, and why."""


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that the text uses, and the registered schema that it stands for."""

    name: str
    subject: str
    version: int

    @classmethod
    def from_json(cls, value: object) -> Reference:
        members = _object(value, "a reference")
        name, subject, version = members.get("name"), members.get("subject"), members.get("version")
        if not isinstance(name, str) or not isinstance(subject, str):
            raise InvalidMember(f"a reference needs the texts name and subject, not {name!r} and {subject!r}")
        if not isinstance(version, int) or isinstance(version, bool) or not -1 <= version < 1 << 31:
            raise InvalidMember(
                f"the version of reference {name!r} is {version!r}; write a number, or -1 for the latest"
            )
        return cls(name, subject, version)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "subject": self.subject, "version": self.version}

    def add_to(self, digest: _Digest) -> None:
        _add(digest, self.name, self.subject)
        digest.update(self.version.to_bytes(4, "big", signed=True))


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a team says of a schema. Maps and sets are kept sorted, as the identity and the JSON want them."""

    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: object) -> Metadata | None:
        if value is None:
            return None
        members = _object(value, "metadata")
        tags = _object(members.get("tags") or {}, "metadata.tags")
        return cls(
            {key: _sorted_texts(tags[key], f"metadata.tags.{key}") for key in sorted(tags)},
            _sorted_properties(members.get("properties"), "metadata.properties"),
            _sorted_texts(members.get("sensitive"), "metadata.sensitive"),
        )

    def to_json(self) -> dict[str, Any]:
        tags = {key: list(values) for key, values in self.tags.items()}
        return _without_empty(tags=tags, properties=dict(self.properties), sensitive=list(self.sensitive))

    def add_to(self, digest: _Digest) -> None:
        for key, values in self.tags.items():
            _add(digest, key, *values)
        for key, value in self.properties.items():
            _add(digest, key, value)
        _add(digest, *self.sensitive)

    def merged(self, newer: Metadata | None) -> Metadata:
        """Both together; where both say something, the newer one wins."""
        if newer is None:
            return self
        return Metadata(
            dict(sorted({**self.tags, **newer.tags}.items())),
            dict(sorted({**self.properties, **newer.properties}.items())),
            tuple(sorted({*self.sensitive, *newer.sensitive})),
        )

    def with_version(self, version: int) -> Metadata:
        return replace(self, properties=dict(sorted({**self.properties, VERSION_PROPERTY: str(version)}.items())))

    def without_version(self) -> Metadata:
        return replace(self, properties={key: text for key, text in self.properties.items() if key != VERSION_PROPERTY})


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a data contract, which clients carry out."""

    name: str | None
    doc: str | None = None
    kind: str | None = None
    mode: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = False

    @classmethod
    def from_json(cls, value: object) -> Rule:
        members = _object(value, "a rule")
        texts = {name: _text_or_none(members.get(name), f"rule.{name}") for name in _RULE_TEXTS}
        _check_choice(texts["kind"], RULE_KINDS, "rule.kind")
        _check_choice(texts["mode"], MIGRATION_MODES + DOMAIN_MODES, "rule.mode")
        return cls(
            name=texts["name"],
            doc=texts["doc"],
            kind=texts["kind"],
            mode=texts["mode"],
            type=texts["type"],
            tags=_sorted_texts(members.get("tags"), "rule.tags"),
            params=_sorted_properties(members.get("params"), "rule.params"),
            expr=texts["expr"],
            on_success=texts["onSuccess"],
            on_failure=texts["onFailure"],
            disabled=bool(members.get("disabled")),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            **_without_empty(
                name=self.name,
                doc=self.doc,
                kind=self.kind,
                mode=self.mode,
                type=self.type,
                tags=list(self.tags),
                params=dict(self.params),
                expr=self.expr,
                onSuccess=self.on_success,
                onFailure=self.on_failure,
            ),
            "disabled": self.disabled,
        }

    def add_to(self, digest: _Digest) -> None:
        _add(digest, self.name, self.doc, self.kind, self.mode, self.type, *self.tags)
        for key, value in self.params.items():
            _add(digest, key, value)
        _add(digest, self.expr, self.on_success, self.on_failure)
        if self.disabled:
            digest.update(_PRESENT)


RULE_KINDS: Final = ("TRANSFORM", "CONDITION")
MIGRATION_MODES: Final = ("UPGRADE", "DOWNGRADE", "UPDOWN")
DOMAIN_MODES: Final = ("WRITE", "READ", "WRITEREAD")
ENVIRONMENTS: Final = ("ALL", "CLIENT", "GATEWAY", "SERVER", "NONE")
_RULE_TEXTS: Final = ("name", "doc", "kind", "mode", "type", "expr", "onSuccess", "onFailure")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a schema, by the phase in which clients carry them out."""

    migration: tuple[Rule, ...] = ()
    domain: tuple[Rule, ...] = ()
    encoding: tuple[Rule, ...] = ()
    enable_at: str | None = None

    @classmethod
    def from_json(cls, value: object) -> RuleSet | None:
        if value is None:
            return None
        members = _object(value, "ruleSet")
        enable_at = _text_or_none(members.get("enableAt"), "ruleSet.enableAt")
        _check_choice(enable_at, ENVIRONMENTS, "ruleSet.enableAt")
        migration, domain, encoding = (
            tuple(Rule.from_json(item) for item in _array(members.get(name), f"ruleSet.{name}"))
            for name in ("migrationRules", "domainRules", "encodingRules")
        )
        return cls(migration, domain, encoding, enable_at)

    def to_json(self) -> dict[str, Any]:
        return _without_empty(
            migrationRules=[rule.to_json() for rule in self.migration],
            domainRules=[rule.to_json() for rule in self.domain],
            encodingRules=[rule.to_json() for rule in self.encoding],
            enableAt=self.enable_at,
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.migration + self.domain + self.encoding

    def add_to(self, digest: _Digest) -> None:
        for rule in self.rules:
            rule.add_to(digest)
        _add(digest, self.enable_at)

    def merged(self, newer: RuleSet | None) -> RuleSet:
        """Both together; of two rules with one name the newer one stays, at the end."""
        if newer is None:
            return self
        return RuleSet(
            _merged_rules(self.migration, newer.migration),
            _merged_rules(self.domain, newer.domain),
            _merged_rules(self.encoding, newer.encoding),
            newer.enable_at or self.enable_at,
        )


@dataclass(frozen=True, slots=True)
class Schema:
    """The content that an id stands for."""

    text: str
    schema_type: str = AVRO
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None

    def digest(self) -> bytes:
        """The MD5 that tells two schemas apart; Confluent's, since ids follow from it."""
        digest = hashlib.md5(self.text.encode(), usedforsecurity=False)
        for reference in self.references:
            reference.add_to(digest)
        if self.metadata is not None:
            digest.update(_PRESENT)
            self.metadata.add_to(digest)
        if self.rule_set is not None:
            digest.update(_PRESENT)
            self.rule_set.add_to(digest)
        return digest.digest()


def guid_of(digest: bytes) -> str:
    return str(uuid.UUID(bytes=digest))


def _add(digest: _Digest, *texts: str | None) -> None:
    for text in texts:
        if text is not None:
            digest.update(text.encode())


def _merged_rules(older: Iterable[Rule], newer: tuple[Rule, ...]) -> tuple[Rule, ...]:
    names = {rule.name for rule in newer}
    return (*(rule for rule in older if rule.name not in names), *newer)


def _without_empty(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}


def _object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidMember(f"{name} must be a JSON object, not {_kind(value)}")
    return value


def _array(value: object, name: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidMember(f"{name} must be a JSON array, not {_kind(value)}")
    return value


def _text_or_none(value: object, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidMember(f"{name} must be a text, not {_kind(value)}")
    return value


def _check_choice(text: str | None, choices: tuple[str, ...], name: str) -> None:
    if text is not None and text not in choices:
        raise InvalidMember(f"{name} is {text!r}; it must be one of {', '.join(choices)}")


def _sorted_texts(value: object, name: str) -> tuple[str, ...]:
    items = _array(value, name)
    if not all(isinstance(item, str) for item in items):
        raise InvalidMember(f"{name} must hold texts alone")
    return tuple(sorted({str(item) for item in items}))


def _sorted_properties(value: object, name: str) -> dict[str, str]:
    members = _object(value or {}, name)
    return {key: _property(members[key], f"{name}.{key}") for key in sorted(members)}


def _property(value: object, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise InvalidMember(f"{name} must be a text, not {_kind(value)}")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
