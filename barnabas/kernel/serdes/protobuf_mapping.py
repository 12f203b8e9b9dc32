"""Protobuf's JSON mapping, compiled for a message: what `google.protobuf.json_format` does for values as they usually are.

That library looks at every field of every message anew and takes several times as long. Whatever is unusual is left to it: parts with
a JSON of their own, such as timestamps, and values that are written in a rarer way or not right at all. Fields are shown in the order of
their numbers, as Java shows them.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.kernel.serdes.json_numbers import FLOAT_MAX, double_number, float_number
from barnabas.kernel.serdes.serdes_error import ValueMismatchError

_WELL_KNOWN: Final = "google.protobuf."
# Kinds of fields, by the numbers that descriptors have for them.
_DOUBLE, _FLOAT32, _BOOL, _STRING, _GROUP, _MESSAGE, _BYTES, _ENUM = 1, 2, 8, 9, 10, 11, 12, 14
_INTEGERS_64: Final = (3, 4, 6, 16, 18)
_BASE64_GROUP: Final = 4

# A value of JSON to one of a message, and the reverse.
Convert = Callable[[Any], Any]


class UnusualError(Exception):
    """A type or a value that is left to the library."""


class MessageMapping:
    """One message type. UnusualError, from the constructor too, says that the library must do it."""

    def __init__(self, descriptor: Any, pool: Any, *, keeps_names: bool) -> None:
        if descriptor.full_name.startswith(_WELL_KNOWN):
            raise UnusualError(descriptor.full_name)
        self._pool = pool
        self._keeps_names = keeps_names
        self._messages: dict[str, tuple[Convert, Convert]] = {}
        # JSON to the arguments of the message's class, and a message to JSON.
        self.arguments, self.to_json = self._message(descriptor)

    def _message(self, descriptor: Any) -> tuple[Convert, Convert]:
        known = self._messages.get(descriptor.full_name)
        if known is not None:
            return known
        if descriptor.full_name.startswith(_WELL_KNOWN):
            return self._by_library(descriptor)
        if descriptor.is_extendable:
            raise UnusualError(descriptor.full_name)
        readers: dict[str, tuple[str, Convert]] = {}
        writers: list[tuple[str, str, bool, Convert]] = []
        oneofs = [frozenset(each.name for each in one.fields) for one in descriptor.oneofs if len(one.fields) > 1]
        # A message that holds itself finds these, which are complete when the loop has ended.
        pair = self._messages[descriptor.full_name] = _reader(readers, oneofs), _writer(writers)
        for field in sorted(descriptor.fields, key=lambda field: field.number):
            read, write = self._field(field)
            readers[field.json_name] = readers[field.name] = field.name, read
            shown = field.name if self._keeps_names else field.json_name
            writers.append((shown, field.name, field.has_presence, write))
        return pair

    def _by_library(self, descriptor: Any) -> tuple[Convert, Convert]:
        from google.protobuf import json_format, message_factory

        make = message_factory.GetMessageClass(descriptor)

        def write(message: Any) -> Any:
            return json_format.MessageToDict(
                message,
                always_print_fields_with_no_presence=True,
                preserving_proto_field_name=self._keeps_names,
                descriptor_pool=self._pool,
            )

        return lambda value: json_format.ParseDict(value, make(), descriptor_pool=self._pool), write

    def _field(self, field: Any) -> tuple[Convert, Convert]:
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            return self._map(kind.fields_by_name["key"], kind.fields_by_name["value"])
        read, write = self._single(field)
        return (_list_reader(read), _list_writer(write)) if field.is_repeated else (read, write)

    def _map(self, key: Any, value: Any) -> tuple[Convert, Convert]:
        if key.type != _STRING or value.type == _MESSAGE:
            raise UnusualError(key.containing_type.full_name)
        read, write = self._single(value)

        def read_map(given: Any) -> Any:
            if type(given) is not dict:
                raise UnusualError
            return {name: read(item) for name, item in given.items()}

        return read_map, lambda found: {name: write(item) for name, item in sorted(found.items())}

    def _single(self, field: Any) -> tuple[Convert, Convert]:
        if field.type == _MESSAGE:
            return self._message(field.message_type)
        if field.type == _ENUM:
            return _enum(field.enum_type)
        if field.type == _GROUP:
            raise UnusualError(field.full_name)
        return _SCALARS.get(field.type, (_read_integer, _as_it_is))


def _reader(fields: Mapping[str, tuple[str, Convert]], oneofs: list[frozenset[str]]) -> Convert:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise UnusualError
        found: dict[str, Any] = {}
        for given, item in value.items():
            known = fields.get(given)
            if known is None or item is None or known[0] in found:
                raise UnusualError
            found[known[0]] = known[1](item)
        for members in oneofs:
            if len(members & found.keys()) > 1:
                raise UnusualError
        return found

    return read


def _writer(fields: list[tuple[str, str, bool, Convert]]) -> Convert:
    def write(message: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for shown, name, has_presence, convert in fields:
            if not has_presence or message.HasField(name):
                found[shown] = convert(getattr(message, name))
        return found

    return write


def _list_reader(read: Convert) -> Convert:
    def read_list(value: Any) -> list[Any]:
        if type(value) is not list:
            raise UnusualError
        return [read(item) for item in value]

    return read_list


def _list_writer(write: Convert) -> Convert:
    return lambda found: [write(item) for item in found]


def _enum(kind: Any) -> tuple[Convert, Convert]:
    if kind.full_name == "google.protobuf.NullValue":
        raise UnusualError(kind.full_name)
    numbers = {value.name: value.number for value in kind.values}
    names = {value.number: value.name for value in reversed(kind.values)}

    def read(value: Any) -> Any:
        number = numbers.get(value) if type(value) is str else None
        if number is None:
            raise UnusualError
        return number

    return read, lambda number: names.get(number, number)


def _exactly(kind: type) -> Convert:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise UnusualError
        return value

    return read


def _read_integer(value: Any) -> Any:
    if type(value) is int:
        return value
    if type(value) is str and value.isdecimal() and value.isascii():
        return int(value)
    raise UnusualError


def _read_float(value: Any) -> Any:
    if (type(value) is float or type(value) is int) and -FLOAT_MAX <= value <= FLOAT_MAX:
        return value
    raise UnusualError


def _read_double(value: Any) -> Any:
    if (type(value) is float and math.isfinite(value)) or type(value) is int:
        return value
    raise UnusualError


def _read_bytes(value: Any) -> Any:
    if type(value) is not str:
        raise UnusualError
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        # It may be of the alphabet for addresses, or have no padding.
        digits = value.rstrip("=")
    try:
        return base64.b64decode(digits + "=" * (-len(digits) % _BASE64_GROUP), b"-_", validate=True)
    except ValueError:
        # The library would pass over what it does not know.
        raise ValueMismatchError(f"{value!r:.80} is not base64") from None


def _as_it_is(value: Any) -> Any:
    return value


_SCALARS: Final[Mapping[int, tuple[Convert, Convert]]] = {
    _DOUBLE: (_read_double, double_number),
    _FLOAT32: (_read_float, float_number),
    _BOOL: (_exactly(bool), _as_it_is),
    _STRING: (_exactly(str), _as_it_is),
    _BYTES: (_read_bytes, lambda value: base64.b64encode(value).decode()),
    **dict.fromkeys(_INTEGERS_64, (_read_integer, str)),
}
