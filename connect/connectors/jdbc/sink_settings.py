"""The settings of the JDBC sink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from connect.api.settings import Importance, Width, setting
from connect.connectors.jdbc.connection_settings import ConnectionSettings
from connect.connectors.jdbc.writing.fields import COORDINATES, FieldRules
from connect.connectors.jdbc.writing.modes import InsertMode, KeyMode
from connect.connectors.jdbc.writing.moments import EpochUnit
from connect.errors import Problem

WRITES_GROUP: Final = "Writes"
MAPPING_GROUP: Final = "Data Mapping"
DDL_GROUP: Final = "DDL Support"
RETRIES_GROUP: Final = "Retries"
NO_LIMIT: Final = -1
_TOPIC: Final = "${topic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JdbcSinkSettings(ConnectionSettings):
    insert_mode: str = setting(
        "insert.mode",
        "insert: each record is a new row. upsert: the row of its key is changed, or made if there is none. "
        "update: the row of its key is changed, if there is one. multi: the same as insert.",
        InsertMode.INSERT.value,
        choices=tuple(mode.value for mode in InsertMode),
        any_case=True,
        importance=Importance.HIGH,
        group=WRITES_GROUP,
    )
    batch_size: int = setting(
        "batch.size",
        "How many rows one statement writes, at most. PostgreSQL's COPY has no such limit: it takes the records of a batch as they flow.",
        3000,
        minimum=1,
        group=WRITES_GROUP,
    )
    delete_enabled: bool = setting(
        "delete.enabled",
        "Whether a record without a value deletes the row of its key; pk.mode must be record_key.",
        False,
        group=WRITES_GROUP,
        dependents=("pk.mode",),
    )
    exactly_once: bool = setting(
        "exactly.once",
        "Keep offsets in a table of the database, in the transactions of the rows, so that each record is written once, whatever "
        "crashes. They win over those of Kafka's group: who wants records again deletes the rows of their topic there.",
        False,
        group=WRITES_GROUP,
    )
    exactly_once_table: str = setting(
        "exactly.once.table",
        "The table for offsets; it is made if there is none.",
        "connect_sink_offsets",
        importance=Importance.LOW,
        group=WRITES_GROUP,
    )
    mssql_use_merge_holdlock: bool = setting(
        "mssql.use.merge.holdlock",
        "Whether SQL Server keeps others from a key while it is written by an upsert.",
        True,
        importance=Importance.LOW,
        group=WRITES_GROUP,
    )
    table_types: tuple[str, ...] = setting(
        "table.types",
        "What may be written to: TABLE, PARTITIONED TABLE, VIEW.",
        ("TABLE",),
        importance=Importance.LOW,
        group=WRITES_GROUP,
    )
    table_name_format: str = setting(
        "table.name.format",
        "The table for the records of a topic; ${topic} stands for the topic's name. "
        "It may name a schema, and a catalog: catalog.schema.table.",
        _TOPIC,
        group=MAPPING_GROUP,
        width=Width.LONG,
    )
    pk_mode: str = setting(
        "pk.mode",
        "Where the primary key of a row comes from. none: there is none. kafka: topic, partition and offset of the record. "
        "record_key: the record's key. record_value: fields of its value.",
        KeyMode.NONE.value,
        choices=tuple(mode.value for mode in KeyMode),
        any_case=True,
        importance=Importance.HIGH,
        group=MAPPING_GROUP,
    )
    pk_fields: tuple[str, ...] = setting(
        "pk.fields",
        "The fields of the primary key; none: all there are. kafka: the names of three columns, for topic, partition and offset "
        f"({', '.join(COORDINATES)}, if none are given). record_key: fields of the key, or one name for a key that has no fields. "
        "record_value: fields of the value.",
        (),
        group=MAPPING_GROUP,
        width=Width.LONG,
    )
    fields_whitelist: tuple[str, ...] = setting(
        "fields.whitelist",
        "The fields of the value that are written, besides those of the key; none: all.",
        (),
        group=MAPPING_GROUP,
        width=Width.LONG,
    )
    replace_null_with_default: bool = setting(
        "replace.null.with.default",
        "Whether null is written as the default of its field, if it has one.",
        True,
        group=MAPPING_GROUP,
    )
    string_output_value_column_name: str = setting(
        "string.output.value.column.name",
        "The column for values that are plain text.",
        "record_value",
        importance=Importance.LOW,
        group=MAPPING_GROUP,
    )
    timestamp_fields_list: tuple[str, ...] = setting(
        "timestamp.fields.list",
        "Fields that hold times as whole numbers since 1970, to be written as times.",
        (),
        group=MAPPING_GROUP,
    )
    timestamp_precision_mode: str = setting(
        "timestamp.precision.mode",
        "The unit of the numbers of timestamp.fields.list.",
        EpochUnit.MICROSECONDS.value,
        choices=tuple(unit.value for unit in EpochUnit),
        any_case=True,
        group=MAPPING_GROUP,
    )
    date_timezone: str = setting(
        "date.timezone",
        "Taken so that existing configurations can be used; it changes nothing here, since dates are days and have no time zone.",
        "DB_TIMEZONE",
        choices=("DB_TIMEZONE", "UTC"),
        importance=Importance.LOW,
        group=MAPPING_GROUP,
    )
    auto_create: bool = setting(
        "auto.create", "Whether a table that is missing is made from the fields of the records.", False, group=DDL_GROUP
    )
    auto_evolve: bool = setting(
        "auto.evolve",
        "Whether columns are added for new fields, if these are optional or have a default. "
        "Columns are never changed or dropped.",
        False,
        group=DDL_GROUP,
    )
    max_retries: int = setting(
        "max.retries",
        "How often the same records are tried again while the database is away, before the task fails; -1: for ever.",
        10,
        minimum=NO_LIMIT,
        group=RETRIES_GROUP,
    )
    retry_backoff_ms: int = setting(
        "retry.backoff.ms",
        "How long to wait before they are tried again.",
        3000,
        unit="ms",
        minimum=0,
        group=RETRIES_GROUP,
    )
    trim_sensitive_log: bool = setting(
        "trim.sensitive.log",
        "Whether the database's messages, which may quote values of rows, are kept out of logs and errors.",
        False,
        importance=Importance.LOW,
        group=RETRIES_GROUP,
    )

    def problems(self) -> Iterator[Problem]:
        # No super() without its arguments in a dataclass with slots: the class is made anew.
        yield from ConnectionSettings.problems(self)
        mode = self.mode()
        keys = self.key_mode()
        if mode.needs_key and keys is KeyMode.NONE:
            yield Problem(
                "pk.mode", f"insert.mode={mode.value} needs a key: set pk.mode to kafka, record_key or record_value"
            )
        if self.delete_enabled and keys is not KeyMode.RECORD_KEY:
            yield Problem("delete.enabled", "only a record's key tells which row to delete: set pk.mode=record_key")
        if keys is KeyMode.KAFKA and len(self.pk_fields) not in (0, len(COORDINATES)):
            yield Problem("pk.fields", "pk.mode=kafka needs three names, for topic, partition and offset, or none")
        if not self.table_name_format.strip():
            yield Problem("table.name.format", "it names no table")

    def mode(self) -> InsertMode:
        return InsertMode(self.insert_mode.lower())

    def key_mode(self) -> KeyMode:
        return KeyMode(self.pk_mode.lower())

    def table_for(self, topic: str) -> str:
        return self.table_name_format.replace(_TOPIC, topic)

    def field_rules(self) -> FieldRules:
        return FieldRules(
            self.key_mode(), self.pk_fields, frozenset(self.fields_whitelist), self.string_output_value_column_name
        )

    def epoch_units(self) -> dict[str, EpochUnit]:
        """The fields whose numbers are times, with their units."""
        return dict.fromkeys(self.timestamp_fields_list, EpochUnit(self.timestamp_precision_mode.lower()))
