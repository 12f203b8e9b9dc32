"""CREATE STREAM and CREATE TABLE: schemas, formats, properties."""

from __future__ import annotations

import pytest

from streams_sql.analysis.defaults import Defaults
from streams_sql.analysis.definition import missing_schema
from streams_sql.analysis.with_clause import TopicSettings, WithClause
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateSource, WindowKind
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, FormatUse, InferredSchema, KeyWindow, TimestampRule
from streams_sql.sql_types import BIGINT, STRING
from tests.streams_sql.analysis.catalogues import DEFAULTS, defined


def test_a_source_has_what_its_statement_says() -> None:
    source = defined(
        "CREATE SOURCE TABLE t (id INT PRIMARY KEY, v STRING, x DECIMAL(4, 2)) WITH (kafka_topic='a', key_format='json', "
        "value_format='Delimited', timestamp='v', timestamp_format='yyyy', window_type='hopping', window_size='2 Seconds')"
    )
    assert str(source.schema) == "`ID` INTEGER KEY, `V` STRING, `X` DECIMAL(4, 2)"
    assert (source.topic, source.is_table, source.is_read_only) == ("a", True, True)
    assert source.key_format == FormatUse("JSON", is_wrapped=False)
    assert source.value_format == FormatUse("DELIMITED")
    assert source.timestamp == TimestampRule("V", "yyyy")
    assert source.key_window == KeyWindow(WindowKind.HOPPING, 2000)


@pytest.mark.parametrize(
    ("properties", "key", "value"),
    [
        ("", FormatUse("KAFKA"), FormatUse("JSON")),
        ("format='JSON'", FormatUse("JSON", is_wrapped=False), FormatUse("JSON")),
        ("wrap_single_value=false", FormatUse("KAFKA"), FormatUse("JSON", is_wrapped=False)),
        (
            "key_format='DELIMITED', key_delimiter='TAB', value_format='DELIMITED', value_delimiter='|'",
            FormatUse("DELIMITED", "\t"),
            FormatUse("DELIMITED", "|"),
        ),
        (
            "format='AVRO', value_schema_full_name='a.B'",
            FormatUse("AVRO", is_wrapped=False, full_name="io.confluent.ksql.avro_schemas.MyStreamKey"),
            FormatUse("AVRO", full_name="a.B"),
        ),
        (
            "format='PROTOBUF', value_protobuf_nullable_representation='wrapper'",
            FormatUse("PROTOBUF"),
            FormatUse("PROTOBUF", nullable_as="WRAPPER"),
        ),
    ],
)
def test_formats(properties: str, key: FormatUse, value: FormatUse) -> None:
    comma = ", " if properties else ""
    source = defined(f"CREATE STREAM my_stream (k STRING KEY, v INT) WITH (kafka_topic='t'{comma}{properties})")
    assert (source.key_format, source.value_format) == (key, value)


@pytest.mark.parametrize(("wraps", "wanted"), [(None, None), (True, True), (False, False)])
def test_a_setting_says_how_single_values_stand(wraps: bool | None, wanted: bool | None) -> None:
    defaults = Defaults(value_format="JSON", wrap_single_values=wraps)
    assert defined("CREATE STREAM s (v INT) WITH (kafka_topic='t')", defaults).value_format.is_wrapped is wanted


def test_columns_come_from_the_registry_where_none_are_given() -> None:
    text = "CREATE TABLE t (id INT PRIMARY KEY) WITH (kafka_topic='a', value_format='AVRO')"
    statement = parse_statement(text)
    assert isinstance(statement, CreateSource)
    missing = missing_schema(statement, DEFAULTS)
    assert missing is not None
    assert (missing.topic, missing.key, missing.value) == ("a", None, FormatUse("AVRO"))
    source = defined(text, inferred=InferredSchema(None, (Column("v", STRING), Column("W", BIGINT))))
    assert str(source.schema) == "`ID` INTEGER KEY, `v` STRING, `W` BIGINT"


def test_keys_and_single_values_are_looked_up_as_they_are_written() -> None:
    statement = parse_statement("CREATE STREAM s WITH (kafka_topic='a', format='JSON_SR', wrap_single_value=false)")
    assert isinstance(statement, CreateSource)
    missing = missing_schema(statement, DEFAULTS)
    assert missing is not None
    assert (missing.key, missing.value) == (
        FormatUse("JSON_SR", is_wrapped=False),
        FormatUse("JSON_SR", is_wrapped=False),
    )


def test_nothing_is_asked_of_the_registry_where_all_is_given() -> None:
    statement = parse_statement("CREATE STREAM s (k STRING KEY, v INT) WITH (kafka_topic='a', format='AVRO')")
    assert isinstance(statement, CreateSource)
    assert missing_schema(statement, DEFAULTS) is None


