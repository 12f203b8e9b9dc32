"""Protobuf through a registry."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.kernel.serdes.codecs import Codec, CodecOptions
from barnabas.kernel.serdes.framing import read_message_indexes
from barnabas.kernel.serdes.protobuf import ProtobufCodec
from barnabas.kernel.serdes.registry_client import SchemaKey
from barnabas.kernel.serdes.schema_text import PROTOBUF, SchemaText
from connect.api.settings import setting
from connect.converters.converter import SchemaAndValue
from connect.converters.protobuf_description import ProtobufDescription
from connect.converters.protobuf_names import ProtobufOptions
from connect.converters.protobuf_reading import Part, ProtobufReading
from connect.converters.protobuf_values import ProtobufWriting
from connect.converters.registered import Read, RegisteredConverter, Written
from connect.converters.registry_settings import RegistrySettings
from connect.data.schema import Schema, Type
from connect.errors import DataError


@dataclass(frozen=True, slots=True)
class ProtobufConverterSettings(RegistrySettings):
    enhanced: bool = setting(
        "enhanced.protobuf.schema.support", "Name schemas by the full names of messages, with their package.", False
    )
    scrub_invalid_names: bool = setting(
        "scrub.invalid.names", "Replace what Protobuf does not allow in names of fields and messages.", False
    )
    optional_for_nullables: bool = setting(
        "optional.for.nullables", "Write fields that may be null as optional ones, which tell null from zero.", False
    )
    wrapper_for_nullables: bool = setting(
        "wrapper.for.nullables", "Write fields that may be null as messages such as google.protobuf.StringValue.", False
    )
    generate_index_for_unions: bool = setting(
        "generate.index.for.unions", "Name the field of a oneof by its name and its number.", True
    )
    ignore_default_for_nullables: bool = setting(
        "ignore.default.for.nullables", "Leave null out where a field has a default and may be null.", False
    )

    @property
    def options(self) -> ProtobufOptions:
        return ProtobufOptions(
            self.enhanced,
            self.scrub_invalid_names,
            self.optional_for_nullables,
            self.wrapper_for_nullables,
            self.generate_index_for_unions,
        )


class ProtobufConverter(RegisteredConverter):
    """Protobuf whose schemas stand in a schema registry."""

    settings_type = ProtobufConverterSettings
    settings: ProtobufConverterSettings
    codec_options = CodecOptions(keeps_names=True)

    def written(self, schema: Schema) -> Written:
        options = self.settings.options
        text = ProtobufDescription(options).text(schema)
        writing = ProtobufWriting(options, replaces_null=not self.settings.ignore_default_for_nullables)
        convert = writing.compile(schema)
        if schema.type is not Type.STRUCT:
            return Written(SchemaText(text, PROTOBUF), lambda value: {"value": convert(value)})
        return Written(SchemaText(text, PROTOBUF), convert)

    def written_plain(self) -> Written:
        raise DataError("ProtobufConverter needs a schema for each record: let the source give schemas")

    def reader(self, key: SchemaKey, schema: SchemaText, codec: Codec) -> Read:
        if not isinstance(codec, ProtobufCodec):
            raise DataError(f"the schema {key} is of the type {schema.type}: use another converter for this topic")
        parts: dict[tuple[int, ...], Part] = {}

        def read(body: bytes) -> SchemaAndValue:
            indexes, _ = read_message_indexes(body)
            part = parts.get(indexes)
            if part is None:
                part = parts[indexes] = ProtobufReading(self.settings.options).root(codec.descriptor(indexes))
            value = codec.decode(body)
            return SchemaAndValue(part.schema, value if part.convert is None else part.convert(value))

        return read
