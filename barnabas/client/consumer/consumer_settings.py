"""The settings of a consumer under the names that Kafka's Java client gives them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.client.typed_properties import Attributes, parsed
from barnabas.kernel.java.durations import parse_duration_ms

READ_COMMITTED: Final = "read_committed"
CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
RESET_EARLIEST: Final = "earliest"
RESET_LATEST: Final = "latest"
RESET_NONE: Final = "none"
RESET_BY_DURATION: Final = "by_duration:"

# The Java client names assignors by class; the coordinator knows them by these names.
ASSIGNORS_BY_CLASS: Final = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def _assignors(text: str) -> tuple[str, ...]:
    names = [name.strip().rpartition(".")[2] for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in ASSIGNORS_BY_CLASS and name not in ASSIGNORS_BY_CLASS.values()]
    if unknown or not names:
        known = ", ".join(ASSIGNORS_BY_CLASS)
        raise ValueError(f"no assignor {', '.join(unknown) or text!r}; these exist: {known}")
    return tuple(ASSIGNORS_BY_CLASS.get(name, name) for name in names)


def _boolean(text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.strip().lower() == "true"


def _reset(text: str) -> str:
    chosen = text.strip().lower()
    if chosen.startswith(RESET_BY_DURATION):
        duration = text.strip()[len(RESET_BY_DURATION) :]
        if parse_duration_ms(duration) < 0:
            raise ValueError(f"the duration {duration!r} is negative")
        return RESET_BY_DURATION + duration
    return _one_of(RESET_EARLIEST, RESET_LATEST, RESET_NONE)(chosen)


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.strip().lower() not in choices:
            raise ValueError(f"{text!r} is not one of {', '.join(choices)}")
        return text.strip().lower()

    return parse


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """What the consumer goes by. Defaults are those of the Java client."""

    group_id: str | None = None
    instance_id: str | None = None
    group_protocol: str = CLASSIC
    remote_assignor: str | None = None
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    reset: str = RESET_LATEST
    auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    isolation_level: str = "read_uncommitted"
    max_poll_records: int = 500
    fetch_min_bytes: int = 1
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 50 * 1024 * 1024
    partition_max_bytes: int = 1024 * 1024
    check_crcs: bool = True
    rack: str = ""
    metadata_max_age_ms: int = 300_000
    allow_auto_create: bool = True
    exclude_internal: bool = True
    properties: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> "ConsumerSettings":
        """Settings from Java's property names. Names of no meaning here are kept in `properties` and do nothing."""
        values = parsed(properties, _PROPERTIES)
        return cls(**values, properties=dict(properties))


_PROPERTIES: Final[Attributes] = {
    "group.id": ("group_id", str),
    "group.instance.id": ("instance_id", str),
    "group.protocol": ("group_protocol", _one_of(CLASSIC, CONSUMER)),
    "group.remote.assignor": ("remote_assignor", str),
    "partition.assignment.strategy": ("assignors", _assignors),
    "session.timeout.ms": ("session_timeout_ms", int),
    "heartbeat.interval.ms": ("heartbeat_interval_ms", int),
    "max.poll.interval.ms": ("max_poll_interval_ms", int),
    "auto.offset.reset": ("reset", _reset),
    "enable.auto.commit": ("auto_commit", _boolean),
    "auto.commit.interval.ms": ("auto_commit_interval_ms", int),
    "isolation.level": ("isolation_level", _one_of("read_uncommitted", READ_COMMITTED)),
    "max.poll.records": ("max_poll_records", int),
    "fetch.min.bytes": ("fetch_min_bytes", int),
    "fetch.max.wait.ms": ("fetch_max_wait_ms", int),
    "fetch.max.bytes": ("fetch_max_bytes", int),
    "max.partition.fetch.bytes": ("partition_max_bytes", int),
    "check.crcs": ("check_crcs", _boolean),
    "client.rack": ("rack", str),
    "metadata.max.age.ms": ("metadata_max_age_ms", int),
    "allow.auto.create.topics": ("allow_auto_create", _boolean),
    "exclude.internal.topics": ("exclude_internal", _boolean),
}
