"""Statements about what others keep: Connect's connectors, topics of Kafka, schemas of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from streams_sql.language.expressions import Literal

# -- statements for Connect -----------------------------------------------------------------------


class ConnectorKind(Enum):
    SOURCE = "SOURCE"
    SINK = "SINK"


@dataclass(frozen=True, slots=True)
class CreateConnector:
    """The names of `config` have the case in which they were written."""

    kind: ConnectorKind
    name: str
    config: Mapping[str, str] = field(repr=False)
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropConnector:
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class DescribeConnector:
    name: str


@dataclass(frozen=True, slots=True)
class ShowConnectors:
    """Of one kind, or all of them."""

    kind: ConnectorKind | None = None


@dataclass(frozen=True, slots=True)
class ShowConnectorPlugins:
    pass


# -- statements that check ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AssertTopic:
    """`exists` is what is asserted; `timeout_ms` is how long it may take to come true, None for as long as the server says."""

    topic: str
    exists: bool = True
    properties: Mapping[str, Literal] = field(default_factory=dict)
    timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class AssertSchema:
    """Of a subject, an id, or a subject that has the schema of an id."""

    subject: str | None
    id: int | None
    exists: bool = True
    timeout_ms: int | None = None
