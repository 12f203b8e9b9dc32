"""What commands do to the catalogue."""

from __future__ import annotations

import pytest

from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import STRING
from tests.streams_sql.engine.catalogues import Statements

CSAS = "CREATE STREAM X AS SELECT K, A FROM S;"
CTAS = "CREATE TABLE N AS SELECT B, COUNT(*) AS C FROM S GROUP BY B;"


@pytest.fixture
def statements() -> Statements:
    made = Statements()
    made.apply(CSAS, query_id="Q1")
    made.apply(CTAS, query_id="Q2")
    return made


def paused(catalogue: Catalogue) -> dict[str, bool]:
    return {query.id: query.is_paused for query in catalogue.queries.values()}


def test_one_query_or_all_are_paused_and_resumed(statements: Statements) -> None:
    statements.apply("PAUSE Q1;")
    assert paused(statements.catalogue) == {"Q1": True, "Q2": False}
    statements.apply("PAUSE ALL;")
    assert paused(statements.catalogue) == {"Q1": True, "Q2": True}
    outcome = statements.apply("RESUME ALL;")
    assert (paused(statements.catalogue), outcome.message) == ({"Q1": False, "Q2": False}, "Query resumed.")


def test_one_query_or_all_are_terminated_and_their_sources_stay(statements: Statements) -> None:
    one = statements.apply("TERMINATE Q1;")
    assert [query.id for query in one.ended] == ["Q1"]
    rest = statements.apply("TERMINATE ALL;")
    assert [query.id for query in rest.ended] == ["Q2"]
    assert (statements.catalogue.queries, {"X", "N"} <= set(statements.catalogue.sources)) == ({}, True)


@pytest.mark.parametrize("action", ["PAUSE", "RESUME", "TERMINATE"])
def test_a_query_that_does_not_run_cannot_be_changed(statements: Statements, action: str) -> None:
    with pytest.raises(SqlProblem, match="Unknown queryId: NOWHERE"):
        statements.apply(f"{action} NOWHERE;")


def test_a_source_goes_with_the_query_that_made_it_unless_others_use_it(statements: Statements) -> None:
    statements.apply("CREATE STREAM Y AS SELECT * FROM X;", query_id="Q3")
    with pytest.raises(SqlProblem, match=r"The following queries read from this source: \[Q3\]"):
        statements.apply("DROP STREAM X;")
    assert "Q1" in statements.catalogue.queries
    statements.apply("DROP STREAM Y;")
    dropped = statements.apply("DROP STREAM X;")
    assert [query.id for query in dropped.ended] == ["Q1"]
    assert list(statements.catalogue.queries) == ["Q2"]


def test_what_was_found_out_stays_with_the_query(statements: Statements) -> None:
    query = statements.catalogue.queries["Q1"]
    assert (query.reads, query.writes, query.is_real_time) == (frozenset({"S"}), "X", False)


def test_a_query_in_place_of_one_that_was_terminated_is_a_new_one(statements: Statements) -> None:
    statements.apply("TERMINATE Q1;")
    outcome = statements.apply(CSAS.replace("CREATE", "CREATE OR REPLACE").replace("K, A", "K, A, B"), query_id="Q9")
    assert outcome.started is not None
    assert (outcome.started.id, statements.catalogue.made_by("X")) == ("Q9", outcome.started)


# --- types ---


def test_types_are_part_of_the_catalogue_and_of_each_other(statements: Statements) -> None:
    made = statements.apply("CREATE TYPE PLACE AS STRUCT<street STRING, number INT>;")
    assert (made.entity, made.action) == (("type", "PLACE"), "create")
    assert (
        made.message
        == "Registered custom type with name 'PLACE' and SQL type STRUCT<`STREET` STRING, `NUMBER` INTEGER>"
    )
    statements.apply("CREATE TYPE PERSON AS STRUCT<name STRING, homes MAP<STRING, ARRAY<place>>>;")
    statements.apply(
        "CREATE STREAM P (who PERSON, places ARRAY<PLACE>, b STRING) WITH (KAFKA_TOPIC='p', VALUE_FORMAT='JSON');"
    )
    source = statements.catalogue.sources["P"]
    place = "STRUCT<`STREET` STRING, `NUMBER` INTEGER>"
    assert str(source.schema) == (
        f"`WHO` STRUCT<`NAME` STRING, `HOMES` MAP<STRING, ARRAY<{place}>>>, `PLACES` ARRAY<{place}>, `B` STRING"
    )
    query = statements.query("CREATE STREAM Z AS SELECT CAST(STRUCT(street := B) AS PLACE) AS H FROM P;")
    assert str(query.plan.sink.schema) == f"`H` {place}"


