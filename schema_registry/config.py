"""The configuration of a scope: how compatible new schemas must be, and what is added to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, Final

from schema_registry.schema import InvalidMember, Metadata, RuleSet


class Level(Enum):
    """Whose data must be readable by whom; transitive levels look at every version, the others at the newest."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def transitive(self) -> bool:
        return self.value.endswith("_TRANSITIVE")

    @property
    def backward(self) -> bool:
        """Whether the new schema must read old data."""
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def forward(self) -> bool:
        """Whether old schemas must read new data."""
        return self.value.startswith(("FORWARD", "FULL"))


LEVELS: Final = tuple(level.value for level in Level)
POLICIES: Final = ("STRICT", "LENIENT")


class InvalidLevel(ValueError):
    """A compatibility level or policy that does not exist."""


@dataclass(frozen=True, slots=True)
class Config:
    """What is set in one scope. None: not set there."""

    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    level: str | None = None
    policy: str | None = None
    group: str | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Config:
        """Read a stored configuration, whoever stored it: unknown members and policies are left alone."""
        policy = members.get("compatibilityPolicy")
        known = {name: member for name, member in members.items() if name != "compatibilityPolicy"}
        return replace(cls(**_read(known, "compatibilityLevel")), policy=policy if isinstance(policy, str) else None)

    def to_json(self, level_name: str = "compatibilityLevel") -> dict[str, Any]:
        """In the order of Confluent's records; `compatibility` names the level in requests and their answers."""
        return {
            (level_name if member == "compatibilityLevel" else member): _plain(getattr(self, name))
            for name, (member, _) in _MEMBERS.items()
            if getattr(self, name) not in (None, "")
        }

    def updated(self, request: Mapping[str, Any]) -> Config:
        """What a PUT makes of it: members that are absent stay, those that are null go."""
        return replace(self, **_read(request, "compatibility"))

    def over(self, wider: Config) -> Config:
        """This scope's configuration, completed from a wider one where Confluent does so."""
        return replace(self, **{name: getattr(wider, name) for name in _INHERITED if getattr(self, name) is None})

    @property
    def adds_to_schemas(self) -> bool:
        """Whether schemas are given metadata or rules that their sender did not write."""
        return any((self.default_metadata, self.override_metadata, self.default_rule_set, self.override_rule_set))


def _text(value: object, member: str) -> str:
    if isinstance(value, (dict, list)):
        raise InvalidMember(f"{member} must be a text, not {value!r}")
    return str(value)


def _boolean(value: object, member: str) -> bool:
    if isinstance(value, int):
        return bool(value)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise InvalidMember(f"{member} must be true or false, not {value!r}")


def _level(value: object, member: str) -> str:
    text = _text(value, member).upper()
    if text not in LEVELS:
        raise InvalidLevel(
            "Invalid compatibility level. Valid values are none, backward, forward, full, "
            "backward_transitive, forward_transitive, and full_transitive"
        )
    return text


def _policy(value: object, member: str) -> str:
    text = _text(value, member).upper()
    if text not in POLICIES:
        raise InvalidLevel(f"Invalid {member} {value!r}. Valid values are {', '.join(POLICIES).lower()}")
    return text


def _metadata(value: object, _member: str) -> Metadata | None:
    return Metadata.from_json(value)


def _rule_set(value: object, _member: str) -> RuleSet | None:
    return RuleSet.from_json(value)


_MEMBERS: Final[Mapping[str, tuple[str, Callable[[object, str], object]]]] = {
    "alias": ("alias", _text),
    "alias_for_deks": ("aliasForDeks", _text),
    "normalize": ("normalize", _boolean),
    "validate_fields": ("validateFields", _boolean),
    "validate_new_schemas": ("validateNewSchemas", _boolean),
    "validate_rules": ("validateRules", _boolean),
    "level": ("compatibilityLevel", _level),
    "policy": ("compatibilityPolicy", _policy),
    "group": ("compatibilityGroup", _text),
    "default_metadata": ("defaultMetadata", _metadata),
    "override_metadata": ("overrideMetadata", _metadata),
    "default_rule_set": ("defaultRuleSet", _rule_set),
    "override_rule_set": ("overrideRuleSet", _rule_set),
}
_INHERITED: Final = (
    "normalize",
    "validate_fields",
    "validate_new_schemas",
    "validate_rules",
    "policy",
    "group",
)
assert tuple(_MEMBERS) == tuple(field.name for field in fields(Config))


def _read(members: Mapping[str, Any], level_name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, (member, convert) in _MEMBERS.items():
        member = level_name if name == "level" else member
        if member in members:
            value = members[member]
            found[name] = None if value is None else convert(value, member)
    return found


def _plain(value: object) -> object:
    return value.to_json() if isinstance(value, (Metadata, RuleSet)) else value
