"""Reads a `.proto` text of proto2 or proto3 as Square's wire does, on which Confluent's registry stands.

What wire takes is taken here, and what it refuses is refused with the same words. Two things are more liberal, since no compiler
objects to them: a comment behind a field may be followed by more on its line, and exponents may have a plus sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum as Enumeration
from typing import Final, TypeAlias, TypeVar

from schema_registry.formats.parsed_schema import SCHEMA_MAX_CHARACTERS, InvalidSchema
from schema_registry.formats.protobuf.elements import (
    LEVELS_MAX,
    TAG_MAX,
    Enum,
    EnumConstant,
    Extend,
    Extensions,
    Field,
    Group,
    Label,
    Message,
    OneOf,
    Option,
    Position,
    ProtoFile,
    Range,
    Reserved,
    Rpc,
    Service,
    Syntax,
    text_of,
)
from schema_registry.formats.protobuf.option_reader import OptionReader
from schema_registry.formats.protobuf.tokens import Reader

T = TypeVar("T")

_SLASHES = re.compile(r"[/\\]")

Declaration: TypeAlias = (
    Message | Enum | Service | Extend | Option | Reserved | Rpc | OneOf | Extensions | Field | Group | EnumConstant
)


class _Place(Enumeration):
    """In what a declaration stands."""

    FILE = "file"
    MESSAGE = "message"
    ENUM = "enum"
    EXTEND = "extend"
    SERVICE = "service"
    RPC = "rpc"


_IN_FILE: Final = (_Place.FILE,)
_IN_FILE_OR_MESSAGE: Final = (_Place.FILE, _Place.MESSAGE)
_EVERYWHERE: Final = tuple(_Place)


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a keyword begins: where it may stand, and how the rest of it is read."""

    places: tuple[_Place, ...]
    read: Callable[[Position], Declaration | None]


