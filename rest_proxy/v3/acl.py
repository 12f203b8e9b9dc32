"""Rules of access as clients write them: in bodies, in queries, and in links."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

from barnabas.kernel.http.operation import Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import STRING, Shape, closed_object
from rest_proxy.kafka.admin_types import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)
from rest_proxy.v3.cluster import Cluster
from rest_proxy.v3.members import Members
from rest_proxy.v3.refusals import bad_request, not_found
from rest_proxy.v3.resource import Resource, kind_of, resource

ANY: Final = "ANY"
UNKNOWN: Final = "UNKNOWN"

# librdkafka calls the cluster a broker. It knows no delegation tokens.
_RESOURCE_TYPES: Final = {
    UNKNOWN: ResourceType.UNKNOWN,
    ANY: ResourceType.ANY,
    "TOPIC": ResourceType.TOPIC,
    "GROUP": ResourceType.GROUP,
    "CLUSTER": ResourceType.BROKER,
    "TRANSACTIONAL_ID": ResourceType.TRANSACTIONAL_ID,
}
_PATTERN_TYPES: Final = dict(ResourcePatternType.__members__)
_OPERATIONS: Final = dict(AclOperation.__members__)
_PERMISSIONS: Final = dict(AclPermissionType.__members__)
_RESOURCE_TYPE_NAMES: Final = {kind: name for name, kind in _RESOURCE_TYPES.items()}

# Of several words that fit nothing real, these may not be in a rule.
_NOT_IN_RULES: Final = {
    "resource_type": {ANY, UNKNOWN},
    "pattern_type": {ANY, UNKNOWN, "MATCH"},
    "operation": {ANY, UNKNOWN},
    "permission": {ANY, UNKNOWN},
}

_MEMBERS: Final = {
    "resource_type": STRING,
    "resource_name": STRING,
    "pattern_type": STRING,
    "principal": STRING,
    "host": STRING,
    "operation": STRING,
    "permission": STRING,
}
ACL: Final = kind_of("KafkaAcl", {"cluster_id": STRING, **_MEMBERS})
NEW_ACL: Final = Shape("NewAcl", closed_object(_MEMBERS))
PATTERN: Final = tuple(
    Parameter(name, schema, "Rules with this value; it may be ANY.") for name, schema in _MEMBERS.items()
)

WordT = TypeVar("WordT", bound=Enum)


@dataclass(frozen=True, slots=True)
class Acl:
    """A rule, or a pattern of rules, whose words may be ANY and whose texts may be empty."""

    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str

    @classmethod
    def of_members(cls, members: Members) -> Acl:
        """A rule of a body."""
        return cls(
            resource_type=_word(members, "resource_type", _RESOURCE_TYPES),
            resource_name=members.text("resource_name"),
            pattern_type=_word(members, "pattern_type", _PATTERN_TYPES),
            principal=members.text("principal"),
            host=members.text("host"),
            operation=_word(members, "operation", _OPERATIONS),
            permission=_word(members, "permission", _PERMISSIONS),
        )

    @classmethod
    def of_query(cls, request: Request, missing: str, refusal: str) -> Acl:
        """A pattern of a query. `missing` stands for words that are not there; `refusal` is said of those that are UNKNOWN."""

        def word(name: str, label: str, words: dict[str, WordT]) -> str:
            given = request.query_value(name, missing)
            if given.upper() not in words:
                raise not_found(f"The valid values for {label} do not include '{given}'")
            if given.upper() == UNKNOWN:
                raise bad_request(f"{name} {refusal}")
            return given.upper()

        return cls(
            resource_type=word("resource_type", "ResourceType", _RESOURCE_TYPES),
            resource_name=request.query_value("resource_name"),
            pattern_type=word("pattern_type", "PatternType", _PATTERN_TYPES),
            principal=request.query_value("principal"),
            host=request.query_value("host"),
            operation=word("operation", "Operation", _OPERATIONS),
            permission=word("permission", "Permission", _PERMISSIONS),
        )

    @classmethod
    def of_binding(cls, binding: AclBinding) -> Acl:
        return cls(
            resource_type=_RESOURCE_TYPE_NAMES[ResourceType(binding.restype_int)],
            resource_name=binding.name,
            pattern_type=ResourcePatternType(binding.resource_pattern_type_int).name,
            principal=binding.principal,
            host=binding.host,
            operation=AclOperation(binding.operation_int).name,
            permission=AclPermissionType(binding.permission_type_int).name,
        )

    def binding(self) -> AclBinding:
        return AclBinding(
            _RESOURCE_TYPES[self.resource_type],
            self.resource_name,
            _PATTERN_TYPES[self.pattern_type],
            self.principal,
            self.host,
            _OPERATIONS[self.operation],
            _PERMISSIONS[self.permission],
        )

    def filter(self) -> AclBindingFilter:
        """Rules that fit the pattern; a text that is empty fits every text."""
        return AclBindingFilter(
            _RESOURCE_TYPES[self.resource_type],
            self.resource_name or None,  # type: ignore[arg-type] # Its types do not know that filters may lack texts.
            _PATTERN_TYPES[self.pattern_type],
            self.principal or None,  # type: ignore[arg-type]
            self.host or None,  # type: ignore[arg-type]
            _OPERATIONS[self.operation],
            _PERMISSIONS[self.permission],
        )

    def members(self) -> dict[str, str]:
        return {
            "resource_type": self.resource_type,
            "resource_name": self.resource_name,
            "pattern_type": self.pattern_type,
            "principal": self.principal,
            "host": self.host,
            "operation": self.operation,
            "permission": self.permission,
        }

    def url(self, cluster: Cluster) -> str:
        return cluster.url("acls", query=self.members())

    def resource(self, cluster: Cluster) -> Resource:
        return resource(ACL, self.url(cluster), None, {"cluster_id": cluster.id, **self.members()})


def _word(members: Members, name: str, words: dict[str, WordT]) -> str:
    given = members.text(name)
    if given not in words:
        raise bad_request(f"{name} is {given!r}, which is none of {', '.join(sorted(words))}")
    if given in _NOT_IN_RULES[name]:
        raise bad_request(f"{name} cannot be {given}")
    return given
