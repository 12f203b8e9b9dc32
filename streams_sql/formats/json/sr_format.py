"""JSON_SR: JSON behind the number of a JSON Schema in the registry.

Records are read by the rules of JSON, whatever their schema says; the schema tells columns and is what others read them by.
"""

from __future__ import annotations

import json

from barnabas.kernel.serdes.codecs import Codecs
from barnabas.kernel.serdes.registry_client import SchemaKey
from barnabas.kernel.serdes.schema_text import JSON, SchemaText
from streams_sql.formats.json.reading import json_reader
from streams_sql.formats.json.schema import has_entries, json_schema, read_json_schema
from streams_sql.formats.json.writing import json_writer
from streams_sql.formats.registered import ReadRow, RegisteredFormat, WriteRow
from streams_sql.formats.serde import Layout
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.formats.written import Fields, Part


class JsonSchemaFormat(RegisteredFormat):
    name = "JSON_SR"
    schema_type = JSON

    def schema(self, layout: Layout) -> SchemaText:
        return SchemaText(json.dumps(json_schema(layout)), JSON)

    def part(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> Part | None:
        return read_json_schema(schema.text, codecs.referenced(schema))

    def row_reader(self, schema: SchemaText, codecs: Codecs, key: SchemaKey, layout: Layout) -> ReadRow:
        return json_reader(layout, takes_entries=True)

    def row_writer(self, schema: SchemaText, codecs: Codecs, layout: Layout) -> WriteRow:
        write = json_writer(layout, maps_as_entries=has_entries(json.loads(schema.text)))
        others = self._other_properties(schema, codecs, layout)
        return write if not others else lambda row: {**others, **write(row)}

    def _other_properties(self, schema: SchemaText, codecs: Codecs, layout: Layout) -> dict[str, None]:
        """A schema that was chosen by its id may have more than the columns: that is null, and not left out."""
        part = read_json_schema(schema.text, codecs.referenced(schema)) if is_wrapped(layout) else None
        known = {column.name for column in layout.columns}
        return {name: None for name, _ in part.fields if name not in known} if isinstance(part, Fields) else {}
