"""Tests of statements: what holds, what is told of what does not, and what a test's world does."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams_sql.testing import memory_topics
from streams_sql.testing.runs import run_test
from streams_sql.testing.script import UnreadableFile, read_tests

ORDERS = """
CREATE STREAM orders (id INT KEY, customer STRING, price DECIMAL(6, 2)) WITH (kafka_topic='orders', value_format='JSON');
"""
TOTALS = "CREATE TABLE totals AS SELECT customer, COUNT(*) AS n, SUM(price) AS total FROM orders GROUP BY customer;"


def told(folder: Path, *texts: str) -> list[str | None]:
    """What is wrong with each test of a file, without the file's name; None where nothing is."""
    path = folder / "t.sql"
    path.write_text("\n".join(texts))
    failures = [run_test(test).failure for test in read_tests(path)]
    return [None if failure is None else str(failure).removeprefix(f"{path}:") for failure in failures]


def failure(folder: Path, *texts: str) -> str:
    (found,) = told(folder, *texts)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "statements",
    [
        # A chain of queries, deletions, and a key that comes back.
        f"""{ORDERS} {TOTALS}
            CREATE TABLE few AS SELECT customer, n FROM totals WHERE n < 2;
            INSERT INTO orders VALUES (1, 'ada', 2.50), (2, 'ada', 1);
            ASSERT VALUES totals (customer, n, total) VALUES ('ada', 1, 2.50), ('ada', 2, 3.50);
            ASSERT VALUES few VALUES ('ada', 1);
            ASSERT NULL VALUES few (customer) KEY ('ada');""",
        # Windows, ROWTIME and the bounds of windows where they are named.
        f"""{ORDERS}
            CREATE TABLE hourly AS SELECT customer, COUNT(*) AS n FROM orders WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY customer;
            INSERT INTO orders (id, customer, ROWTIME) VALUES (1, 'ada', 10), (2, 'ada', 3600010);
            ASSERT VALUES hourly (customer, n, ROWTIME, WINDOWSTART, WINDOWEND) VALUES ('ada', 1, 10, 0, 3600000);
            ASSERT VALUES hourly (customer, n, WINDOWSTART) VALUES ('ada', 1, 3600000);""",
        # EMIT FINAL tells when the time has come.
        f"""{ORDERS}
            CREATE TABLE done AS SELECT customer, COUNT(*) AS n FROM orders
              WINDOW TUMBLING (SIZE 1 SECOND, GRACE PERIOD 0 SECONDS) GROUP BY customer EMIT FINAL;
            INSERT INTO orders (id, customer, ROWTIME) VALUES (1, 'ada', 10), (2, 'ada', 20), (3, 'bob', 5000);
            ASSERT VALUES done (customer, n) VALUES ('ada', 2);""",
        # Joins take what tables had before, and streams from now on.
        f"""{ORDERS}
            CREATE TABLE people (name STRING PRIMARY KEY, level INT) WITH (kafka_topic='people', value_format='JSON');
            INSERT INTO people VALUES ('ada', 3);
            INSERT INTO orders VALUES (1, 'ada', 1);
            CREATE STREAM named AS SELECT o.customer, o.id, p.level FROM orders o LEFT JOIN people p ON o.customer = p.name;
            INSERT INTO orders VALUES (2, 'ada', 1);
            DELETE FROM people WHERE name = 'ada';
            INSERT INTO orders VALUES (3, 'ada', 1);
            ASSERT VALUES named VALUES ('ada', 2, 3), ('ada', 3, NULL);""",
        # From the beginning where a test says so.
        f"""{ORDERS}
            INSERT INTO orders VALUES (1, 'ada', 1);
            SET 'auto.offset.reset' = 'earliest';
            CREATE STREAM copy AS SELECT * FROM orders;
            ASSERT VALUES copy VALUES (1, 'ada', 1.00);""",
        # A paused query goes on where it was.
        f"""{ORDERS}
            CREATE STREAM copy AS SELECT * FROM orders;
            PAUSE ALL;
            INSERT INTO orders VALUES (1, 'ada', 1);
            RESUME ALL;
            ASSERT VALUES copy VALUES (1, 'ada', 1.00);""",
        # A replaced query goes on with what it knew; one that cannot is built anew, and the difference is written.
        f"""{ORDERS} {TOTALS}
            INSERT INTO orders VALUES (1, 'ada', 1), (2, 'bob', 30);
            CREATE OR REPLACE TABLE totals AS
              SELECT customer, COUNT(*) AS n, SUM(price) AS total, COUNT(*) * 2 AS twice FROM orders GROUP BY customer;
            INSERT INTO orders VALUES (3, 'ada', 1);
            CREATE OR REPLACE TABLE totals AS
              SELECT customer, COUNT(*) AS n, SUM(price) AS total, COUNT(*) * 2 AS twice FROM orders WHERE price > 10 GROUP BY customer;
            ASSERT VALUES totals (customer, n, total) VALUES ('ada', 1, 1), ('bob', 1, 30);
            ASSERT VALUES totals VALUES ('ada', 2, 2, 4), ('bob', 1, 30, 2);
            ASSERT NULL VALUES totals (customer) KEY ('ada');""",
        # A stream that is built anew: what was written stays, and what comes is as the new query has it.
        f"""{ORDERS}
            CREATE TABLE names (id INT PRIMARY KEY, name STRING) WITH (kafka_topic='names', value_format='JSON', partitions=1);
            CREATE STREAM named AS SELECT o.id AS id, customer, name FROM orders o JOIN names n ON o.id = n.id;
            INSERT INTO names VALUES (1, 'one');
            INSERT INTO orders VALUES (1, 'ada', 1);
            CREATE OR REPLACE STREAM named AS
              SELECT o.id AS id, customer, name FROM orders o LEFT JOIN (SELECT * FROM names WHERE name <> 'one') n ON o.id = n.id;
            INSERT INTO orders VALUES (1, 'bob', 1);
            ASSERT VALUES named (id, customer, name) VALUES (1, 'ada', 'one'), (1, 'bob', NULL);""",
        # What a source is.
        f"""{ORDERS} {TOTALS}
            ASSERT STREAM orders (id INT KEY, customer STRING, price DECIMAL(6, 2)) WITH (kafka_topic='orders', value_format='json');
            ASSERT TABLE totals WITH (kafka_topic='TOTALS', key_format='KAFKA');""",
        # A topic that is deleted begins anew.
        f"""{ORDERS}
            INSERT INTO orders VALUES (1, 'ada', 1);
            ASSERT VALUES orders VALUES (1, 'ada', 1);
            DROP STREAM orders DELETE TOPIC;
            {ORDERS}
            INSERT INTO orders VALUES (2, 'eve', 1);
            ASSERT VALUES orders VALUES (2, 'eve', 1);""",
        (
            "DEFINE topic = 'x'; CREATE STREAM s (v DOUBLE) WITH (kafka_topic='${topic}', value_format='JSON'); "
            "INSERT INTO s VALUES (1.5); ASSERT STREAM s WITH (kafka_topic='x'); ASSERT VALUES s VALUES (1.5);"
        ),
    ],
)
def test_what_holds_passes(tmp_path: Path, statements: str) -> None:
    assert told(tmp_path, "--@test: one", statements) == [None]


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        # The first line is that of the directive.
        (
            f"{ORDERS}INSERT INTO orders VALUES (1, 'ada', 1);\nASSERT VALUES orders\n  VALUES (1, 'eve', 2);",
            """5: Expected record does not match actual: record 1 of ORDERS: CUSTOMER, PRICE are not as expected.
  ASSERT VALUES orders
                ^^^^^^
          ID  CUSTOMER  PRICE  ROWTIME
expected  1   'eve'     2.00
found     1   'ada'     1.00   """,
        ),
        (
            f"{ORDERS}ASSERT VALUES orders (id) VALUES (1);",
            "4: Expected another record, but all records have already been read: ORDERS has 0.",
        ),
        (f"{ORDERS}INSERT INTO orders (id) VALUES (1);\nASSERT NULL VALUES orders (id) KEY (1);", "has a value"),
        (f"{ORDERS}ASSERT TABLE orders;", "Expected type does not match actual for source ORDERS."),
        (
            f"{ORDERS}ASSERT STREAM orders (id INT KEY);",
            "Expected: `ID` INTEGER KEY\n\tActual: `ID` INTEGER KEY, `CUSTOMER`",
        ),
        (f"{ORDERS}ASSERT STREAM orders WITH (VALUE_FORMAT='AVRO');", "Expected value format does not match actual"),
        (f"{ORDERS}ASSERT VALUES orders (idd) VALUES (1);", "has no column IDD to compare. Did you mean ID?"),
        (f"{ORDERS}ASSERT VALUES ordres (id) VALUES (1);", "There is no stream or table ORDRES. Did you mean ORDERS?"),
        (f"{ORDERS}ASSERT VALUES orders (id) VALUES (1, 2);", "there are 1 columns (ID) and 2 values."),
        (f"{ORDERS}SELECT * FROM orders;", "4: SELECT has no meaning in a test"),
        (f"{ORDERS}RUN SCRIPT 'nowhere.sql';", "nowhere.sql cannot be run: it cannot be read"),
        # What went wrong on the way is told with what did not come of it.
        (
            (
                f"{ORDERS}CREATE STREAM c AS SELECT id, CAST(customer AS INT) AS x FROM orders;\n"
                "INSERT INTO orders VALUES (1, 'ada', 1);\nASSERT VALUES c VALUES (1, 5);"
            ),
            "on the way: an expression gave NULL: ",
        ),
        (f"{ORDERS}CREATE STREAM a (v INT) WITH (kafka_topic='a', value_format='AVRO');", "needs a schema registry"),
    ],
)
def test_what_does_not_hold_is_told_with_its_line(tmp_path: Path, statements: str, message: str) -> None:
    assert message in failure(tmp_path, "--@test: one", statements)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE OR REPLACE STREAM r (id INT KEY, v INT) {};",
        "CREATE OR REPLACE SOURCE STREAM r (id INT KEY) {};",
        "CREATE OR REPLACE SOURCE STREAM another (id INT KEY) {};",
        "CREATE OR REPLACE STREAM r AS SELECT * FROM orders;",
    ],
)
def test_a_source_stream_is_not_replaced(tmp_path: Path, statement: str) -> None:
    topic = "WITH (kafka_topic='r', value_format='JSON')"
    first = f"{ORDERS}CREATE SOURCE STREAM r (id INT KEY) {topic};\n"
    message = "CREATE OR REPLACE is not supported on source streams. Use DROP STREAM and CREATE."
    assert message in failure(tmp_path, "--@test: one", first + statement.format(topic))


