"""The walk through two versions of a Protobuf schema that finds every difference, harmless ones too.

Messages and enums are matched by name, fields and constants by number. The type of a field is followed into imports alone: the types
of the schema itself are all compared where they are declared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from barnabas.kernel.java.hash_map import copy_capacity, hash_map_order
from schema_registry.formats.protobuf.elements import Enum, Field, Label, MapType, Message, ProtoFile
from schema_registry.formats.protobuf.field_type import FieldType, Kind, ScalarFamily
from schema_registry.formats.protobuf.message_fields import MessageFields
from schema_registry.formats.protobuf.rules import Rule
from schema_registry.formats.protobuf.type_table import DeclaredType, TypeTable

DEPTH_MAX_MESSAGES: Final = 60
"""How many messages deep the walk goes before it puts off what is deeper, to begin there anew: each level costs stack."""

REPETITION_MAX_MEMBERS: Final = 10_000
"""How many fields and constants are compared again before no pair of messages is compared more than once.

Like Confluent's, the walk enters an imported message once for every path of fields that leads to it. Messages that refer to each other
have more such paths than anyone can walk. What the limit leaves out was found before: the verdict is the same.
"""

_Element = TypeVar("_Element", Message, Enum)


@dataclass(frozen=True, slots=True)
class Change:
    """A difference, with what stands there on both sides for people to see (None: nothing)."""

    rule: Rule
    path: str
    reader: str | None
    writer: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk is: `path` is told to people, and field types are looked up within the messages of `names`."""

    reader: TypeTable
    writer: TypeTable
    path: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def at(self, *steps: str) -> Place:
        return Place(self.reader, self.writer, (*self.path, *steps), self.names)

    def inside(self, name: str) -> Place:
        return Place(self.reader, self.writer, (*self.path, name), (*self.names, name))

    def of_types(self, reader: DeclaredType, writer: DeclaredType) -> Place:
        """The place of two types with one local name, which is the path to them too."""
        names = tuple(writer.local_name.split("."))
        return Place(self.reader.from_package(reader.package), self.writer.from_package(writer.package), names, names)


@dataclass(frozen=True, slots=True)
class _PutOff:
    place: Place
    reader: Message
    writer: Message


@dataclass(frozen=True, slots=True)
class _FieldPair:
    """A field that both messages have."""

    tag: int
    reader: MessageFields
    writer: MessageFields