def test_topics_are_made_as_the_properties_say() -> None:
    statement = parse_statement(
        "CREATE STREAM s (v INT) WITH (kafka_topic='a', partitions='3', replicas=2, retention_ms=-1, cleanup_policy='compact')"
    )
    assert isinstance(statement, CreateSource)
    settings = WithClause(statement.properties, is_source=True).topic_settings
    assert settings == TopicSettings(3, 2, -1, "compact")


WRONG = {
    "STREAM s (v INT) WITH (kafka_topik='a')": "Invalid config variable(s) in the WITH clause: KAFKA_TOPIK. Did you mean KAFKA_TOPIC?",
    "STREAM s (v INT) WITH (value_format='JSON')": 'Missing required property "KAFKA_TOPIC"',
    "STREAM s (v INT) WITH (kafka_topic=' ')": "Invalid value ' ' for property KAFKA_TOPIC: it is empty.",
    "STREAM s (v INT) WITH (kafka_topic=7)": "Invalid value 7 for property KAFKA_TOPIC: it is a text in quotes.",
    "STREAM s (v INT) WITH (kafka_topic='a', value_format='JASON')": "Unknown format: JASON. Did you mean JSON?",
    "STREAM s (v INT) WITH (kafka_topic='a', format='JSON', key_format='JSON')": "Cannot supply both 'KEY_FORMAT' and 'FORMAT'",
    "STREAM s (v INT) WITH (kafka_topic='a', value_format='NONE')": "The 'NONE' format can only be used for keys.",
    "STREAM s (v INT) WITH (kafka_topic='a', value_delimiter='|')": "JSON does not support the following configs: [delimiter]",
    "STREAM s (v INT) WITH (kafka_topic='a', value_format='DELIMITED', value_delimiter='||')": "Invalid delimiter value: '||'.",
    "STREAM s (v INT) WITH (kafka_topic='a', value_format='DELIMITED', value_delimiter='')": "Delimiter cannot be empty",
    "STREAM s (v INT) WITH (kafka_topic='a', value_schema_full_name='x')": "JSON does not support the following configs: [fullSchemaName]",
    "STREAM s (v INT) WITH (kafka_topic='a', value_format='AVRO', value_schema_full_name='')": "fullSchemaName cannot be empty.",
    "STREAM s (v INT) WITH (kafka_topic='a', value_schema_id=1)": "VALUE_FORMAT should support schema inference",
    "STREAM s (v INT) WITH (kafka_topic='a', value_format='AVRO', value_schema_id=1)": "Table elements and VALUE_SCHEMA_ID cannot both exist",
    "STREAM s (v INT) WITH (kafka_topic='a', key_protobuf_nullable_representation='OPTIONAL')": "can only be enabled with protobuf format",
    "STREAM s (v INT) WITH (kafka_topic='a', wrap_single_value='x')": "Invalid value 'x' for property WRAP_SINGLE_VALUE",
    "STREAM s (v INT, w INT) WITH (kafka_topic='a', wrap_single_value=true)": "only valid for single-field value schemas",
    "STREAM s (v INT) WITH (kafka_topic='a', value_format='KAFKA', wrap_single_value=true)": (
        "Format 'KAFKA' does not support 'WRAP_SINGLE_VALUE' set to 'true'."
    ),
    "STREAM s (v INT) WITH (kafka_topic='a', window_type='TUMBLING')": "TUMBLING windows require 'WINDOW_SIZE'",
    "STREAM s (v INT) WITH (kafka_topic='a', window_type='SESSION')": "Windowed sources require a key column.",
    "STREAM s (v INT) WITH (kafka_topic='a', window_type='WIDE')": "Unknown window type: 'WIDE'.",
    "STREAM s (k INT KEY) WITH (kafka_topic='a', window_type='SESSION', window_size='1 DAY')": "should not be set for SESSION windows",
    "STREAM s (k INT KEY) WITH (kafka_topic='a', window_type='HOPPING', window_size='9 BOBS')": "Unknown time unit: 'BOBS'",
    "STREAM s (k INT KEY) WITH (kafka_topic='a', window_type='HOPPING', window_size='soon')": "Invalid duration: 'soon'.",
    "STREAM s (v INT) WITH (kafka_topic='a', timestamp='w')": "The TIMESTAMP column set in the WITH clause does not exist in the schema: 'W'",
    "STREAM s (v INT) WITH (kafka_topic='a', timestamp='v')": "Timestamp column, `V`, should be LONG(INT64)",
    "STREAM s (v STRING) WITH (kafka_topic='a', timestamp='v')": "without also specifying the timestamp_format",
    "STREAM s (v BIGINT) WITH (kafka_topic='a', timestamp='v', timestamp_format='yy')": "can only be used when the timestamp column",
    "STREAM s WITH (kafka_topic='a')": "No columns supplied.",
    "STREAM s (v INT, v STRING) WITH (kafka_topic='a')": "Duplicate column names: `V`",
    "STREAM s (rowtime INT) WITH (kafka_topic='a')": "'ROWTIME' is a reserved column name.",
    "STREAM s (k INT PRIMARY KEY) WITH (kafka_topic='a')": "Column `K` is a 'PRIMARY KEY' column: please use 'KEY' for streams.",
    "TABLE s (k INT KEY) WITH (kafka_topic='a')": "Column `K` is a 'KEY' column: please use 'PRIMARY KEY' for tables.",
    "TABLE s (v INT) WITH (kafka_topic='a')": "Tables require a PRIMARY KEY. Write PRIMARY KEY behind the column that is the key of the records, such as CREATE TABLE S (V INTEGER PRIMARY KEY, …)",
    "STREAM s (v INT) WITH (topic='a')": "Invalid config variable(s) in the WITH clause: TOPIC. Did you mean KAFKA_TOPIC?",
    "STREAM s (h BYTES HEADERS) WITH (kafka_topic='a')": "Invalid type for HEADERS column",
    "STREAM s (h INT HEADER('x')) WITH (kafka_topic='a')": "Invalid type for HEADER('x') column: expected BYTES, got INTEGER",
    "STREAM s (h BYTES HEADER('x'), i BYTES HEADER('x')) WITH (kafka_topic='a')": "already contains a HEADER('x') column",
    "STREAM s (k BOOLEAN KEY, v INT) WITH (kafka_topic='a')": (
        "Key format does not support schema.\nformat: KAFKA\nschema: Persistence{columns=[`K` BOOLEAN KEY], features=[]}\n"
        "reason: The 'KAFKA' format does not support type 'BOOLEAN'"
    ),
    "STREAM s (k INT KEY, l INT KEY) WITH (kafka_topic='a')": "The 'KAFKA' format only supports a single field.",
    "STREAM s (k INT KEY) WITH (kafka_topic='a', key_format='NONE')": "can only be used when no columns are defined",
    "STREAM s (k ARRAY<MAP<STRING, INT>> KEY) WITH (kafka_topic='a', key_format='JSON')": "Map keys, including types that contain maps",
    "STREAM s (v ARRAY<INT>) WITH (kafka_topic='a', value_format='DELIMITED')": "does not support type 'ARRAY', column: `V`",
    "STREAM s (v MAP<INT, INT>) WITH (kafka_topic='a')": "JSON only supports MAP types with STRING keys",
    "STREAM s (`1` INT) WITH (kafka_topic='a', value_format='AVRO')": "Schema is not compatible with Avro: Illegal initial character: 1",
    "STREAM s (v STRUCT<`a-b` INT>) WITH (kafka_topic='a', value_format='AVRO')": "Illegal character in: a-b",
    "STREAM s (v DECIMAL(40, 1)) WITH (kafka_topic='a')": "DECIMAL precision must be >= 1 and at most 38",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=lambda text: str(text)[:80])