def test_an_error_that_is_expected(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        ORDERS,
        "--@test: any error\n--@expected.error: io.confluent.ksql.util.KsqlException",
        "CREATE STREAM c AS SELECT nothing FROM orders;",
        "--@test: with its words\n--@expected.message: cannot be resolved",
        "CREATE STREAM c AS SELECT nothing FROM orders;",
        "--@test: with other words\n--@expected.message: out of luck",
        "CREATE STREAM c AS SELECT nothing FROM orders;",
        "--@test: that does not come\n--@expected.error: x",
        "CREATE STREAM c AS SELECT id, customer FROM orders;",
        "--@test: an assertion may be meant\n--@expected.error: java.lang.AssertionError",
        "ASSERT VALUES orders (id) VALUES (1);",
    )
    assert found[0] is found[1] is found[4] is None
    assert "the expected error has other words.\nexpected: out of luck\nfound:    " in str(found[2])
    assert "an error is expected, and all statements were carried out" in str(found[3])


def test_a_set_up_that_fails_is_never_what_was_expected(tmp_path: Path) -> None:
    found = failure(
        tmp_path, "CREATE STREAM s AS SELECT 1 FROM nowhere;", "--@test: one\n--@expected.error: x", "SELECT 1;"
    )
    assert found.startswith("1: ")


