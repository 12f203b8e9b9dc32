"""Avro through a registry."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from barnabas.kernel.serdes.codecs import Codec
from barnabas.kernel.serdes.registry_client import SchemaKey
from barnabas.kernel.serdes.schema_text import AVRO, SchemaText
from connect.api.settings import Importance, setting
from connect.converters.avro_reading import AvroReading
from connect.converters.avro_schema import AvroDescription, AvroOptions
from connect.converters.avro_values import ANYTHING_SCHEMA, AvroWriting, anything, from_anything
from connect.converters.converter import SchemaAndValue
from connect.converters.registered import Read, RegisteredConverter, Written
from connect.converters.registry_settings import RegistrySettings
from connect.data.schema import Schema
from connect.errors import DataError

_ANYTHING: Final = SchemaText(json.dumps(ANYTHING_SCHEMA, separators=(",", ":")), AVRO)


@dataclass(frozen=True, slots=True)
class AvroConverterSettings(RegistrySettings):
    enhanced: bool = setting(
        "enhanced.avro.schema.support", "Keep enums, and know types of unions by their full names.", False
    )
    scrub_invalid_names: bool = setting(
        "scrub.invalid.names", "Replace what Avro does not allow in names of fields and records.", False
    )
    connect_meta_data: bool = setting(
        "connect.meta.data",
        "Keep what only Connect knows of a schema as properties of the Avro schema.",
        True,
        importance=Importance.LOW,
    )
    allow_optional_map_keys: bool = setting(
        "allow.optional.map.keys",
        "Write maps whose keys are strings that may be null as Avro's maps.",
        False,
        importance=Importance.LOW,
    )
    flatten_singleton_unions: bool = setting(
        "flatten.singleton.unions", "Read a union of one type as that type.", True, importance=Importance.LOW
    )
    ignore_default_for_nullables: bool = setting(
        "ignore.default.for.nullables", "Write null as null where a field has a default and may be null.", False
    )

    @property
    def options(self) -> AvroOptions:
        return AvroOptions(
            self.connect_meta_data,
            self.enhanced,
            self.scrub_invalid_names,
            self.allow_optional_map_keys,
            self.flatten_singleton_unions,
        )


class AvroConverter(RegisteredConverter):
    """Avro whose schemas stand in a schema registry."""

    settings_type = AvroConverterSettings
    settings: AvroConverterSettings

    def written(self, schema: Schema) -> Written:
        options = self.settings.options
        description = AvroDescription(options)
        text = json.dumps(description.describe(schema), separators=(",", ":"), ensure_ascii=False)
        writing = AvroWriting(description, options, replaces_null=not self.settings.ignore_default_for_nullables)
        return Written(SchemaText(text, AVRO), writing.compile(schema))

    def written_plain(self) -> Written:
        return Written(_ANYTHING, anything)

    def reader(self, key: SchemaKey, schema: SchemaText, codec: Codec) -> Read:
        if schema.type != AVRO:
            raise DataError(f"the schema {key} is of the type {schema.type}: use another converter for this topic")
        if json.loads(schema.text) == ANYTHING_SCHEMA:
            return lambda body: SchemaAndValue(None, from_anything(codec.decode(body)))
        found = AvroReading(self.settings.options).read(schema.text, list(self.referenced(schema).values()))
        decode, made, convert = codec.decode, found.schema, found.convert
        if convert is None:
            return lambda body: SchemaAndValue(made, decode(body))
        return lambda body: SchemaAndValue(made, convert(decode(body)))