def test_what_was_declared_with_a_type_outlives_it(statements: Statements) -> None:
    statements.apply("CREATE TYPE N AS INT;")
    statements.apply("CREATE STREAM P (n N) WITH (KAFKA_TOPIC='p', VALUE_FORMAT='JSON');")
    assert statements.apply("DROP TYPE N;").message == "Dropped type 'N'"
    assert str(statements.catalogue.sources["P"].schema) == "`N` INTEGER"
    with pytest.raises(SqlProblem, match="Cannot resolve unknown type: N"):
        statements.apply("CREATE STREAM Q (n N) WITH (KAFKA_TOPIC='q', VALUE_FORMAT='JSON');")
    statements.apply("CREATE TYPE N AS STRING;")
    assert str(statements.catalogue.sources["P"].schema) == "`N` INTEGER"


def test_a_type_that_is_there_and_one_that_is_not(statements: Statements) -> None:
    statements.apply("CREATE TYPE N AS INT;")
    with pytest.raises(SqlProblem, match="'N' since it is already registered with type: INTEGER"):
        statements.apply("CREATE TYPE N AS STRING;")
    again = statements.apply("CREATE TYPE IF NOT EXISTS N AS STRING;")
    assert (again.is_done, again.message) == (False, "N is already registered with type INTEGER")
    with pytest.raises(SqlProblem, match=r"Type M does not exist\. Did you mean|Type M does not exist\. There are N"):
        statements.apply("DROP TYPE M;")
    gone = statements.apply("DROP TYPE IF EXISTS M;")
    assert (gone.is_done, gone.message) == (False, "Type 'M' does not exist")
    with pytest.raises(SqlProblem, match="Cannot resolve unknown type: NOWHERE"):
        statements.apply("CREATE TYPE O AS ARRAY<NOWHERE>;")


# --- columns that are added ---


def test_columns_are_added_behind_the_others(statements: Statements) -> None:
    outcome = statements.apply("ALTER STREAM S ADD COLUMN c INT, ADD d ARRAY<STRING>;")
    assert (outcome.entity, outcome.action) == (("stream", "S"), "alter")
    assert outcome.message == "Stream S altered."
    source = statements.catalogue.sources["S"]
    assert str(source.schema) == "`K` STRING KEY, `A` BIGINT, `B` STRING, `C` INTEGER, `D` ARRAY<STRING>"
    assert source.statement.endswith("\nALTER STREAM S ADD COLUMN c INT, ADD d ARRAY<STRING>;")
    query = statements.query("CREATE STREAM Z AS SELECT * FROM S;")
    assert [column.name for column in query.plan.sink.schema.value] == ["A", "B", "C", "D"]
    statements.apply("ALTER TABLE T ADD e INT;")
    assert str(statements.catalogue.sources["T"].schema) == "`K` STRING KEY, `D` STRING, `E` INTEGER"


