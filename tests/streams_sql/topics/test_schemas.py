"""Where the columns of topics come from: the registry, the schemas that records name, a sample; and how long that holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from barnabas.kernel.serdes.framing import id_prefix
from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Layout, RegistryAccess
from streams_sql.sources import Column, FormatUse
from streams_sql.sql_types import BIGINT, STRING
from streams_sql.topics.schemas import SAMPLED_KEPT_S, TopicSchemas
from tests.broker import BarnabasBroker
from tests.streams_sql.topics.looks import Looks
from tests.streams_sql.views.written_topic import WrittenTopic

COLUMNS = (Column("ID", BIGINT), Column("NAME", STRING))


def encoded(
    registry_url: str,
    subject_topic: str,
    form: str,
    rows: Sequence[tuple[Any, ...]],
    columns: Sequence[Column] = COLUMNS,
) -> list[bytes | None]:
    """Values, whose schema is registered for another topic if that is asked for."""
    layout = Layout(FormatUse(form), tuple(columns), subject_topic, is_key=False, registry=RegistryAccess(registry_url))
    return format_of(form).encoder(layout)(rows)


@pytest.mark.parametrize("form", ["AVRO", "PROTOBUF", "JSON_SR"])
def test_columns_of_the_subject(barnabas: BarnabasBroker, registry_url: str, topic: str, form: str) -> None:
    values = encoded(registry_url, topic, form, [(1, "a"), (2, "b")])
    WrittenTopic(barnabas.address, topic).write([("k", value) for value in values])
    look = Looks(barnabas.address, registry_url).look(f"SELECT *, ROWSCHEMA FROM `{topic}` WHERE name = 'b';")
    assert look.columns[:3] == ["`ROWKEY` STRING", "`ID` BIGINT", "`NAME` STRING"]
    ((*row, schema_id),) = look.rows
    assert row == ["k", 2, "b"]
    assert look.result.notes == (
        f"columns of {topic} from subject {topic}-value ({form}, schema {schema_id}), its keys from a sample of 2 texts",
    )


def test_columns_of_the_schemas_that_records_name(barnabas: BarnabasBroker, registry_url: str, topic: str) -> None:
    """Records of several types in one topic, whose subjects have other names."""
    first = encoded(registry_url, f"{topic}-one", "AVRO", [(1, "a")])
    second = encoded(registry_url, f"{topic}-two", "AVRO", [(2, 7)], (Column("ID", BIGINT), Column("VOLUME", BIGINT)))
    WrittenTopic(barnabas.address, topic).write([("k", value) for value in (*first, *second)])
    look = Looks(barnabas.address, registry_url).look(f"SELECT id, name, volume FROM `{topic}` ORDER BY id;")
    assert look.rows == [(1, "a", None), (2, None, 7)]
    assert "from the schemas that records name (AVRO, schema " in look.result.notes[0]


def test_what_names_no_schema_of_the_registry_is_bytes(barnabas: BarnabasBroker, registry_url: str, topic: str) -> None:
    payload = id_prefix(99_999_999) + b"\x02"
    WrittenTopic(barnabas.address, topic).write([("k", payload)])
    assert Looks(barnabas.address, registry_url).rows(f"SELECT rowval FROM `{topic}`;") == [(payload,)]


def test_a_registry_that_is_away_is_told(barnabas: BarnabasBroker, topic: str) -> None:
    WrittenTopic(barnabas.address, topic).write([("k", {"a": 1})])
    look = Looks(barnabas.address, "http://127.0.0.1:1").look(f"SELECT a FROM `{topic}`;")
    assert look.rows == [(1,)]
    assert look.result.notes[1].startswith(f"the schema registry does not answer, so schemas of {topic} are not known")


def test_an_empty_topic(barnabas: BarnabasBroker, topic: str) -> None:
    WrittenTopic(barnabas.address, topic)
    look = Looks(barnabas.address).look(f"SELECT * FROM `{topic}`;")
    assert (look.columns, look.rows) == (["`ROWVAL` BYTES"], [])
    assert look.result.notes == (f"columns of {topic} from bytes: there is no record to guess from",)


def test_a_field_with_the_name_of_a_pseudo_column_is_not_shown(barnabas: BarnabasBroker, topic: str) -> None:
    WrittenTopic(barnabas.address, topic).write([("k", {"rowtime": 1, "rowkey": 2, "a": 3})])
    look = Looks(barnabas.address).look(f"SELECT *, ROWTIME FROM `{topic}`;")
    assert look.rows == [("k", 3, 1_000)]
    assert look.result.notes[1] == "fields that have the name of another column are not shown: ROWTIME, ROWKEY"


def test_a_large_sample_is_good_for_a_while(barnabas: BarnabasBroker, topic: str) -> None:
    written = WrittenTopic(barnabas.address, topic)
    written.write([("k", {"a": 1})] * 150)
    now_s = 0.0
    schemas = TopicSchemas({"bootstrap.servers": barnabas.address}, None, lambda: now_s)

    def columns() -> list[str]:
        return [column.name for column in schemas.find(topic, "id", 1).source.schema.value]

    assert columns() == ["A"]
    written.write([("k", {"b": 1})])
    now_s = SAMPLED_KEPT_S - 1
    assert columns() == ["A"]
    now_s = SAMPLED_KEPT_S
    assert columns() == ["A", "B"]
    assert [column.name for column in schemas.find(topic, "another topic", 1).source.schema.value] == ["A", "B"]


def test_names_in_any_case(barnabas: BarnabasBroker, topic: str) -> None:
    name = topic.replace("-", "_")
    lower, mixed = name.lower(), name.capitalize()
    WrittenTopic(barnabas.address, lower).write([("k", {"a": 1})])
    looks = Looks(barnabas.address)
    assert looks.rows(f"SELECT a FROM {lower};") == [(1,)]
    assert looks.rows(f"SELECT {name.upper()}.a FROM {name.swapcase()};") == [(1,)]
    WrittenTopic(barnabas.address, mixed).write([("k", {"a": 2})])
    assert looks.rows(f"SELECT a FROM {mixed};") == [(2,)]
    with pytest.raises(Exception, match=f"differ from it in case alone: quote one of `{mixed}`, `{lower}`"):
        looks.rows(f"SELECT a FROM {name.upper()};")
    with pytest.raises(Exception, match="does not exist"):
        looks.rows(f"SELECT a FROM `{name.upper()}`;")


def test_a_stream_goes_before_a_topic(barnabas: BarnabasBroker, topic: str) -> None:
    name = topic.replace("-", "_").upper()
    WrittenTopic(barnabas.address, name).write([("k", {"a": 1})])
    WrittenTopic(barnabas.address, topic).write([("k", {"a": 2})])
    looks = Looks(
        barnabas.address, statements=[f"CREATE STREAM {name} (k STRING KEY, a INT) WITH (kafka_topic='{topic}')"]
    )
    assert looks.rows(f"SELECT a FROM {name};") == [(2,)]
    assert looks.rows(f"SELECT a FROM topic('{name}');") == [(1,)]
