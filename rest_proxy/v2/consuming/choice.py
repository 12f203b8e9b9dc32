"""What a client asks for when it opens a consumer instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

from barnabas.kernel.http.schema import BOOLEAN, INT32, NAME, Shape, any_of, closed_object, enum
from rest_proxy.v2.consuming.body import INT32_MAX
from rest_proxy.v2.consuming.refusals import broken_constraint, invalid, invalid_setting
from rest_proxy.v2.media import EMBEDDED_FORMATS

FETCH_MIN_BYTES_MAX: Final = 10_000_000
SHOWN_CHARACTERS_MAX: Final = 60
ANY_RECORD: Final = -1
"""As a number of bytes to wait for: one record is enough."""

_RESETS: Final = {"earliest": "earliest", "latest": "latest", "none": "error"}
"""librdkafka's name for each of Kafka's."""

CHOICE: Final = Shape(
    "InstanceChoice",
    closed_object(
        {},
        {
            "id": NAME,
            "name": NAME,
            "format": enum(*EMBEDDED_FORMATS),
            "auto.offset.reset": enum(*_RESETS),
            "auto.commit.enable": any_of(BOOLEAN, enum("true", "false")),
            "fetch.min.bytes": {"type": "integer", "minimum": ANY_RECORD, "maximum": FETCH_MIN_BYTES_MAX},
            "consumer.request.timeout.ms": INT32,
        },
    ),
)
FIELDS: Final = CHOICE.members | {"responseMinBytes", "requestWaitMs"}
"""With the names that older clients give to two of them."""


@dataclass(frozen=True, slots=True)
class InstanceChoice:
    """None stands for the setting of the service."""

    name: str | None
    form: str
    offset_reset: str | None
    auto_commit: bool | None
    fetch_min_bytes: int | None
    request_timeout_ms: int | None

    @classmethod
    def of(cls, found: dict[str, Any]) -> Self:
        """From a body whose members are known. An `id` goes before a `name`, and both name the instance."""
        wait = found.get("consumer.request.timeout.ms", found.get("requestWaitMs"))
        return cls(
            _name(found, "id") or _name(found, "name"),
            _form(found.get("format")),
            _offset_reset(found.get("auto.offset.reset")),
            _auto_commit(found.get("auto.commit.enable")),
            _fetch_min_bytes(found.get("fetch.min.bytes", found.get("responseMinBytes"))),
            _integer("consumer.request.timeout.ms", wait, 0),
        )

    def client_settings(self) -> dict[str, Any]:
        """What of it concerns librdkafka."""
        settings: dict[str, Any] = {}
        if self.offset_reset is not None:
            settings["auto.offset.reset"] = self.offset_reset
        if self.auto_commit is not None:
            settings["enable.auto.commit"] = self.auto_commit
        return settings


def _name(found: dict[str, Any], field: str) -> str | None:
    value = found.get(field)
    if value is not None and (not isinstance(value, str) or not value):
        raise invalid(f"{field} must be a text that is not empty")
    return value


def _form(value: Any) -> str:
    if value is None:
        return "binary"
    if not isinstance(value, str) or value.lower() not in EMBEDDED_FORMATS:
        raise invalid(
            f"Invalid format type. There are {', '.join(EMBEDDED_FORMATS)}. {value!r:.{SHOWN_CHARACTERS_MAX}} is none of them."
        )
    return value.lower()


def _offset_reset(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in _RESETS:
        raise invalid_setting(
            f"Invalid value {value} for configuration auto.offset.reset: it must be one of {', '.join(_RESETS)}"
        )
    return _RESETS[value]


def _auto_commit(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.lower() not in ("true", "false"):
        raise invalid_setting(
            f"Invalid value {value} for configuration auto.commit.enable: Expected value to be either true or false"
        )
    return value.lower() == "true"


def _fetch_min_bytes(value: Any) -> int | None:
    number = _integer("fetch.min.bytes", value, -INT32_MAX)
    if number is not None and not ANY_RECORD <= number <= FETCH_MIN_BYTES_MAX:
        raise broken_constraint(
            f"Invalid value {number} for configuration fetch.min.bytes: "
            f"it must be from {ANY_RECORD} to {FETCH_MIN_BYTES_MAX}"
        )
    return number


def _integer(name: str, value: Any, minimum: int) -> int | None:
    """A whole number, or a text of one."""
    if value is None:
        return None
    try:
        number = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None or not minimum <= number <= INT32_MAX:
        raise invalid_setting(
            f"Invalid value {value} for configuration {name}: it must be a whole number from {minimum} to {INT32_MAX}"
        )
    return number