class Comparison:
    """One walk. `changes` is what it found."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._breaches = 0
        self._members_repeated = 0
        self._depth = 0
        self._open: set[int] = set()
        self._compared: set[tuple[int, int]] = set()
        self._put_off: list[_PutOff] = []

    def compare_files(self, place: Place, reader: ProtoFile, writer: ProtoFile) -> None:
        if place.reader.package != place.writer.package:
            self._add(Rule.PACKAGE_CHANGED, place, _package_text(reader), _package_text(writer))
        self._compare_types(place, reader.types, writer.types)
        while self._put_off:
            put_off = self._put_off.pop()
            if _pair(put_off.reader, put_off.writer) not in self._compared:
                self._compare_message(put_off.place, put_off.reader, put_off.writer)

    def _compare_types(self, place: Place, reader: Sequence[Message | Enum], writer: Sequence[Message | Enum]) -> None:
        reader_messages, writer_messages = _named(Message, reader), _named(Message, writer)
        reader_indexes, writer_indexes = _indexes(reader_messages), _indexes(writer_messages)
        for name in _in_hash_order(writer_messages, reader_messages):
            self._compare_messages(place.inside(name), reader_messages.get(name), writer_messages.get(name))
            if name in reader_indexes and name in writer_indexes and reader_indexes[name] != writer_indexes[name]:
                self._add(Rule.MESSAGE_MOVED, place.inside(name), f"message {name}", f"message {name}")
        reader_enums, writer_enums = _named(Enum, reader), _named(Enum, writer)
        for name in writer_enums | reader_enums:
            self._compare_enums(place.inside(name), reader_enums.get(name), writer_enums.get(name))

    def _compare_messages(self, place: Place, reader: Message | None, writer: Message | None) -> None:
        if reader is not None and writer is not None:
            self._compare_message(place, reader, writer)
        elif writer is not None and place.writer.has_message(writer.name, place.names):
            self._add(Rule.MESSAGE_REMOVED, place, None, f"message {writer.name}")
        elif reader is not None and place.reader.has_message(reader.name, place.names):
            self._add(Rule.MESSAGE_ADDED, place, f"message {reader.name}", None)

    def _compare_enums(self, place: Place, reader: Enum | None, writer: Enum | None) -> None:
        if reader is None or writer is None:
            if reader is not None:
                self._add(Rule.ENUM_ADDED, place, f"enum {reader.name}", None)
            elif writer is not None:
                self._add(Rule.ENUM_REMOVED, place, None, f"enum {writer.name}")
            return
        readers = {constant.tag: constant.name for constant in reader.constants}
        writers = {constant.tag: constant.name for constant in writer.constants}
        for tag in sorted(writers | readers):
            if tag not in readers:
                self._add(Rule.ENUM_CONST_REMOVED, place.at(str(tag)), None, writers[tag])
            elif tag not in writers:
                self._add(Rule.ENUM_CONST_ADDED, place.at(str(tag)), readers[tag], None)
            elif readers[tag] != writers[tag]:
                self._add(Rule.ENUM_CONST_CHANGED, place.at(str(tag)), readers[tag], writers[tag])

    def _compare_message(self, place: Place, reader: Message, writer: Message) -> None:
        pair = _pair(reader, writer)
        if pair in self._compared:
            if self._members_repeated >= REPETITION_MAX_MEMBERS:
                return
            self._members_repeated += _members(reader) + _members(writer)
        if self._depth == DEPTH_MAX_MESSAGES:
            self._put_off.append(_PutOff(place, reader, writer))
            return
        self._compared.add(pair)
        self._depth += 1
        if id(writer) in self._open:
            self._compare_types(place, reader.types, writer.types)
        else:
            self._open.add(id(writer))
            self._compare_fields(place, MessageFields.of(reader), MessageFields.of(writer))
            self._compare_types(place, reader.types, writer.types)
            self._open.remove(id(writer))
        self._depth -= 1

    def _compare_fields(self, place: Place, reader: MessageFields, writer: MessageFields) -> None:
        self._compare_exclusions(place, reader, writer)
        for name in sorted(reader.oneofs.keys() ^ writer.oneofs.keys()):
            if name in writer.oneofs:
                self._add(Rule.ONEOF_REMOVED, place.at(name), None, f"oneof {name}")
            else:
                self._add(Rule.ONEOF_ADDED, place.at(name), f"oneof {name}", None)
        given_up = writer.oneofs_given_up_in(reader)
        for tag in sorted(writer.by_tag | reader.by_tag):
            if tag not in writer.by_tag:
                self._add_new_field(place, tag, reader)
            elif tag in reader.by_tag:
                self._compare_field(place, _FieldPair(tag, reader, writer))
            elif writer.oneof_of_tag.get(tag) not in given_up:
                self._add_removed_field(place, tag, writer)

    def _compare_exclusions(self, place: Place, reader: MessageFields, writer: MessageFields) -> None:
        """Find fields that could be set together and no longer can: those of a oneof that were not all in one oneof before."""
        for oneof in reader.oneofs.values():
            known = [field.tag for field in oneof.fields if field.tag in writer.by_tag]
            outside = [tag for tag in known if tag not in writer.oneof_of_tag]
            origins = {writer.oneof_of_tag[tag] for tag in known if tag in writer.oneof_of_tag}
            if len(outside) + len(origins) < 2:
                continue
            rule = Rule.MULTIPLE_FIELDS_MOVED_TO_ONEOF if len(outside) > 1 else Rule.FIELD_MOVED_TO_EXISTING_ONEOF
            self._add(rule, place.at(oneof.name), reader.text_of(*known), writer.text_of(*known))

    def _add_removed_field(self, place: Place, tag: int, writer: MessageFields) -> None:
        if tag in writer.oneof_of_tag:
            rule = Rule.ONEOF_FIELD_REMOVED
        else:
            required = writer.by_tag[tag].label is Label.REQUIRED
            rule = Rule.REQUIRED_FIELD_REMOVED if required else Rule.FIELD_REMOVED
        self._add(rule, place.at(*writer.path_of(tag)), None, writer.text_of(tag))

    def _add_new_field(self, place: Place, tag: int, reader: MessageFields) -> None:
        if tag in reader.oneof_of_tag:
            rule = Rule.ONEOF_FIELD_ADDED
        else:
            required = reader.by_tag[tag].label is Label.REQUIRED
            rule = Rule.REQUIRED_FIELD_ADDED if required else Rule.FIELD_ADDED
        self._add(rule, place.at(*reader.path_of(tag)), reader.text_of(tag), None)

    def _compare_field(self, place: Place, fields: _FieldPair) -> None:
        tag = fields.tag
        if tag in fields.writer.oneof_of_tag and tag not in fields.reader.oneof_of_tag:
            self._add_to_field(Rule.ONEOF_FIELD_MOVED_TO_TOP_LEVEL, place, fields)
        reader, writer = fields.reader.by_tag[tag], fields.writer.by_tag[tag]
        if reader.name != writer.name:
            self._add_to_field(Rule.FIELD_NAME_CHANGED, place, fields)
        reader_type = FieldType.of_field(reader, place.reader, place.names)
        writer_type = FieldType.of_field(writer, place.writer, place.names)
        self._compare_field_types(place, fields, reader_type, writer_type)
        if reader_type.family is writer_type.family and _labels_differ(reader, writer):
            if reader_type.family is ScalarFamily.STRING_OR_BYTES:
                self._add_to_field(Rule.FIELD_STRING_OR_BYTES_LABEL_CHANGED, place, fields)
            elif reader_type.family is not None:
                self._add_to_field(Rule.FIELD_NUMERIC_LABEL_CHANGED, place, fields)

    def _compare_field_types(self, place: Place, fields: _FieldPair, reader: FieldType, writer: FieldType) -> None:
        if reader.kind is not writer.kind:
            self._add_to_field(Rule.FIELD_KIND_CHANGED, place, fields)
        elif reader.family is not writer.family:
            self._add_to_field(Rule.FIELD_SCALAR_KIND_CHANGED, place, fields)
        elif isinstance(reader.written, MapType) and isinstance(writer.written, MapType):
            self._compare_named_types(place, fields, reader.written.key, writer.written.key)
            self._compare_named_types(place, fields, reader.written.value, writer.written.value)
        elif reader.kind is Kind.MESSAGE and not self._same_message(place, reader, writer):
            self._add_to_field(Rule.FIELD_NAMED_TYPE_CHANGED, place, fields)

    def _compare_named_types(self, place: Place, fields: _FieldPair, reader: str, writer: str) -> None:
        reader_type = FieldType.of_name(reader, place.reader, place.names)
        writer_type = FieldType.of_name(writer, place.writer, place.names)
        self._compare_field_types(place, fields, reader_type, writer_type)

    def _same_message(self, place: Place, reader: FieldType, writer: FieldType) -> bool:
        """Whether two fields hold the same message; in what is imported there may be breaches, which are told too."""
        if reader.declared is None or writer.declared is None:
            return reader.written == writer.written
        reader_type = place.reader.find_again(reader.declared, place.names)
        writer_type = place.writer.find_again(writer.declared, place.names)
        if reader_type.local_name != writer_type.local_name:
            return False
        if not (reader_type.imported or writer_type.imported):
            return True
        breaches_before = self._breaches
        if isinstance(reader_type.element, Message) and isinstance(writer_type.element, Message):
            self._compare_message(place.of_types(reader_type, writer_type), reader_type.element, writer_type.element)
        return self._breaches == breaches_before

    def _add_to_field(self, rule: Rule, place: Place, fields: _FieldPair) -> None:
        here = place.at(*fields.reader.path_of(fields.tag))
        self._add(rule, here, fields.reader.text_of(fields.tag), fields.writer.text_of(fields.tag))

    def _add(self, rule: Rule, place: Place, reader: str | None, writer: str | None) -> None:
        self.changes.append(Change(rule, "#/" + "/".join(place.path), reader, writer))
        self._breaches += rule.breaks_readers


def _named(kind: type[_Element], types: Iterable[Message | Enum]) -> dict[str, _Element]:
    return {element.name: element for element in types if isinstance(element, kind)}


def _in_hash_order(writer: Collection[str], reader: Iterable[str]) -> list[str]:
    """The names of both sides in the order in which Confluent tells of them."""
    return hash_map_order([*hash_map_order(writer), *hash_map_order(reader)], copy_capacity(len(writer)))


def _indexes(names: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(names)}


def _members(message: Message) -> int:
    constants = sum(len(enum.constants) for enum in message.types if isinstance(enum, Enum))
    return 1 + sum(1 for _ in message.all_fields()) + constants


def _pair(reader: Message, writer: Message) -> tuple[int, int]:
    return id(reader), id(writer)


def _labels_differ(reader: Field, writer: Field) -> bool:
    """Only labels that were written count: proto3 has none on most fields."""
    return reader.label is not None and writer.label is not None and reader.label is not writer.label


def _package_text(file: ProtoFile) -> str | None:
    return f"package {file.package}" if file.package else None