def test_what_makes_no_source_is_refused(text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        defined(f"CREATE {text}")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("properties", "place"),
    [("kafka_topic='a', valu_format='JSON'", 48), ("kafka_topic='a', key_format='JSON', format='JSON'", 48)],
)
def test_a_wrong_name_is_pointed_at_and_not_its_value(properties: str, place: int) -> None:
    with pytest.raises(SqlProblem) as caught:
        defined(f"CREATE STREAM s (v INT) WITH ({properties})")
    assert caught.value.position is not None
    assert caught.value.position.column == place


@pytest.mark.parametrize("defaults", [Defaults(), Defaults(key_format=None, value_format="JSON")])
def test_a_format_has_to_come_from_somewhere(defaults: Defaults) -> None:
    with pytest.raises(SqlProblem, match="Either provide one or set a default via the"):
        defined("CREATE STREAM s (v INT) WITH (kafka_topic='a')", defaults)


@pytest.mark.parametrize("value", ["0", "'x'", "1.5", "TRUE", "1000000000"])
def test_partitions_are_a_number_that_makes_sense(value: str) -> None:
    statement = parse_statement(f"CREATE STREAM s (v INT) WITH (kafka_topic='a', partitions={value})")
    assert isinstance(statement, CreateSource)
    with pytest.raises(SqlProblem, match="for property PARTITIONS: it is a number between 1 and"):
        _ = WithClause(statement.properties, is_source=True).topic_settings