def test_a_query_goes_on_with_the_columns_that_there_were(statements: Statements) -> None:
    statements.apply("ALTER STREAM S ADD COLUMN c INT;")
    assert [column.name for column in statements.catalogue.sources["X"].schema.value] == ["A"]
    assert "Q1" in statements.catalogue.queries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ALTER STREAM NOWHERE ADD a INT;", "Source NOWHERE does not exist."),
        ("ALTER STREAM T ADD a INT;", "Incompatible data source type is TABLE, but statement was ALTER STREAM"),
        ("ALTER STREAM X ADD z INT;", "ALTER command is not supported for CREATE ... AS statements."),
        ("ALTER TABLE R2 ADD z INT;", "Cannot alter table 'R2': ALTER operations are not supported on source tables."),
        ("ALTER STREAM S ADD a INT;", "Cannot add column `A` to schema. A column with the same name already exists."),
        ("ALTER STREAM S ADD k INT;", "Cannot add column `K` to schema."),
        ("ALTER STREAM S ADD z INT, ADD z INT;", "Cannot add column `Z` to schema."),
        ("ALTER STREAM S ADD rowtime INT;", "'ROWTIME' is a reserved column name."),
        ("ALTER STREAM S ADD z NOWHERE;", "Cannot resolve unknown type: NOWHERE"),
        ("ALTER STREAM ALONE ADD z INT;", "The one column of ALONE is the value itself"),
        ("ALTER STREAM BARE ADD z INT;", "The 'KAFKA' format only supports a single field."),
    ],
)
def test_columns_that_cannot_be_added(statements: Statements, text: str, message: str) -> None:
    statements.apply("CREATE SOURCE TABLE R2 (K INT PRIMARY KEY) WITH (KAFKA_TOPIC='r', VALUE_FORMAT='JSON');")
    statements.apply(
        "CREATE STREAM ALONE (v INT) WITH (KAFKA_TOPIC='a', VALUE_FORMAT='JSON', WRAP_SINGLE_VALUE=FALSE);"
    )
    statements.apply("CREATE STREAM BARE (v INT) WITH (KAFKA_TOPIC='a', VALUE_FORMAT='KAFKA');")
    before = dict(statements.catalogue.sources)
    with pytest.raises(SqlProblem) as caught:
        statements.apply(text)
    assert message in caught.value.message
    assert statements.catalogue.sources == before


def test_what_is_tried_out_leaves_the_catalogue_as_it_is(statements: Statements) -> None:
    copy = statements.catalogue.copy()
    copy.put_type("N", STRING)
    copy.set_property("auto.offset.reset", "earliest")
    assert (statements.catalogue.types, statements.catalogue.properties) == ({}, {})


def test_a_property_of_all_sessions(statements: Statements) -> None:
    outcome = statements.apply("ALTER SYSTEM 'ksql.streams.auto.offset.reset'='earliest';")
    assert outcome.action == "alter"
    assert statements.catalogue.properties == {"auto.offset.reset": "earliest"}


def test_an_index_belongs_to_its_table(statements: Statements) -> None:
    made = statements.apply("CREATE INDEX BY_C ON N (C, ROWTIME);")
    assert (made.entity, made.action) == (("index", "BY_C"), "create")
    source = statements.catalogue.source("N")
    assert source is not None
    assert [str(index) for index in source.indexes] == ["BY_C (C, ROWTIME)"]
    again = statements.apply("CREATE INDEX IF NOT EXISTS BY_C ON N (B);")
    assert (again.is_done, again.message) == (False, "There is an index BY_C already, on N (C, ROWTIME)")
    statements.apply(CTAS.replace("CREATE", "CREATE OR REPLACE"), query_id="Q2")
    assert statements.catalogue.index("BY_C") is not None
    statements.apply("DROP INDEX BY_C;")
    assert statements.catalogue.index("BY_C") is None
    assert statements.apply("DROP INDEX IF EXISTS BY_C;").is_done is False
    statements.apply("CREATE INDEX BY_C ON N (C);")
    statements.apply("DROP TABLE N;")
    assert statements.catalogue.index("BY_C") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE INDEX I ON S (A);", "S is a stream: indexes are for tables that queries fill, and for SOURCE tables."),
        ("CREATE INDEX I ON NN (C);", "NN does not exist."),
        ("CREATE INDEX I ON N (D);", "N has no column D."),
        ("CREATE INDEX I ON N (C, C);", "A column is there twice."),
        ("CREATE INDEX OTHER ON N (C);", "N has an index on these columns already: BY_C."),
        ("CREATE INDEX BY_C ON N (B);", "There is an index BY_C already, on N (C). Drop it first"),
        ("DROP INDEX BY_B;", "There is no index BY_B. Did you mean BY_C?"),
    ],
)
def test_an_index_that_cannot_be_is_refused(statements: Statements, text: str, message: str) -> None:
    statements.apply("CREATE INDEX BY_C ON N (C);")
    with pytest.raises(SqlProblem) as caught:
        statements.apply(text)
    assert message in caught.value.message
