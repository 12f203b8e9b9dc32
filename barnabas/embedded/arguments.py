"""What tests give to an embedded broker, as Kafka writes it; what cannot be written is refused with its name and its value."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.embedded.topic_client import Header

SHOWN_CHARACTERS_MAX: Final = 60

Config = str | int | float
"""A boolean is one of them."""
Configs = Mapping[str, Config]
Content = bytes | bytearray | memoryview | str | None
Headers = Mapping[str, Content] | Sequence[tuple[str, Content]]


def texts(argument: str, configs: object) -> dict[str, str]:
    """Configurations or settings: Kafka knows them as texts, and people as numbers and booleans."""
    if not isinstance(configs, Mapping):
        raise TypeError(_refusal(argument, configs, "a mapping of names to values"))
    for name in configs:
        if not isinstance(name, str):
            raise TypeError(_refusal(f"a name in {argument}", name, "text"))
    return {name: _config_text(f"{argument}[{name!r}]", value) for name, value in configs.items()}


def text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(_refusal(argument, value, "text"))
    return value


def content(argument: str, value: object) -> bytes | None:
    """A key, or a value of a record or a header."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    raise TypeError(_refusal(argument, value, "bytes, text or None, such as json.dumps(…) makes of other values"))


def header_list(headers: object) -> tuple[Header, ...]:
    """A name may be there more than once, in a sequence of pairs."""
    if isinstance(headers, Mapping):
        headers = list(headers.items())
    if not isinstance(headers, Sequence) or isinstance(headers, str | bytes):
        raise TypeError(_refusal("headers", headers, 'a mapping such as {"name": b"value"}, or pairs of both'))
    found = []
    for place, pair in enumerate(headers):
        if not isinstance(pair, Sequence) or isinstance(pair, str | bytes) or len(pair) != 2:
            raise TypeError(_refusal(f"headers[{place}]", pair, 'a pair such as ("name", b"value")'))
        name = text(f"the name in headers[{place}]", pair[0])
        found.append((name, content(f"the value in headers[{place}]", pair[1])))
    return tuple(found)


def whole_number(argument: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(_refusal(argument, value, "a whole number"))
    return value


def milliseconds(value: object) -> int:
    found = whole_number("milliseconds", value)
    if found < 0:
        raise ValueError(_refusal("milliseconds", value, "a number from 0 up: time does not go back"))
    return found


def system_error(value: object) -> int | None:
    wanted = "a number of the system's errors, such as errno.ENOSPC, or None"
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise TypeError(_refusal("error_number", value, wanted))
    if value is not None and value not in errno.errorcode:
        raise ValueError(_refusal("error_number", value, wanted))
    return value


def _config_text(argument: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise TypeError(_refusal(argument, value, "text, a number or a boolean"))


def _refusal(argument: str, value: object, wanted: str) -> str:
    shown = repr(value)
    if len(shown) > SHOWN_CHARACTERS_MAX:
        shown = f"{shown[:SHOWN_CHARACTERS_MAX]}…"
    return f"{argument} is {shown} ({type(value).__name__}): give {wanted}"
