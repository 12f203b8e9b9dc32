"""JSON whose schema is a JSON Schema in a registry."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from barnabas.kernel.serdes.codecs import Codec, CodecOptions
from barnabas.kernel.serdes.registry_client import SchemaKey
from barnabas.kernel.serdes.schema_text import JSON, SchemaText
from connect.api.settings import Importance, setting
from connect.converters.converter import SchemaAndValue
from connect.converters.json import decimal_format_setting, read_json
from connect.converters.json_schema_description import JsonSchemaDescription, JsonSchemaWriting
from connect.converters.json_schema_reading import JsonSchemaReader, JsonSchemaReading
from connect.converters.json_values import DecimalFormat
from connect.converters.registered import Read, RegisteredConverter, Written
from connect.converters.registry_settings import RegistrySettings
from connect.data.schema import Schema
from connect.errors import DataError


@dataclass(frozen=True, slots=True)
class JsonSchemaConverterSettings(RegistrySettings):
    allows_additional: bool = setting(
        "object.additional.properties", "Let objects have properties that their schema does not name.", True
    )
    optional_unless_required: bool = setting(
        "use.optional.for.nonrequired", "Read properties that the schema does not require as optional fields.", False
    )
    decimal_format: str = decimal_format_setting()
    flatten_singleton_unions: bool = setting(
        "flatten.singleton.unions", "Read a choice of one schema as that schema.", True, importance=Importance.LOW
    )
    ignore_default_for_nullables: bool = setting(
        "ignore.default.for.nullables", "Write null as null where a field has a default and may be null.", False
    )


class JsonSchemaConverter(RegisteredConverter):
    """JSON whose schemas stand in a schema registry."""

    settings_type = JsonSchemaConverterSettings
    settings: JsonSchemaConverterSettings
    # Schemas that were made from those of Connect hold for every value that was converted by them.
    codec_options = CodecOptions(validates=False)
    change_advice = (
        "To an object that is open, BACKWARD lets no property be added: set the compatibility of the subject to FORWARD or NONE "
        "(PUT /config/{subject}), or begin with a new subject and {converter}.object.additional.properties=false"
    )

    def written(self, schema: Schema) -> Written:
        writing = JsonSchemaWriting(
            DecimalFormat(self.settings.decimal_format.upper()),
            replaces_null=not self.settings.ignore_default_for_nullables,
        )
        description = JsonSchemaDescription(writing, allows_additional=self.settings.allows_additional)
        text = orjson.dumps(description.describe(schema)).decode()
        return Written(SchemaText(text, JSON), writing.compile(schema))

    def written_plain(self) -> Written:
        raise DataError(
            "JsonSchemaConverter needs a schema for each record: let the source give schemas, or use JsonConverter"
        )

    def reader(self, key: SchemaKey, schema: SchemaText, codec: Codec) -> Read:
        if schema.type != JSON:
            raise DataError(f"the schema {key} is of the type {schema.type}: use another converter for this topic")
        reader = JsonSchemaReader(
            self.referenced(schema),
            optional_unless_required=self.settings.optional_unless_required,
            flattens_singletons=self.settings.flatten_singleton_unions,
        )
        found = reader.read(schema.text)
        convert = JsonSchemaReading().compile(found)
        return lambda body: SchemaAndValue(found, read_json(convert, body))
