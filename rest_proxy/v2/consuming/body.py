"""The bodies of requests: JSON objects whose members are all known and of the types that they must have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final, TypeVar

from barnabas.kernel.http.content_type import parse_media_type
from barnabas.kernel.http.request import Request
from rest_proxy.problems import unsupported
from rest_proxy.v2.consuming.partition import Partition
from rest_proxy.v2.consuming.refusals import invalid, invalid_topics, mistyped
from rest_proxy.v2.media import EMBEDDED_TYPES, V2
from rest_proxy.whole_number import as_integer

_BODY_TYPES: Final = frozenset({V2, *EMBEDDED_TYPES.values()})

INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1
MS_PER_S: Final = 1000
NUL: Final = "\0"

_LEGAL_TOPIC: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,249}")

ItemT = TypeVar("ItemT")


async def read_object(request: Request, known: Iterable[str]) -> dict[str, Any] | None:
    """The object in the body; None without a body, or for `null`."""
    if not await request.body():
        return None
    media_type = parse_media_type(request.headers.get("content-type") or V2)
    if media_type is None or media_type.essence not in _BODY_TYPES:
        raise unsupported([V2])
    value = await request.json()
    if value is None:
        return None
    return checked_object(value, "the body", known)


async def read_given_object(request: Request, known: Iterable[str]) -> dict[str, Any]:
    """The object in a body that must be there."""
    found = await read_object(request, known)
    if found is None:
        raise invalid(f"the request has no body; it must be a JSON object with {' or '.join(known)}")
    return found


def checked_object(value: Any, what: str, known: Iterable[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise mistyped(f"{what} must be a JSON object")
    for name in value:
        if name not in known:
            raise invalid(f"Unrecognized field: {name}")
    return value


def items(found: dict[str, Any], name: str, read: Callable[[Any, str], ItemT]) -> list[ItemT]:
    """The members of a list, each read by `read`, which is told its place."""
    values = found.get(name)
    if values is None:
        raise invalid(f"{name} is missing; it must be a list")
    if not isinstance(values, list):
        raise mistyped(f"{name} must be a list")
    return [read(value, f"{name}[{index}]") for index, value in enumerate(values)]


def partition(value: Any, what: str, *further: str) -> Partition:
    """`{"topic": …, "partition": …}` with, in some requests, `further` members."""
    found = checked_object(value, what, ("topic", "partition", *further))
    number = whole_number(found.get("partition"), f"{what}.partition", INT32_MAX)
    return Partition(topic(found.get("topic"), f"{what}.topic"), number)


def topic(value: Any, what: str) -> str:
    """A name that a topic may have. To librdkafka others are not harmless: with a caret they are regular expressions."""
    name = text(value, what)
    if not _LEGAL_TOPIC.fullmatch(name):
        raise invalid_topics([name])
    return name


def text(value: Any, what: str, *, empty: bool = False) -> str:
    if value is not None and not isinstance(value, str):
        raise mistyped(f"{what} must be a text")
    if value is None or not (value or empty):
        raise invalid(f"{what} must be a text{'' if empty else ' that is not empty'}")
    if NUL in value:
        # librdkafka would take it for the end of the text.
        raise invalid(f"{what} must not contain a NUL character")
    return value


def whole_number(value: Any, what: str, maximum: int) -> int:
    """From 0 on."""
    number = as_integer(value)
    if number is None or number > maximum:
        raise (invalid if value is None else mistyped)(f"{what} must be a whole number from 0 to {maximum}")
    if number < 0:
        raise invalid(f"{what} must be a whole number from 0 on")
    return number


def timestamp_ms(value: Any, what: str) -> int:
    """ISO 8601 with a time zone, or a number of seconds since 1970, as Confluent's proxy takes them."""
    value = value if (seconds := as_integer(value)) is None else seconds
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.upper())
            if moment.tzinfo is not None:
                return max(math.floor(moment.timestamp() * MS_PER_S), 0)
        elif isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= INT64_MAX // MS_PER_S:
            return math.floor(value * MS_PER_S)
    except (ValueError, OverflowError):
        pass
    raise mistyped(f"{what} must be a moment such as 2026-01-31T12:00:00Z, or a number of seconds since 1970")
