"""The parts of a `.proto` file as they were written, before any name is resolved.

What a file says of itself stands here and nothing else: the parser and the descriptor reader make these values, and the printer,
the scope and the comparison read them. Comments are not kept, because the registry's text has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum as Enumeration
from typing import Final, TypeAlias

TAG_MAX: Final = 536_870_911
"""The greatest number of a field: 29 bits, since three bits of the key hold the wire type. `max` in a range stands for it."""


LEVELS_MAX: Final = 64
"""How deep messages may stand in messages, and values in the value of an option. Compilers stop at 32."""


EXCERPT_MAX_CHARACTERS: Final = 300
"""How much of a text a message quotes."""


def excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT_MAX_CHARACTERS else f"{text[:EXCERPT_MAX_CHARACTERS]}…"


class Syntax(Enumeration):
    PROTO2 = "proto2"
    PROTO3 = "proto3"


class Label(Enumeration):
    REQUIRED = "required"
    OPTIONAL = "optional"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Position:
    """Where something stands in the text, both from 1; (0, 0) is what came from a descriptor."""

    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


NOWHERE: Final = Position()


class WordKind(Enumeration):
    """What an unquoted value of an option is."""

    BOOLEAN = "boolean"
    NUMBER = "number"
    ENUM = "enum"


@dataclass(frozen=True, slots=True)
class Word:
    """An unquoted value of an option, as it was written: `true`, `-1.5e3`, `SPEED`, `inf`."""

    kind: WordKind
    text: str


OptionValue: TypeAlias = "str | Word | Option | Mapping[str, OptionValue] | tuple[OptionValue, ...]"
"""A quoted text, a word, the rest of a path (`(a).b.c = 1` is an option in an option), a message or a list."""


@dataclass(frozen=True, slots=True)
class Option:
    """`name` has no parentheses; `custom` tells whether they stood there, so that it names an extension."""

    name: str
    value: OptionValue
    custom: bool = False
    position: Position = field(default=NOWHERE, compare=False)


def text_of(value: OptionValue) -> str:
    """A quoted text or a word without its quotes."""
    return value.text if isinstance(value, Word) else str(value)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers `start to end`, both included. A single number was written without `to`."""

    start: int
    end: int
    single: bool = False


@dataclass(frozen=True, slots=True)
class Reserved:
    values: tuple[str | Range, ...]
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Extensions:
    values: tuple[Range, ...]
    options: tuple[Option, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class MapType:
    """The types of `map<key, value>` as they were written."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field. `type` is as it was written: a scalar's name, a message's or enum's name in any of its forms, or `map<k, v>`."""

    name: str
    tag: int
    type: str
    label: Label | None = None
    default: str | None = None
    json_name: str | None = None
    options: tuple[Option, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)

    @property
    def map_type(self) -> MapType | None:
        if not (self.type.startswith("map<") and self.type.endswith(">")):
            return None
        key, _, value = self.type[len("map<") : -1].partition(",")
        return MapType(key.strip(), value.strip())


@dataclass(frozen=True, slots=True)
class Group:
    """A proto2 group: a field and a message in one. Its fields are all that the registry's text keeps of its body."""

    name: str
    tag: int
    label: Label | None = None
    fields: tuple[Field, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class OneOf:
    name: str
    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()
    options: tuple[Option, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Extend:
    """Fields added to the message `name` (as it was written) from outside."""

    name: str
    fields: tuple[Field, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class EnumConstant:
    name: str
    tag: int
    options: tuple[Option, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Enum:
    name: str
    constants: tuple[EnumConstant, ...] = ()
    options: tuple[Option, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Message:
    name: str
    fields: tuple[Field, ...] = ()
    oneofs: tuple[OneOf, ...] = ()
    groups: tuple[Group, ...] = ()
    types: tuple[Message | Enum, ...] = ()
    options: tuple[Option, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    extensions: tuple[Extensions, ...] = ()
    extends: tuple[Extend, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)

    @property
    def map_entry(self) -> bool:
        """Whether the compiler made it for a map field: descriptors write maps so."""
        return any(
            option.name == "map_entry" and option.value == Word(WordKind.BOOLEAN, "true") for option in self.options
        )

    def all_fields(self) -> Iterator[Field]:
        """Its own fields, then those of its oneofs; groups are apart."""
        yield from self.fields
        for oneof in self.oneofs:
            yield from oneof.fields


@dataclass(frozen=True, slots=True)
class Rpc:
    name: str
    request: str
    response: str
    request_streams: bool = False
    response_streams: bool = False
    options: tuple[Option, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    rpcs: tuple[Rpc, ...] = ()
    options: tuple[Option, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ProtoFile:
    """A file. `syntax` is None where the file does not say, which means proto2."""

    syntax: Syntax | None = None
    package: str | None = None
    imports: tuple[str, ...] = ()
    public_imports: tuple[str, ...] = ()
    weak_imports: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    types: tuple[Message | Enum, ...] = ()
    extends: tuple[Extend, ...] = ()
    services: tuple[Service, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(one for one in self.types if isinstance(one, Message))

    @property
    def enums(self) -> tuple[Enum, ...]:
        return tuple(one for one in self.types if isinstance(one, Enum))