def test_scripts_are_found_beside_the_test_and_told_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "sources.sql").write_text(ORDERS)
    (tmp_path / "made" / "all.sql").write_text(f"RUN SCRIPT 'sources.sql';\n{TOTALS}")
    use = (
        "RUN SCRIPT 'made/all.sql'; INSERT INTO orders VALUES (1, 'ada', 1); ASSERT VALUES totals VALUES ('ada', 1, 1);"
    )
    assert told(tmp_path, "--@test: one", use) == [None]
    (tmp_path / "made" / "sources.sql").write_text("\n\nCREATE STREAM broken;")
    assert "made/sources.sql:3: " in failure(tmp_path, "--@test: one", use)
    (tmp_path / "made" / "sources.sql").write_text("RUN SCRIPT 'sources.sql';")
    assert "does one run itself?" in failure(tmp_path, "--@test: one", use)


def test_queries_that_feed_each_other_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_topics, "RECORDS_MAX", 100)
    circle = "INSERT INTO orders SELECT * FROM orders; INSERT INTO orders VALUES (1, 'ada', 1);"
    assert "100 records, which is all that a test may have" in failure(tmp_path, "--@test: one", ORDERS, circle)


def test_tests_have_nothing_in_common_but_their_set_up(tmp_path: Path) -> None:
    one = "INSERT INTO orders VALUES (1, 'ada', 1); ASSERT VALUES orders VALUES (1, 'ada', 1);"
    assert told(tmp_path, ORDERS, "--@test: a", one, "--@test: b", one) == [None, None]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("SELECT 1;", None, "it has no tests"),
        ("--@expected.error: x\n--@test: a", 1, "stands before the first --@test"),
        ("--@test: a\n--@expected.eror: x", 2, "--@expected.eror means nothing here. There are --@test, "),
        ("--@test: a\nINSERT INTO s VALUES ('x);", 2, "is not finished"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = tmp_path / "t.sql"
    path.write_text(text)
    with pytest.raises(UnreadableFile, match=message) as problem:
        read_tests(path)
    assert problem.value.line == line


def test_a_mark_within_a_string_begins_no_test(tmp_path: Path) -> None:
    path = tmp_path / "t.sql"
    path.write_text("--@test: a\nINSERT INTO s VALUES ('--@test: b');\n--@TEST: c\n")
    assert [(test.name, test.line) for test in read_tests(path)] == [("a", 1), ("c", 3)]