def parse(text: str) -> ProtoFile:
    """The file that the text describes; ProtoSyntaxError says where it does not."""
    if len(text) > SCHEMA_MAX_CHARACTERS:
        raise InvalidSchema(
            f"the schema has {len(text)} characters; at most {SCHEMA_MAX_CHARACTERS} are taken, so split it up"
        )
    reader = Reader(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise reader.error_at(error.start, "half of a character: a surrogate without its other half") from None
    return _Parser(reader).file()


class _Parser:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._options = OptionReader(reader)
        self._syntax: Syntax | None = None
        self._package: str | None = None
        self._imports: dict[str, list[str]] = {"": [], "public": [], "weak": []}
        self._declarations = 0
        self._depth = 0
        self._statements = {
            "package": _Statement(_IN_FILE, self._read_package),
            "import": _Statement(_IN_FILE, self._read_import),
            "syntax": _Statement(_IN_FILE, self._read_syntax),
            "option": _Statement(_EVERYWHERE, self._read_option),
            "reserved": _Statement(_EVERYWHERE, self._read_reserved),
            "message": _Statement(_IN_FILE_OR_MESSAGE, self._read_message),
            "enum": _Statement(_IN_FILE_OR_MESSAGE, self._read_enum),
            "service": _Statement(_IN_FILE, self._read_service),
            "extend": _Statement(_IN_FILE_OR_MESSAGE, self._read_extend),
            "rpc": _Statement((_Place.SERVICE,), self._read_rpc),
            "oneof": _Statement((_Place.MESSAGE,), self._read_oneof),
            "extensions": _Statement((_Place.MESSAGE,), self._read_extensions),
        }

    def file(self) -> ProtoFile:
        declared: list[Declaration] = []
        while not self._reader.exhausted():
            declaration = self._read_declaration(_Place.FILE)
            if declaration is not None:
                declared.append(declaration)
        self._refuse_duplicates([one for one in declared if isinstance(one, Message | Enum)])
        self._refuse_duplicates([one for one in declared if isinstance(one, Service)])
        return ProtoFile(
            syntax=self._syntax,
            package=self._package,
            imports=tuple(self._imports[""]),
            public_imports=tuple(self._imports["public"]),
            weak_imports=tuple(self._imports["weak"]),
            options=_only(declared, Option),
            types=tuple(one for one in declared if isinstance(one, Message | Enum)),
            extends=_only(declared, Extend),
            services=_only(declared, Service),
        )

    def _refuse_duplicates(self, declared: list[Message | Enum] | list[Service]) -> None:
        seen: dict[str, Position] = {}
        for one in declared:
            first = seen.setdefault(one.name, one.position)
            if first is not one.position:
                raise InvalidSchema(
                    f"{one.name} (:{one.position.line}:{one.position.column}) is already defined at "
                    f":{first.line}:{first.column}"
                )

    def _read_declaration(self, place: _Place) -> Declaration | None:
        first = self._declarations == 0
        self._declarations += 1
        reader = self._reader
        # Stray semicolons are common behind nested messages.
        if reader.take(";"):
            return None
        position = reader.position()
        word = reader.word(leading_digit=place is not _Place.ENUM)
        statement = self._statements.get(word)
        if statement is not None and place in statement.places:
            if word == "syntax" and not first:
                self._refuse_late_syntax(position)
            return statement.read(position)
        if place in (_Place.MESSAGE, _Place.EXTEND):
            return self._read_field(position, word)
        if place is _Place.ENUM:
            return self._read_constant(position, word)
        if word == "edition" and place is _Place.FILE:
            raise reader.error("edition is not currently supported")
        raise reader.error(f"unexpected label: {word}", position)

    def _refuse_late_syntax(self, position: Position) -> None:
        if self._syntax is not None:
            raise self._reader.error("too many syntax definitions", position)
        self._reader.require("=")
        raise self._reader.error("'syntax' element must be the first declaration in a file", position)

    def _read_block(self, place: _Place) -> list[Declaration]:
        """Everything in `{…}`."""
        self._depth += 1
        if self._depth > LEVELS_MAX:
            raise self._reader.error(f"declarations nest more than {LEVELS_MAX} levels deep")
        self._reader.require("{")
        declared: list[Declaration] = []
        while not self._reader.take("}"):
            declaration = self._read_declaration(place)
            if declaration is not None:
                declared.append(declaration)
        self._depth -= 1
        return declared

    def _read_package(self, _position: Position) -> None:
        self._package = self._reader.name()
        self._reader.require(";")

    def _read_import(self, position: Position) -> None:
        reader = self._reader
        kind = "" if reader.peek() in "\"'" else reader.word()
        if kind not in self._imports:
            raise reader.error("expected quoted string", position)
        self._imports[kind].append(_path(reader.quoted()))
        reader.require(";")

    def _read_syntax(self, position: Position) -> None:
        self._reader.require("=")
        text = self._reader.quoted()
        try:
            self._syntax = Syntax(text)
        except ValueError:
            raise self._reader.error(f"unexpected syntax: {text}", position) from None
        self._reader.require(";")

    def _read_option(self, _position: Position) -> Option:
        option = self._options.option()
        self._reader.require(";")
        return option

    def _read_message(self, position: Position) -> Message:
        name = self._reader.name()
        declared = self._read_block(_Place.MESSAGE)
        return Message(
            name=name,
            fields=_only(declared, Field),
            oneofs=_only(declared, OneOf),
            groups=_only(declared, Group),
            types=tuple(one for one in declared if isinstance(one, Message | Enum)),
            options=_only(declared, Option),
            reserved=_only(declared, Reserved),
            extensions=_only(declared, Extensions),
            extends=_only(declared, Extend),
            position=position,
        )

    def _read_enum(self, position: Position) -> Enum:
        name = self._reader.name()
        declared = self._read_block(_Place.ENUM)
        return Enum(
            name, _only(declared, EnumConstant), _only(declared, Option), _only(declared, Reserved), position=position
        )

    def _read_service(self, position: Position) -> Service:
        name = self._reader.name()
        declared = self._read_block(_Place.SERVICE)
        return Service(name, _only(declared, Rpc), _only(declared, Option), position)

    def _read_extend(self, position: Position) -> Extend:
        name = self._reader.name()
        return Extend(name, _only(self._read_block(_Place.EXTEND), Field), position)

    def _read_rpc(self, position: Position) -> Rpc:
        reader = self._reader
        name = reader.name()
        request, request_streams = self._read_rpc_type()
        if reader.word() != "returns":
            raise reader.error("expected 'returns'", position)
        response, response_streams = self._read_rpc_type()
        options: tuple[Option, ...] = ()
        if reader.peek() == "{":
            options = _only(self._read_block(_Place.RPC), Option)
        else:
            reader.require(";")
        return Rpc(name, request, response, request_streams, response_streams, options, position)

    def _read_rpc_type(self) -> tuple[str, bool]:
        reader = self._reader
        reader.require("(")
        word = reader.word()
        streams = word == "stream"
        type_name = reader.data_type(None if streams else word)
        reader.require(")")
        return type_name, streams

    def _read_oneof(self, position: Position) -> OneOf:
        reader = self._reader
        name = reader.name()
        fields: list[Field] = []
        groups: list[Group] = []
        options: list[Option] = []
        reader.require("{")
        while not reader.take("}"):
            inner = reader.position()
            word = reader.data_type()
            if word == "group":
                groups.append(self._read_group(inner, None))
            elif word == "option":
                options.append(self._read_option(inner))
            else:
                fields.append(self._read_rest_of_field(inner, None, word))
        return OneOf(name, tuple(fields), tuple(groups), tuple(options), position)

    def _read_field(self, position: Position, word: str) -> Field | Group:
        reader = self._reader
        label: Label | None = None
        if word in (one.value for one in Label):
            label = Label(word)
            if label is Label.REQUIRED and self._syntax is Syntax.PROTO3:
                raise reader.error("'required' label forbidden in proto3 field declarations", position)
            type_name = reader.data_type()
        else:
            if self._syntax is not Syntax.PROTO3 and not (word == "map" and reader.peek() == "<"):
                raise reader.error(f"unexpected label: {word}", position)
            type_name = reader.data_type(word)
        if label is not None and type_name.startswith("map<"):
            raise reader.error("'map' type cannot have label", position)
        if type_name == "group":
            return self._read_group(position, label)
        return self._read_rest_of_field(position, label, type_name)

    def _read_rest_of_field(self, position: Position, label: Label | None, type_name: str) -> Field:
        reader = self._reader
        name = reader.name(leading_digit=False)
        reader.require("=")
        tag = reader.integer()
        options = self._options.bracketed()
        reader.require(";")
        # Two names look like options and are none: descriptors keep them elsewhere.
        return Field(
            name=name,
            tag=tag,
            type=type_name,
            label=label,
            default=_last_text(options, "default"),
            json_name=_last_text(options, "json_name"),
            options=tuple(option for option in options if option.name not in ("default", "json_name")),
            position=position,
        )

    def _read_group(self, position: Position, label: Label | None) -> Group:
        reader = self._reader
        name = reader.word()
        reader.require("=")
        tag = reader.integer()
        fields: list[Field] = []
        reader.require("{")
        while not reader.take("}"):
            inner = reader.position()
            field = self._read_field(inner, reader.word())
            if isinstance(field, Group):
                raise reader.error("expected field declaration, was a group", inner)
            fields.append(field)
        return Group(name, tag, label, tuple(fields), position)

    def _read_constant(self, position: Position, name: str) -> EnumConstant:
        self._reader.require("=")
        tag = self._reader.integer()
        options = self._options.bracketed()
        self._reader.require(";")
        return EnumConstant(name, tag, options, position)

    def _read_reserved(self, position: Position) -> Reserved:
        reader = self._reader
        values: list[str | Range] = []
        while True:
            if reader.peek() in "\"'":
                values.append(reader.quoted())
            else:
                values.append(self._read_range(position, ",;", "expected ',', ';', or 'to'"))
            if self._ends_list():
                return Reserved(tuple(values), position)

    def _read_extensions(self, position: Position) -> Extensions:
        values: list[Range] = []
        while True:
            values.append(self._read_range(position, ",;[", "expected ',', ';', '[' or 'to'"))
            if self._reader.peek() == "[":
                options = self._options.bracketed()
                self._reader.require(";")
                return Extensions(tuple(values), options, position)
            if self._ends_list():
                return Extensions(tuple(values), (), position)

    def _read_range(self, position: Position, ends: str, expectation: str) -> Range:
        reader = self._reader
        start = reader.integer()
        if reader.peek() in ends:
            return Range(start, start, single=True)
        if reader.word() != "to":
            raise reader.error(expectation, position)
        end = reader.word()
        return Range(start, TAG_MAX if end == "max" else reader.to_integer(end))

    def _ends_list(self) -> bool:
        character = self._reader.read()
        if character not in ",;":
            raise self._reader.error("expected ',' or ';'")
        return character == ";"


def _only(declared: list[Declaration], kind: type[T]) -> tuple[T, ...]:
    return tuple(one for one in declared if isinstance(one, kind))


def _last_text(options: tuple[Option, ...], name: str) -> str | None:
    values = [option.value for option in options if option.name == name]
    return text_of(values[-1]) if values else None


def _path(text: str) -> str:
    """The path of an import with single forward slashes and without `.` in it."""
    absolute = text[:1] in ("/", "\\")
    parts = [part for part in _SLASHES.split(text) if part not in ("", ".")]
    while absolute and parts[:1] == [".."]:
        del parts[0]
    return ("/" if absolute else "") + "/".join(parts) or "."
