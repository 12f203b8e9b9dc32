"""Protobuf: values in Protobuf's JSON mapping to its binary data and back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple

from barnabas.kernel.serdes.framing import read_message_indexes, write_message_indexes
from barnabas.kernel.serdes.protobuf_mapping import MessageMapping, UnusualError
from barnabas.kernel.serdes.serdes_error import MissingLibraryError, SerdesError, ValueMismatchError

ROOT_FILE: Final = "default.proto"
# Imports that every registry knows and that come with no schema: the first is options alone, which readers may skip.
_CONFLUENT_META: Final = "confluent/meta.proto"
_CONFLUENT_DECIMAL: Final = "confluent/type/decimal.proto"
_GOOGLE: Final = ("google/protobuf/", "google/type/")


class ProtobufCodec:
    """The messages of one file. `text` and the texts it imports are what a registry gives with `format=serialized`.

    `encode` writes one message, the file's first unless a full name says otherwise; `decode` reads whichever the data names.
    """

    def __init__(
        self,
        text: str,
        referenced: Mapping[str, str] | None = None,
        *,
        message: str | None = None,
        keeps_names: bool = False,
    ) -> None:
        try:
            from google.protobuf import json_format, message_factory
            from google.protobuf.message import DecodeError, EncodeError
        except ImportError:
            raise MissingLibraryError("Protobuf", "protobuf") from None
        self._json = json_format
        self._decode_error = DecodeError
        builtin = (AttributeError, TypeError, ValueError, OverflowError, RecursionError)
        self._refusals = (json_format.Error, EncodeError, *builtin)
        self._class_of = message_factory.GetMessageClass
        self._keeps_names = keeps_names
        self._pool, self._file = _load(text, referenced or {})
        self._messages: dict[tuple[int, ...], _Message] = {}
        indexes = (0,) if message is None else _indexes_of(self._file, message)
        self._written = self._message(indexes)
        self.preamble = write_message_indexes(indexes)

    def encode(self, value: Any) -> bytes:
        written = self._written
        if written.mapping is not None:
            try:
                data: bytes = written.make(**written.mapping.arguments(value)).SerializeToString()
            except ValueMismatchError:
                raise
            except (UnusualError, *self._refusals):
                # What is wrong, or only rare, the library tells.
                pass
            else:
                return data
        return self._encode_by_library(written.make(), value)

    def _encode_by_library(self, made: Any, value: Any) -> bytes:
        name = made.DESCRIPTOR.full_name
        if type(value) is not dict and not name.startswith("google.protobuf."):
            raise ValueMismatchError(f"not a {name}: {value!r:.80} is no object")
        try:
            self._json.ParseDict(value, made, descriptor_pool=self._pool)
            data: bytes = made.SerializeToString()
        except self._refusals as error:
            raise ValueMismatchError(f"not a {name}: {error}") from None
        return data

    def decode(self, body: bytes) -> Any:
        indexes, start = read_message_indexes(body)
        found = self._message(indexes)
        made = found.make()
        try:
            made.ParseFromString(body[start:])
        except self._decode_error as error:
            raise SerdesError(f"the data is not a {made.DESCRIPTOR.full_name}: {error}") from None
        try:
            return self._shown(found, made)
        except (self._json.Error, ValueError) as error:
            # A Value of NaN, a Timestamp of the year 10,000: there are messages that JSON has no form for.
            raise SerdesError(f"the {made.DESCRIPTOR.full_name} cannot be shown as JSON: {error}") from None

    def _shown(self, found: _Message, made: Any) -> Any:
        if found.mapping is not None:
            return found.mapping.to_json(made)
        return self._json.MessageToDict(
            made,
            always_print_fields_with_no_presence=True,
            preserving_proto_field_name=self._keeps_names,
            descriptor_pool=self._pool,
        )

    def descriptor(self, indexes: tuple[int, ...]) -> Any:
        """The description of a message by its place in the file."""
        return _descriptor_at(self._file, indexes)

    def _message(self, indexes: tuple[int, ...]) -> _Message:
        found = self._messages.get(indexes)
        if found is None:
            descriptor = self.descriptor(indexes)
            try:
                mapping = MessageMapping(descriptor, self._pool, keeps_names=self._keeps_names)
            except UnusualError:
                mapping = None
            found = self._messages[indexes] = _Message(self._class_of(descriptor), mapping)
        return found


class _Message(NamedTuple):
    """A message's class, and its mapping if the library is not needed."""

    make: Any
    mapping: MessageMapping | None


def _load(text: str, referenced: Mapping[str, str]) -> tuple[Any, Any]:
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    try:
        for name, other in referenced.items():
            _add_file(pool, _parsed(other, name))
        _add_file(pool, _parsed(text, ROOT_FILE))
        return pool, pool.FindFileByName(ROOT_FILE)
    except (TypeError, KeyError) as error:
        raise SerdesError(f"the Protobuf schema cannot be used: {error}") from None


def _parsed(text: str, name: str) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    from google.protobuf.message import DecodeError

    file = FileDescriptorProto()
    try:
        file.ParseFromString(base64.b64decode(text, validate=True))
    except (DecodeError, binascii.Error) as error:
        raise SerdesError(f"{name} came as no serialized Protobuf file: {error}") from None
    file.name = name
    return file


def _add_file(pool: Any, file: Any) -> None:
    """Add a file behind the well-known ones that it imports; others were added before."""
    for name in file.dependency:
        try:
            pool.FindFileByName(name)
        except KeyError:
            _add_file(pool, _well_known(name))
    pool.Add(file)


def _well_known(name: str) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto()
    if name.startswith(_GOOGLE):
        try:
            found = import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
        except ImportError:
            raise SerdesError(f"{name} is imported, and the library googleapis-common-protos is not there") from None
        found.DESCRIPTOR.CopyToProto(file)
    elif name == _CONFLUENT_META:
        file.name, file.package = name, "confluent"
    elif name == _CONFLUENT_DECIMAL:
        file.name, file.package, file.syntax = name, "confluent.type", "proto3"
        decimal = file.message_type.add(name="Decimal")
        for number, (field, kind) in enumerate((("value", "BYTES"), ("precision", "UINT32"), ("scale", "INT32")), 1):
            added = decimal.field.add(name=field, number=number, json_name=field)
            added.type = added.Type.Value(f"TYPE_{kind}")
            added.label = added.Label.Value("LABEL_OPTIONAL")
    else:
        raise SerdesError(f"{name} is imported, and no reference of the schema has this name")
    return file


def _descriptor_at(file: Any, indexes: tuple[int, ...]) -> Any:
    found = None
    inside = list(file.message_types_by_name.values())
    for number in indexes:
        if not 0 <= number < len(inside):
            raise SerdesError(f"the data names message {list(indexes)}, and the schema has none there")
        found = inside[number]
        inside = found.nested_types
    return found


def _indexes_of(file: Any, full_name: str) -> tuple[int, ...]:
    def search(inside: Any, path: tuple[int, ...]) -> tuple[int, ...] | None:
        for number, each in enumerate(inside):
            if each.full_name == full_name:
                return (*path, number)
            if found := search(each.nested_types, (*path, number)):
                return found
        return None

    found = search(file.message_types_by_name.values(), ())
    if found is None:
        names = ", ".join([each.full_name for each in file.message_types_by_name.values()])
        raise SerdesError(f"the Protobuf schema has no message {full_name!r}; it has {names}")
    return found
