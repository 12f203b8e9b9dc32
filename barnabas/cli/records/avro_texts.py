"""Avro values as people read and write them: logical types as text, unions without the names of their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from barnabas.kernel.serdes.avro_form import AvroForm, Convert, LeafType, Wrapping
from barnabas.kernel.serdes.avro_json import json_reader
from barnabas.kernel.serdes.avro_types import FixedType
from barnabas.kernel.serdes.json_numbers import float_number
from barnabas.kernel.serdes.serdes_error import ValueMismatchError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_ZERO: Final = _EPOCH.date().toordinal()
_DECIMAL_DIGITS: Final = 100_000
_EXACT: Final = Context(prec=_DECIMAL_DIGITS, traps=[InvalidOperation, Inexact])
_UUID_BYTES: Final = 16


class _Text(NamedTuple):
    """How a logical type is shown, and what makes the number of such a text again. Both raise what is not in range."""

    name: str
    show: Callable[[int], str]
    parse: Callable[[str], int]


def _date_text(days: int) -> str:
    return date.fromordinal(days + _DAY_ZERO).isoformat()


def _days(text: str) -> int:
    return date.fromisoformat(text).toordinal() - _DAY_ZERO


def _instant_text(per_second: int, number: int) -> str:
    return f"{_local_text(per_second, number)}Z"


def _local_text(per_second: int, number: int) -> str:
    seconds, rest = divmod(number, per_second)
    shown = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()
    return f"{shown}{_fraction(rest, per_second)}"


def _instant(per_second: int, text: str) -> int:
    """Fractions are read apart: Python's times end at microseconds."""
    whole, point, rest = text.removesuffix("Z").partition(".")
    digits = len(str(per_second)) - 1
    if point and not (rest.isdecimal() and len(rest) <= digits):
        raise ValueError(f"more than {digits} digits behind the point, or none")
    moment = datetime.fromisoformat(whole)
    seconds = moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH
    return (seconds // timedelta(seconds=1)) * per_second + int(rest.ljust(digits, "0") or 0)


def _time_text(per_second: int, number: int) -> str:
    seconds, rest = divmod(number, per_second)
    shown = time(seconds // 3600, seconds // 60 % 60, seconds % 60).isoformat()
    return f"{shown}{_fraction(rest, per_second)}"


def _time(per_second: int, text: str) -> int:
    return _instant(per_second, f"1970-01-01T{text}")


def _fraction(rest: int, per_second: int) -> str:
    return f".{rest:0{len(str(per_second)) - 1}d}" if rest else ""


_UNITS: Final = {"millis": 1_000, "micros": 1_000_000, "nanos": 1_000_000_000}
_TIMES: Final[Mapping[tuple[str, str], _Text]] = {
    ("int", "date"): _Text("a date such as 2026-01-31", _date_text, _days),
    **{
        (kind, f"{prefix}{unit}"): _Text(example, partial(show, per_second), partial(parse, per_second))
        for unit, per_second in _UNITS.items()
        for kind, prefix, example, show, parse in (
            ("int" if unit == "millis" else "long", "time-", "a time such as 12:00:00", _time_text, _time),
            ("long", "timestamp-", "a time such as 2026-01-31T12:00:00Z", _instant_text, _instant),
            ("long", "local-timestamp-", "a time such as 2026-01-31T12:00:00", _local_text, _instant),
        )
    },
}


def _reader(kind: LeafType) -> Convert | None:
    logical = kind.logical or ""
    if (kind.name, logical) in _TIMES:
        return partial(_shown, _TIMES[kind.name, logical].show)
    if logical == "decimal" and (kind.name == "bytes" or isinstance(kind, FixedType)):
        return partial(_decimal_text, kind.scale)
    if logical == "uuid" and isinstance(kind, FixedType) and kind.size == _UUID_BYTES:
        return lambda data: str(UUID(bytes=data))
    return float_number if kind.name == "float" else json_reader(kind)


def _shown(show: Callable[[int], str], number: int) -> Any:
    try:
        return show(number)
    except (ValueError, OverflowError):
        # Beyond the years that Python has.
        return number


def _decimal_text(scale: int, data: bytes) -> str:
    try:
        return f"{_EXACT.scaleb(Decimal(int.from_bytes(data, 'big', signed=True)), -scale):f}"
    except DecimalException:
        # More digits than anyone writes.
        return data.decode("latin-1")


def _writer(kind: LeafType) -> Convert | None:
    logical = kind.logical or ""
    if (kind.name, logical) in _TIMES:
        return partial(_parsed, _TIMES[kind.name, logical])
    if logical == "decimal" and (kind.name == "bytes" or isinstance(kind, FixedType)):
        return partial(_unscaled, kind, kind.size if isinstance(kind, FixedType) else 0)
    if logical == "uuid" and isinstance(kind, FixedType) and kind.size == _UUID_BYTES:
        return _uuid_bytes
    return None


def _parsed(text: _Text, value: Any) -> Any:
    if type(value) is not str:
        return value
    try:
        return text.parse(value)
    except (ValueError, OverflowError):
        raise ValueMismatchError(f"{value!r} is not {text.name}") from None


def _unscaled(kind: LeafType, size: int, value: Any) -> Any:
    if type(value) not in (str, int, float):
        return value
    try:
        whole = _EXACT.to_integral_exact(_EXACT.scaleb(_EXACT.create_decimal(str(value)), kind.scale))
        number = int(whole)
    except (DecimalException, ValueError, OverflowError):
        raise ValueMismatchError(f"{value!r} is not a decimal with {kind.scale} digits behind the point") from None
    # Readers reject a longer one, or round it silently.
    if kind.precision > 0 and number and whole.adjusted() >= kind.precision:
        raise ValueMismatchError(
            f"{value!r} is not a decimal of {kind.precision} digits, {kind.scale} of them behind the point"
        )
    length = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(max(size, length), "big", signed=True)


def _uuid_bytes(value: Any) -> Any:
    try:
        return UUID(value).bytes if type(value) is str else value
    except ValueError:
        raise ValueMismatchError(f"{value!r} is not a UUID") from None


READABLE: Final = AvroForm(Wrapping.NEVER, _reader, _writer)
"""What is shown so is taken when it is written again."""
