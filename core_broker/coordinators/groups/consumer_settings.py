"""What the broker's settings, and a group's own, say about the consumer protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from barnabas.kernel.settings import Settings
from core_broker.configs.group_overrides import GROUP_CATALOGUE


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between which a group may choose for itself; what it chose before they were narrowed is taken as the nearest."""

    low: int
    high: int

    def apply(self, value: int) -> int:
        return min(max(value, self.low), self.high)


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    assignors: tuple[str, ...]
    """The first is for groups whose members name none."""

    heartbeat_interval_ms: int
    heartbeat_interval_bounds: Bounds
    session_timeout_ms: int
    session_timeout_bounds: Bounds
    assignment_interval_ms: int
    assignment_interval_bounds: Bounds
    members_max: int
    classic_members_max: int
    may_upgrade: bool
    """Whether a classic group may become a consumer group while it has members."""

    may_downgrade: bool
    regex_refresh_interval_ms: int

    @classmethod
    def of(cls, settings: Settings) -> ConsumerSettings:
        policy = settings.text("group.consumer.migration.policy").lower()
        return cls(
            assignors=tuple(settings.items_of("group.consumer.assignors")),
            heartbeat_interval_ms=settings.integer("group.consumer.heartbeat.interval.ms"),
            heartbeat_interval_bounds=_bounds(settings, "heartbeat.interval.ms"),
            session_timeout_ms=settings.integer("group.consumer.session.timeout.ms"),
            session_timeout_bounds=_bounds(settings, "session.timeout.ms"),
            assignment_interval_ms=settings.integer("group.consumer.assignment.interval.ms"),
            assignment_interval_bounds=_bounds(settings, "assignment.interval.ms"),
            # Our own limit is for groups of both protocols.
            members_max=min(
                settings.integer("group.consumer.max.size"), settings.integer("group.max.members.and.pending")
            ),
            classic_members_max=settings.integer("group.max.size"),
            may_upgrade=policy in ("upgrade", "bidirectional"),
            may_downgrade=policy in ("downgrade", "bidirectional"),
            regex_refresh_interval_ms=settings.integer("group.consumer.regex.refresh.interval.ms"),
        )

    def for_group(self, own: Mapping[str, str]) -> ConsumerSettings:
        """With what a group has set for itself."""
        if not own:
            return self
        return replace(
            self,
            heartbeat_interval_ms=self.heartbeat_interval_bounds.apply(
                _own(own, "consumer.heartbeat.interval.ms", self.heartbeat_interval_ms)
            ),
            session_timeout_ms=self.session_timeout_bounds.apply(
                _own(own, "consumer.session.timeout.ms", self.session_timeout_ms)
            ),
            assignment_interval_ms=self.assignment_interval_bounds.apply(
                _own(own, "consumer.assignment.interval.ms", self.assignment_interval_ms)
            ),
        )


def _bounds(settings: Settings, name: str) -> Bounds:
    return Bounds(settings.integer(f"group.consumer.min.{name}"), settings.integer(f"group.consumer.max.{name}"))


def _own(own: Mapping[str, str], name: str, otherwise: int) -> int:
    text = own.get(name)
    if text is None:
        return otherwise
    value = GROUP_CATALOGUE.require(name).read(text)
    assert isinstance(value, int)
    return value
