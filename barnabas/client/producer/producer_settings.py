"""The settings of a producer under the names that Kafka's Java client gives them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.client.typed_properties import Attributes, parsed
from barnabas.wire.compression import Compression

ACKS_ALL: Final = -1
# More would let a broker forget sequence numbers that it may still be asked about.
IDEMPOTENT_MAX_IN_FLIGHT: Final = 5


def _acks(text: str) -> int:
    chosen = text.strip().lower()
    if chosen not in ("all", "-1", "0", "1"):
        raise ValueError("String must be one of: all, -1, 0, 1")
    return ACKS_ALL if chosen == "all" else int(chosen)


def _boolean(text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.strip().lower() == "true"


def _codec(text: str) -> int:
    names = [codec.name.lower() for codec in Compression]
    if text.strip().lower() not in names:
        raise ValueError(f"String must be one of: {', '.join(names)}")
    return Compression[text.strip().upper()]


def _number(text: str) -> int:
    try:
        number = int(text.strip())
    except ValueError:
        raise ValueError("Not a number of type LONG") from None
    if number < 0:
        raise ValueError("Value must be at least 0")
    return number


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """What the producer goes by. Defaults are those of the Java client."""

    acks: int = ACKS_ALL
    batch_bytes: int = 16_384
    linger_ms: int = 5
    compression: int = Compression.NONE
    compression_levels: Mapping[int, int] = field(default_factory=dict)
    buffer_bytes: int = 32 * 1024 * 1024
    max_request_bytes: int = 1024 * 1024
    max_in_flight: int = IDEMPOTENT_MAX_IN_FLIGHT
    idempotence: bool = True
    retries: int = 2**31 - 1
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    request_timeout_ms: int = 30_000
    delivery_timeout_ms: int = 120_000
    max_block_ms: int = 60_000
    metadata_max_age_ms: int = 300_000
    transactional_id: str | None = None
    transaction_timeout_ms: int = 60_000
    ignore_keys: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> "ProducerSettings":
        """Settings from Java's property names. Names of no meaning here are kept in `properties` and do nothing."""
        values = parsed(properties, _PROPERTIES)
        levels = {codec: properties.get(f"compression.{codec.name.lower()}.level") for codec in Compression}
        values["compression_levels"] = {int(codec): int(level) for codec, level in levels.items() if level is not None}
        _settle_idempotence(values, properties)
        if "transactional_id" in values and not values["transactional_id"]:
            raise ValueError("Invalid value for configuration transactional.id: String must be non-empty")
        return cls(**values, properties=dict(properties))


def _settle_idempotence(values: dict[str, Any], properties: Mapping[str, str]) -> None:
    """Idempotence is on unless something else that was set excludes it; to ask for both is an error."""
    wanted = "enable.idempotence" in properties and values["idempotence"]
    transactional = values.get("transactional_id") is not None
    for excluded, reason in (
        (
            values.get("acks", ACKS_ALL) != ACKS_ALL,
            "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.",
        ),
        (values.get("retries", 1) == 0, "Must set retries to non-zero when using the idempotent producer."),
        (
            values.get("max_in_flight", 1) > IDEMPOTENT_MAX_IN_FLIGHT,
            "Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer.",
        ),
    ):
        if excluded and (wanted or transactional):
            raise ValueError(reason)
        if excluded:
            values["idempotence"] = False
    if transactional and not values.get("idempotence", True):
        raise ValueError("Cannot set a transactional.id without also enabling idempotence.")


_PROPERTIES: Final[Attributes] = {
    "acks": ("acks", _acks),
    "batch.size": ("batch_bytes", _number),
    "linger.ms": ("linger_ms", _number),
    "compression.type": ("compression", _codec),
    "buffer.memory": ("buffer_bytes", _number),
    "max.request.size": ("max_request_bytes", _number),
    "max.in.flight.requests.per.connection": ("max_in_flight", _number),
    "enable.idempotence": ("idempotence", _boolean),
    "retries": ("retries", _number),
    "retry.backoff.ms": ("retry_backoff_ms", _number),
    "retry.backoff.max.ms": ("retry_backoff_max_ms", _number),
    "request.timeout.ms": ("request_timeout_ms", _number),
    "delivery.timeout.ms": ("delivery_timeout_ms", _number),
    "max.block.ms": ("max_block_ms", _number),
    "metadata.max.age.ms": ("metadata_max_age_ms", _number),
    "transactional.id": ("transactional_id", str),
    "transaction.timeout.ms": ("transaction_timeout_ms", _number),
    "partitioner.ignore.keys": ("ignore_keys", _boolean),
}
