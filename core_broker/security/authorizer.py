"""Decides whether a principal may do something to a resource. Every handler asks here before it acts."""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from core_broker.context import RequestContext


class Operation(IntEnum):
    """Kafka's access list operations, with their wire codes."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class ResourceType(IntEnum):
    """Kafka's access list resource types, with their wire codes."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


CLUSTER_NAME = "kafka-cluster"


class Authorizer(Protocol):
    def allows(self, context: RequestContext, operation: Operation, resource: ResourceType, name: str) -> bool: ...


class AllowAll:
    """The authorizer of a broker without access lists: everybody may do everything, as in Kafka without one."""

    def allows(self, context: RequestContext, operation: Operation, resource: ResourceType, name: str) -> bool:
        return True
