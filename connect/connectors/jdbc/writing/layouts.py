"""How the records of a run become rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from connect.api.record import Record
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.tables import Table
from connect.connectors.jdbc.writing.column_forms import ColumnForm, FormRules
from connect.connectors.jdbc.writing.definitions import NewColumn
from connect.connectors.jdbc.writing.fields import FieldRules, RecordShape, RowField
from connect.connectors.jdbc.writing.modes import KeyMode
from connect.connectors.jdbc.writing.rows import Rows, Target
from connect.connectors.jdbc.writing.runs import Run
from connect.connectors.jdbc.writing.structures import Structures
from connect.data.inference import infer_rows
from connect.errors import DataError

LAYOUTS_MAX: Final = 1_000
"""How many are kept: records without schema may have ever new fields."""
SCHEMA: Final = "schema"
PAYLOAD: Final = "payload"
WITH_SCHEMA: Final = (
    "the record's {part} is JSON with schema and payload, and was read as plain JSON: set {part}.converter.schemas.enable=true "
    "together with {part}.converter=org.apache.kafka.connect.json.JsonConverter for this connector"
)


@dataclass(frozen=True, slots=True)
class Layout:
    target: Target
    fields: tuple[RowField, ...]
    forms: tuple[ColumnForm, ...]

    def rows(self, records: Sequence[Record]) -> Rows:
        return self._rows(records, len(self.fields))

    def keys(self, records: Sequence[Record]) -> Rows:
        """The columns of the key alone."""
        return self._rows(records, self.target.key_count)

    def _rows(self, records: Sequence[Record], count: int) -> Rows:
        wanted = zip(self.fields[:count], self.forms[:count], strict=True)
        return Rows([form.converted(field.column(records)) for field, form in wanted])


class Layouts:
    """Makes layouts, and the tables for them, and keeps them until `forget`."""

    def __init__(self, structures: Structures, fields: FieldRules, forms: FormRules) -> None:
        self._structures = structures
        self._field_rules = fields
        self._form_rules = forms
        self._layouts: dict[tuple[TableName, RecordShape, bool], Layout] = {}

    def forget(self) -> None:
        self._layouts.clear()
        self._structures.forget()

    def of(self, connection: Connection, name: TableName, run: Run) -> Layout | None:
        """None: the run only deletes, and there is no table to delete from."""
        known = (name, run.shape, run.has_values)
        layout = self._layouts.get(known)
        if layout is None:
            layout = self._made(connection, name, run)
            if layout is not None:
                if len(self._layouts) >= LAYOUTS_MAX:
                    self._layouts.clear()
                self._layouts[known] = layout
        return layout

    def _made(self, connection: Connection, name: TableName, run: Run) -> Layout | None:
        rules = self._field_rules
        table = self._structures.find(connection, name)
        if table is None or table.column(PAYLOAD) is None:
            _refuse_envelopes(run, has_key=rules.key_mode is KeyMode.RECORD_KEY)
        fields = rules.of(run.shape) if run.has_values else rules.keys_of(run.shape)
        if table is None and not run.has_values:
            return None
        if table is None or any(table.column(field.name) is None for field in fields):
            table = self._structures.with_columns(connection, name, self._new_columns(fields, table, run))
        columns = [(field, table.column(field.name)) for field in fields]
        found = [(field, column) for field, column in columns if column is not None]
        target = Target(table.name, tuple(column.name for _, column in found), sum(field.is_key for field in fields))
        return Layout(target, fields, tuple(self._form_rules.of(field, column) for field, column in found))

    def _new_columns(self, fields: Sequence[RowField], table: Table | None, run: Run) -> list[NewColumn]:
        """Those that the table lacks; what came without schema is found out from its values."""
        missing = [field for field in fields if table is None or table.column(field.name) is None]
        unknown = [field for field in missing if field.schema is None]
        records = [record for record in run.records if record.value is not None]
        values = {field.name: field.column(records) for field in unknown}
        rows = (dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True))
        inferred = infer_rows(rows)
        columns = []
        for field in missing:
            found = inferred.field_of(field.name)
            schema = field.schema if found is None else found.schema.as_optional()
            assert schema is not None, "what has no schema was inferred"
            column = NewColumn(field.name, schema, field.is_key)
            columns.append(column.as_time() if field.name in self._form_rules.epoch_units else column)
        return columns


def _refuse_envelopes(run: Run, *, has_key: bool) -> None:
    """DataError for JSON that brings its schema, of which the converter was not told: nobody means columns of these two names."""
    first = next((record for record in run.records if record.value is not None), run.records[0])
    if first.value_schema is None and _is_envelope(first.value):
        raise DataError(WITH_SCHEMA.format(part="value"))
    if has_key and first.key_schema is None and _is_envelope(first.key):
        raise DataError(WITH_SCHEMA.format(part="key"))


def _is_envelope(content: object) -> bool:
    return isinstance(content, dict) and content.keys() == {SCHEMA, PAYLOAD} and isinstance(content[SCHEMA], dict)
