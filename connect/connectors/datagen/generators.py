"""Fields with realistic values: `name:kind` or `name:kind(arguments)`."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final, TypeAlias

from connect.data import schema
from connect.data.schema import Schema

Generate: TypeAlias = Callable[[Random, int], Any]
"""Makes a value from chance and the number of the record."""

_DECLARATION: Final = re.compile(r"\s*([^:()]+?)\s*:\s*([a-z_]+)\s*(?:\(([^()]*)\))?\s*")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"

FIRST_NAMES: Final = (
    "Ada", "Alan", "Amina", "Anna", "Boris", "Carla", "Chen", "Daniel", "Elena", "Fatima", "Franz", "Grace", "Hiro", "Ines",
    "Jamal", "Josef", "Klamm", "Lena", "Mateo", "Milena", "Noor", "Olga", "Pedro", "Ravi", "Sofia", "Tomas", "Vera", "Yuki",
)  # fmt: skip
LAST_NAMES: Final = (
    "Bauer", "Brunswick", "Costa", "Diallo", "Dubois", "Garcia", "Haas", "Ito", "Janssen", "Kim", "Kowalski", "Lasemann", "Meyer",
    "Momus", "Novak", "Okafor", "Patel", "Rossi", "Santos", "Schmidt", "Silva", "Singh", "Smith", "Sordini", "Tanaka", "Wang",
)  # fmt: skip
CITIES: Final = (
    "Amsterdam", "Bangalore", "Berlin", "Bogota", "Cairo", "Dakar", "Hanoi", "Istanbul", "Kyoto", "Lagos", "Lima", "Lisbon", "Oslo",
    "Prague", "Seoul", "Toronto", "Vienna", "Warsaw",
)  # fmt: skip
COUNTRIES: Final = (
    "AT",
    "BR",
    "CA",
    "CO",
    "CZ",
    "DE",
    "EG",
    "IN",
    "JP",
    "KR",
    "NG",
    "NL",
    "NO",
    "PE",
    "PL",
    "PT",
    "SN",
    "TR",
    "VN",
)
DOMAINS: Final = ("example.com", "example.net", "example.org")


class FieldError(ValueError):
    """A declaration that is none."""


@dataclass(frozen=True, slots=True)
class GeneratedField:
    name: str
    schema: Schema
    generate: Generate


def parse_fields(declarations: Sequence[str]) -> tuple[GeneratedField, ...]:
    """The fields of declarations such as `id:sequence`, `amount:decimal(2, 1, 500)`, `state:choice(new|paid)`."""
    return tuple(_field(declaration) for declaration in declarations)


def split_fields(text: str) -> list[str]:
    """Split at commas that stand outside of parentheses."""
    return [part for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _field(declaration: str) -> GeneratedField:
    found = _DECLARATION.fullmatch(declaration)
    if found is None:
        raise FieldError(f"{declaration.strip()!r} is no field: expected a name and a kind, such as id:sequence")
    name, kind, arguments = found.groups()
    make = _KINDS.get(kind)
    if make is None:
        raise FieldError(f"{kind} is none of the kinds {', '.join(_KINDS)}")
    try:
        declared, generate = make(*_arguments(arguments))
    except (TypeError, ValueError, ArithmeticError):
        raise FieldError(f"{declaration.strip()!r}: these arguments do not fit {kind}") from None
    return GeneratedField(name, declared, generate)


def _arguments(text: str | None) -> list[str]:
    return [] if text is None or not text.strip() else [part.strip() for part in text.split(",")]


def _sequence(start: str = "1") -> tuple[Schema, Generate]:
    first = int(start)
    return schema.INT64, lambda _random, number: first + number


def _int(least: str = "0", most: str = "1000") -> tuple[Schema, Generate]:
    low, high = int(least), int(most)
    if low > high:
        raise ValueError(least)
    return schema.INT64, lambda random, _number: random.randint(low, high)


def _double(least: str = "0", most: str = "1") -> tuple[Schema, Generate]:
    low, high = float(least), float(most)
    return schema.FLOAT64, lambda random, _number: random.uniform(low, high)


def _decimal(scale: str = "2", least: str = "0", most: str = "1000") -> tuple[Schema, Generate]:
    digits = int(scale)
    low, high = (int(Decimal(bound).scaleb(digits)) for bound in (least, most))
    return schema.decimal(digits), lambda random, _number: Decimal(random.randint(low, high)).scaleb(-digits)


def _boolean(share: str = "0.5") -> tuple[Schema, Generate]:
    probability = float(share)
    return schema.BOOLEAN, lambda random, _number: random.random() < probability


def _text(length: str = "16") -> tuple[Schema, Generate]:
    size = int(length)
    return schema.STRING, lambda random, _number: "".join(random.choices(_ALPHABET, k=size))


def _choice(*options: str) -> tuple[Schema, Generate]:
    words = [word.strip() for option in options for word in option.split("|")]
    if not words:
        raise ValueError(options)
    return schema.STRING, lambda random, _number: random.choice(words)


def _numbered(prefix: str, least: str = "1", most: str = "1000") -> tuple[Schema, Generate]:
    low, high = int(least), int(most)
    return schema.STRING, lambda random, _number: f"{prefix}{random.randint(low, high)}"


def _now() -> tuple[Schema, Generate]:
    return schema.TIMESTAMP_SCHEMA, lambda _random, _number: datetime.now(UTC)


def _past(days: str = "365") -> tuple[Schema, Generate]:
    seconds = float(days) * 86_400
    return (
        schema.TIMESTAMP_SCHEMA,
        lambda random, _number: datetime.now(UTC) - timedelta(seconds=random.random() * seconds),
    )


def _words(generate: Callable[[Random], str]) -> Callable[[], tuple[Schema, Generate]]:
    return lambda: (schema.STRING, lambda random, _number: generate(random))


def _email(random: Random) -> str:
    first, last = random.choice(FIRST_NAMES), random.choice(LAST_NAMES)
    return f"{first}.{last}@{random.choice(DOMAINS)}".lower()


_KINDS: Final[Mapping[str, Callable[..., tuple[Schema, Generate]]]] = {
    "sequence": _sequence,
    "int": _int,
    "double": _double,
    "decimal": _decimal,
    "boolean": _boolean,
    "text": _text,
    "choice": _choice,
    "numbered": _numbered,
    "now": _now,
    "past": _past,
    "name": _words(lambda random: f"{random.choice(FIRST_NAMES)} {random.choice(LAST_NAMES)}"),
    "email": _words(_email),
    "city": _words(lambda random: random.choice(CITIES)),
    "country": _words(lambda random: random.choice(COUNTRIES)),
    "ip": _words(lambda random: f"192.0.2.{random.randint(1, 254)}"),
    "uuid": _words(lambda random: str(uuid.UUID(int=random.getrandbits(128), version=4))),
}
