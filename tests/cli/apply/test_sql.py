"""`barnabas apply`: SQL, on a broker and services that run."""

from __future__ import annotations

import json

import pytest

from tests.broker import BarnabasBroker
from tests.cli.conftest import Applied, Apply
from tests.sql_service import SqlProcess
from tests.streams_sql.spark.query_runs import Topics


def name_of(topic: str) -> str:
    return topic.replace("-", "_").upper()


def over_stream(topic: str, *statements: str) -> str:
    """A file with a stream over the topic, and what follows it."""
    columns, place = "K STRING KEY, N INT", f"KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1"
    lines = [f"CREATE STREAM {name_of(topic)} ({columns}) WITH ({place});", *statements]
    return "".join([f"name: {topic}\nsql: |\n", *(f"  {line}\n" for line in lines)])


def test_queries_are_replaced_when_they_or_their_settings_change(
    apply: Apply, everywhere: tuple[str, ...], topic: str
) -> None:
    name = name_of(topic)
    text = over_stream(
        topic,
        "SET 'auto.offset.reset' = 'earliest';",
        f"CREATE STREAM {name}_BIG AS SELECT * FROM {name} WHERE N > 10 EMIT CHANGES;",
        f"INSERT INTO {name}_BIG SELECT * FROM {name} WHERE N < 0 EMIT CHANGES;",
    )
    assert apply(text, *everywhere).status == 0
    again = apply(text, *everywhere, "--dry-run")
    assert (again.status, len(again.signs)) == (0, 3), again.out
    later = apply(text.replace("'earliest'", "'latest'"), *everywhere, "--dry-run")
    assert later.signs[1] == f"~ sql STREAM {name}_BIG"
    assert "    auto.offset.reset: earliest → latest\n" in later.out
    bigger = text.replace("N > 10", "N > 20").replace("N < 0", "N < -1")
    changed = apply(bigger, *everywhere, "--prune", "--yes")
    assert changed.status == 0, changed.err
    assert [sign[:1] for sign in changed.signs] == ["=", "~", "+", "-"]
    assert apply(bigger, *everywhere, "--prune", "--dry-run").status == 0
    otherwise = apply(bigger.replace("SELECT * FROM", "SELECT K AS J, N FROM", 1), *everywhere)
    assert (otherwise.status, otherwise.signs[1]) == (1, f"! sql STREAM {name}_BIG")
    gone = apply(f"name: {topic}\n", *everywhere, "--prune", "--yes")
    assert (gone.status, len(gone.signs)) == (0, 3), gone.err


class Rebuilt:
    """A table over a topic whose first record cannot be read, so that its queries never come to an end of it."""

    def __init__(self, apply: Apply, everywhere: tuple[str, ...], sql: SqlProcess, topic: str) -> None:
        self._apply, self._everywhere, self._sql, self._topic = apply, everywhere, sql, topic
        self.name = name_of(topic)
        self.sign = f"sql TABLE {self.name}_N"

    def run(self, least: int, *words: str) -> Applied:
        text = f"""\
name: {self._topic}
sql: |
  CREATE STREAM {self.name} (K STRING KEY, N INT) WITH (KAFKA_TOPIC='{self._topic}-in', VALUE_FORMAT='JSON');
  SET 'auto.offset.reset' = 'earliest';
  SET 'ksql.fail.on.deserialization.error' = 'true';
  {self.statement(least)}
"""
        return self._apply(text, *self._everywhere, *words)

    def statement(self, least: int) -> str:
        return f"CREATE TABLE {self.name}_N AS SELECT K, COUNT(*) AS C FROM {self.name} WHERE N > {least} GROUP BY K EMIT CHANGES;"

    def queries(self) -> list[str]:
        """The ids of those that are for the table, the oldest first."""
        found = self._sql.execute("SHOW QUERIES;")[0]["queries"]
        ids = [query["id"] for query in found if query["sinks"] == [f"{self.name}_N"]]
        return sorted(ids, key=lambda id_: int(id_.rpartition("_")[2]))


