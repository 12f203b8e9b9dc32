"""Reads the JSON object of a request: members of the expected kinds, and no others.

A number or a boolean may be written as a text and the other way round, as in Confluent's service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import Shape
from rest_proxy.problems import UNPROCESSABLE
from rest_proxy.v3.refusals import bad_request, invalid_payload
from rest_proxy.whole_number import as_integer

INT32_MAX: Final = 2**31 - 1
INT16_MAX: Final = 2**15 - 1
NUL: Final = "\0"
NO_DATA: Final = "Null input provided. Data is required."

SHOWN_MAX_CHARACTERS: Final = 100
"""Of a text that is refused."""

_FLAGS: Final = {True: True, False: False, "true": True, "false": False}


class Members:
    """The members of one object. `place` is how errors call it."""

    __slots__ = ("_place", "_values")

    def __init__(self, value: object, place: str, shape: Shape) -> None:
        if not isinstance(value, dict):
            raise bad_request(f"{place} must be a JSON object, but it is {_kind(value)}")
        unknown = next((name for name in value if name not in shape.members), None)
        if unknown is not None:
            raise HttpError(UNPROCESSABLE, f"Unrecognized field: {unknown}")
        self._values: Mapping[str, Any] = value
        self._place = place

    @classmethod
    async def of(cls, request: Request, shape: Shape, empty: str = NO_DATA) -> Members:
        """The body of a request; `empty` is said when there is none."""
        body = (await request.body()).strip()
        value = await request.json() if body else None
        if value is None:
            raise invalid_payload(empty)
        return cls(value, "the request", shape)

    def text(self, name: str) -> str:
        found = self.optional_text(name)
        if found is None:
            raise self._missing(name)
        return found

    def optional_text(self, name: str) -> str | None:
        value = self._values.get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str) and NUL in value:
            raise bad_request(
                f"{name} of {self._place} has a NUL character, which the client library takes for its end"
            )
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float):
            return str(value)
        raise self._wrong(name, "a text", value)

    def integer(self, name: str) -> int:
        found = self.optional_integer(name)
        if found is None:
            raise self._missing(name)
        return found

    def optional_integer(self, name: str, maximum: int = INT32_MAX) -> int | None:
        value = self._values.get(name)
        if value is None:
            return None
        number = as_integer(value)
        if number is None:
            raise self._wrong(name, "an integer", value)
        if not -maximum - 1 <= number <= maximum:
            raise bad_request(f"{name} of {self._place} is {number}; it must be from {-maximum - 1} to {maximum}")
        return number

    def flag(self, name: str) -> bool:
        """False when it is missing."""
        value = self._values.get(name)
        if value is None:
            return False
        if not isinstance(value, bool | str) or value not in _FLAGS:
            raise self._wrong(name, "true or false", value)
        return _FLAGS[value]

    def objects(self, name: str, shape: Shape) -> Iterator[Members]:
        """The objects of a list that must be there."""
        if self._values.get(name) is None:
            raise self._missing(name)
        return self.optional_objects(name, shape)

    def optional_objects(self, name: str, shape: Shape) -> Iterator[Members]:
        value = self._values.get(name)
        if value is None:
            return
        if not isinstance(value, list):
            raise self._wrong(name, "a list", value)
        for index, item in enumerate(value):
            yield Members(item, f"{name}[{index}]", shape)

    def optional_object(self, name: str) -> Mapping[str, Any]:
        """An object with any members; an empty one when it is missing."""
        value = self._values.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return value

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def _missing(self, name: str) -> HttpError:
        return bad_request(f"{name} of {self._place} is missing or null")

    def _wrong(self, name: str, wanted: str, value: object) -> HttpError:
        return bad_request(f"{name} of {self._place} must be {wanted}, but it is {_kind(value)}")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value[:SHOWN_MAX_CHARACTERS]!r}"
    return "a list" if isinstance(value, list) else "an object"
