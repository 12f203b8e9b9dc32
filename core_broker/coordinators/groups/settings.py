"""The broker's settings about groups and offsets, read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from barnabas.kernel.settings import Settings

_MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class GroupSettings:
    initial_rebalance_delay_ms: int
    session_timeout_min_ms: int
    session_timeout_max_ms: int
    members_max: int
    members_and_pending_max: int
    connection_members_max: int
    metadata_max_bytes: int
    offset_metadata_max_characters: int
    offsets_retention_ms: int

    @classmethod
    def of(cls, settings: Settings) -> GroupSettings:
        return cls(
            initial_rebalance_delay_ms=settings.integer("group.initial.rebalance.delay.ms"),
            session_timeout_min_ms=settings.integer("group.min.session.timeout.ms"),
            session_timeout_max_ms=settings.integer("group.max.session.timeout.ms"),
            members_max=settings.integer("group.max.size"),
            members_and_pending_max=settings.integer("group.max.members.and.pending"),
            connection_members_max=settings.integer("connection.max.group.members"),
            metadata_max_bytes=settings.integer("group.max.metadata.bytes"),
            offset_metadata_max_characters=settings.integer("offset.metadata.max.bytes"),
            offsets_retention_ms=settings.integer("offsets.retention.minutes") * _MINUTE_MS,
        )