def test_a_query_that_is_being_built_is_left_alone(
    apply: Apply, everywhere: tuple[str, ...], sql_service: SqlProcess, barnabas: BarnabasBroker, topic: str
) -> None:
    topics = Topics(barnabas.address, topic)
    topics.write(topics.create("in"), [("k", b"{", 1)])
    table = Rebuilt(apply, everywhere, sql_service, topic)
    assert table.run(1).status == 0
    (old,) = table.queries()
    changed = table.run(2)
    (_, new) = both = table.queries()
    building = f"is being built as {new}; {old} serves until that has caught up"
    assert (changed.status, changed.err) == (0, f"changed {table.sign}: {building}\n")
    again = table.run(2)
    assert (again.status, again.signs[-1], again.err) == (0, f"= {table.sign}", "")
    assert "    is being built as " in again.out
    assert f"{old} serves until that has caught up" in again.out
    assert (table.run(2, "--dry-run").status, table.queries()) == (0, both)
    replacing = table.statement(2).replace("CREATE", "CREATE OR REPLACE").replace("FROM", " from ")
    assert sql_service.start_query(replacing, ksql_fail_on_deserialization_error="true") == new
    assert table.queries() == both
    other = table.run(3, "--dry-run")
    assert (other.status, other.signs[-1]) == (2, f"~ {table.sign}")
    assert f"    {new}, which is being built, is given up\n" in other.out
    back = table.run(1)
    assert (back.status, back.signs[-1], back.err) == (0, f"~ {table.sign}", f"changed {table.sign}\n")
    assert (table.run(1, "--dry-run").status, table.queries()) == (0, [old])
    assert apply(f"name: {topic}\n", *everywhere, "--prune", "--yes").status == 0


def test_what_stands_behind_a_statement_that_is_refused_is_checked(
    apply: Apply, everywhere: tuple[str, ...], topic: str
) -> None:
    name = name_of(topic)
    chosen = (("NOPE", name), ("*", f"{name}_1"), ("*", f"{name}_2"), ("NIX", name), ("*", name))
    text = over_stream(
        topic,
        *(
            f"CREATE STREAM {name}_{place} AS SELECT {columns} FROM {source} EMIT CHANGES;"
            for place, (columns, source) in enumerate(chosen, start=1)
        ),
    )
    refused = apply(text, *everywhere)
    assert (refused.status, [sign[0] for sign in refused.signs]) == (1, ["+", "!", "+", "+", "!", "+"])
    told = [line.strip() for line in refused.out.splitlines() if "not checked" in line or "platform.yaml:" in line]
    assert [line.rpartition("platform.yaml:")[2][:14] for line in told] == [
        "4: statement 2",
        "not checked: i",
        "not checked: i",
        "7: statement 5",
    ]
    assert told[1:3] == [f"not checked: it needs STREAM {name}_{place}, which is not possible" for place in (1, 2)]
    unset = apply(text.replace("sql: |\n", "sql: |\n  SET 'no.such.property' = '1';\n"), *everywhere)
    assert (unset.status, [sign[0] for sign in unset.signs]) == (1, ["!", "+", "+", "+", "+", "+"])
    assert unset.out.count("not checked: ") == 5


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("INSERT INTO s VALUES (1);", "this statement does not say what shall be there"),
        ("CREATE SINK CONNECTOR c WITH ('connector.class'='X');", "Write it under `connectors`."),
        ("CREATE STREAM s (a INT", "platform.yaml:3:"),
        ("CREATE STREEM s;", "platform.yaml:3:13: "),
        ("CREATE TYPE t AS INT; CREATE TYPE t AS INT;", "TYPE T stands twice; the first is in"),
    ],
)
def test_sql_that_cannot_be_applied_is_told(apply: Apply, barnabas: BarnabasBroker, statement: str, told: str) -> None:
    where = ("--bootstrap-server", barnabas.address, "--sql", "http://127.0.0.1:1")
    refused = apply(f"name: a\nsql:\n  - {json.dumps(statement)}\n", *where)
    assert refused.status == 1
    assert told in refused.err


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("\n  - CREATE STREEM s;", "platform.yaml:3:12: "),
        (" |\n\n    CREATE TYPE t AS INT;\n    CREATE TYPE u AS INT; CREATE STREEM s;", "platform.yaml:5:34: "),
        (" |\n    CREATE TYPE t AS INT; CREATE\n     STREEM s;", "platform.yaml:4:6: "),
        ("\n  - >\n    CREATE TYPE t\n    AS INT; CREATE STREEM s;", "platform.yaml:4: "),
        ("\n  - 'CREATE TYPE t AS\n    INT; CREATE STREEM s;'", "platform.yaml:3: "),
    ],
)
def test_a_mistake_in_sql_is_told_with_its_place_in_the_file(apply: Apply, sql: str, place: str) -> None:
    refused = apply(f"name: a\nsql:{sql}\n")
    assert (refused.status, place in refused.err) == (1, True), refused.err
