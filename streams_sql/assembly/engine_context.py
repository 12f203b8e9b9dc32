"""What all roles of the engine are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from barnabas.kernel.kafka_clients.admin import Admin
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.statements.session import Sessions
from streams_sql.engine_settings import EngineSettings
from streams_sql.formats.serde import RegistryAccess


@dataclass(frozen=True, slots=True)
class EngineContext:
    """`client` are settings of Kafka's clients."""

    own: EngineSettings
    admin: Admin
    client: Mapping[str, Any] = field(repr=False)
    catalogue: Catalogue
    sessions: Sessions
    errors: ErrorLog

    @property
    def registry(self) -> RegistryAccess | None:
        return self.own.registry
