"""`barnabas apply`: one file for topics, schemas, connectors and SQL, on a broker and services that run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from barnabas.kernel.settings import MASK
from tests.broker import BarnabasBroker, BrokerProcess
from tests.cli.conftest import Apply
from tests.connect_service import ConnectProcess
from tests.registry import RegistryProcess

SECRET = "hunter2-and-more"
PAGE = (Path(__file__).parents[3] / "docs" / "apply.md").read_text()
ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}%s]}'


@pytest.fixture
def at(kafka: BrokerProcess) -> tuple[str, ...]:
    return ("--bootstrap-server", kafka.address)


def test_topics_become_what_the_file_says_and_stay_so(apply: Apply, at: tuple[str, ...], topic: str) -> None:
    text = f"name: {topic}\ntopics:\n  {topic}:\n    partitions: 2\n    configs: {{retention.ms: 1000, cleanup.policy: delete}}\n"
    planned = apply(text, *at, "--dry-run")
    assert (planned.status, planned.signs) == (2, [f"+ topic {topic}"])
    assert apply(text, *at).status == 0
    again = apply(text, *at, "--dry-run")
    assert (again.status, again.signs, again.out.splitlines()[-1]) == (0, [f"= topic {topic}"], "1 unchanged.")
    changed = apply(text.replace("partitions: 2", "partitions: 4").replace("retention.ms: 1000, ", ""), *at)
    assert changed.status == 0
    assert "    partitions: 2 → 4\n    retention.ms: 1000 → (default)\n" in changed.out
    fewer = apply(text, *at)
    assert fewer.status == 1
    assert "partitions can only become more" in fewer.out
    assert "    retention.ms: (default) → 1000\n" in fewer.out
    more_copies = apply(f"name: {topic}\ntopics: {{{topic}: {{replication-factor: 3}}}}\n", *at)
    assert (more_copies.status, more_copies.signs) == (1, [f"! topic {topic}"])


def test_the_broker_checks_all_before_anything_is_made(apply: Apply, at: tuple[str, ...], topic: str) -> None:
    text = f"name: {topic}\ntopics:\n  {topic}:\n  {topic}-2: {{configs: {{retention.ms: soon}}}}\n"
    refused = apply(text, *at)
    assert (refused.status, refused.signs) == (1, [f"+ topic {topic}", f"! topic {topic}-2"])
    assert "platform.yaml:4: " in refused.out
    assert apply(text.replace("soon", "1"), *at, "--dry-run").signs == [f"+ topic {topic}", f"+ topic {topic}-2"]


def test_all_configurations_that_the_broker_does_not_take_are_told(
    apply: Apply, at: tuple[str, ...], topic: str
) -> None:
    text = f"name: {topic}\ntopics:\n  {topic}: {{configs: {{retention.ms: soon, cleanup.policy: delete, segment.bytes: few}}}}\n"
    for _ in ("a new topic", "one that is there"):
        refused = apply(text, *at)
        assert (refused.status, refused.signs) == (1, [f"! topic {topic}"])
        told = [line for line in refused.out.splitlines() if "platform.yaml:3: " in line]
        assert [
            name for line in told for name in ("retention.ms", "cleanup.policy", "segment.bytes") if name in line
        ] == [
            "retention.ms",
            "segment.bytes",
        ]
        assert apply(f"name: {topic}\ntopics: {{{topic}: }}\n", *at).status == 0


def test_prune_deletes_what_the_file_made_and_nothing_else(apply: Apply, at: tuple[str, ...], topic: str) -> None:
    def text(*names: str, name: str = topic) -> str:
        return f"name: {name}\ntopics:\n" + "".join([f"  {each}:\n" for each in names])

    assert apply(text(f"{topic}-other", name=f"{topic}-b"), *at).status == 0
    made = (f"{topic}-1", f"{topic}-2", f"{topic}-shared")
    assert apply(text(*made, f"{topic}-other"), *at).status == 0
    assert apply(text(f"{topic}-other", f"{topic}-shared", name=f"{topic}-b"), *at).status == 0
    without = apply(text(f"{topic}-1"), *at)
    assert without.signs == [f"= topic {topic}-1"]
    asked = apply(text(f"{topic}-1"), *at, "--prune")
    assert (asked.status, asked.signs) == (1, [f"= topic {topic}-1", f"- topic {topic}-2"])
    assert apply(text(f"{topic}-1"), *at, "--prune", "--yes").status == 0
    found = apply(text(*made, f"{topic}-other"), *at, "--dry-run")
    assert found.signs == [
        f"= topic {topic}-1",
        f"+ topic {topic}-2",
        f"= topic {topic}-shared",
        f"= topic {topic}-other",
    ]


def test_json_tells_the_whole_plan(apply: Apply, barnabas: BarnabasBroker, topic: str) -> None:
    text = f"name: {topic}\ntopics: {{{topic}: {{partitions: 3}}}}\n"
    where = ("--bootstrap-server", barnabas.address, "-o", "json")
    planned: dict[str, Any] = json.loads(apply(text, *where, "--dry-run").out)
    assert planned["counts"] == {"create": 1, "change": 0, "delete": 0, "keep": 0, "refuse": 0}
    members = [{"name": "partitions", "old": None, "new": "3"}]
    assert planned["changes"] == [{"kind": "topic", "name": topic, "action": "create", "members": members}]
    assert [planned["applied"], json.loads(apply(text, *where).out)["applied"]] == [False, True]


def test_schemas_are_registered_with_their_level_and_references(
    apply: Apply, barnabas: BarnabasBroker, registry: RegistryProcess, topic: str, tmp_path: Path
) -> None:
    where = ("--bootstrap-server", barnabas.address, "--registry", registry.url)
    (tmp_path / "order.avsc").write_text(ORDER % ', {"name": "place", "type": "Place"}')
    text = f"""\
name: {topic}
schemas:
  {topic}-place:
    schema: {{type: record, name: Place, fields: [{{name: city, type: string}}]}}
  {topic}-value:
    file: order.avsc
    references: [{{name: Place, subject: {topic}-place}}]
    compatibility: full
"""
    first = apply(text, *where)
    assert first.signs == [f"+ schema {topic}-place", f"+ schema {topic}-value"], first.err
    assert f"checked when {topic}-place is registered" in first.out
    assert apply(text, *where, "--dry-run").status == 0
    (tmp_path / "order.avsc").write_text(ORDER % ', {"name": "place", "type": "Place"}, {"name": "n", "type": "int"}')
    refused = apply(text.replace("city", "town"), *where)
    assert (refused.status, refused.signs) == (1, [f"! schema {topic}-place", f"~ schema {topic}-value"])
    assert "not compatible (BACKWARD)" in refused.out
    assert "    READER_FIELD_MISSING_DEFAULT_VALUE at " in refused.out
    assert {"      why", "      fix"} <= {line.partition(":")[0] for line in refused.out.splitlines()}
    assert apply(text, *where).signs == [f"= schema {topic}-place", f"! schema {topic}-value"]
    looser = apply(text.replace("full", "none"), *where)
    assert (looser.status, looser.signs) == (0, [f"= schema {topic}-place", f"~ schema {topic}-value"])
    assert "    compatibility: FULL → NONE\n" in looser.out
    assert apply(text.replace("full", "none"), *where, "--dry-run").status == 0
    broken = apply(f"name: {topic}\nschemas: {{{topic}-new: {{schema: nonsense}}}}\n", *where)
    assert (broken.status, broken.signs) == (1, [f"! schema {topic}-new"])
    assert "is not a valid schema" in broken.out


def test_a_level_that_was_set_for_a_schema_that_is_refused_is_taken_back(
    apply: Apply, barnabas: BarnabasBroker, registry: RegistryProcess, topic: str
) -> None:
    """The registry compares with the level that it has, so that nobody knows before it is set."""
    where = ("--bootstrap-server", barnabas.address, "--registry", registry.url)
    text = f"name: {topic}\nschemas:\n  {topic}:\n    compatibility: NONE\n    schema: '%s'\n"
    assert apply(text % '"string"', *where).status == 0
    refused = apply((text % '"int"').replace("NONE", "FULL"), *where)
    assert (refused.status, refused.signs) == (1, [f"~ schema {topic}"])
    assert "What stands before it in the plan is done." in refused.err
    still = apply(text % '"string"', *where, "--dry-run")
    assert (still.status, still.signs) == (0, [f"= schema {topic}"])


def whole_file(topic: str, name: str, folder: Path) -> str:
    return f"""\
name: {topic}
topics:
  ${{ORDERS}}: {{partitions: '${{PARTITIONS:-1}}'}}
connectors:
  {topic}-out:
    connector.class: FileStreamSink
    topics: {topic}
    file: {folder}/out
    tasks.max: 1
sql:
  - file: streams.sql
  - |
    SET 'auto.offset.reset' = 'earliest';
    CREATE TYPE {name}_T AS STRUCT<A INT>;
    CREATE TABLE {name}_LAST (ID STRING PRIMARY KEY, N INT)
      WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');
"""


def test_the_whole_platform_is_applied_twice_and_pruned(
    apply: Apply, everywhere: tuple[str, ...], topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic.replace("-", "_").upper()
    (tmp_path / "streams.sql").write_text(
        f"CREATE STREAM {name} (ID STRING KEY, N INT) WITH (KAFKA_TOPIC='${{ORDERS}}', VALUE_FORMAT='JSON');\n"
    )
    monkeypatch.setenv("ORDERS", topic)
    text = whole_file(topic, name, tmp_path)
    planned = apply(text, *everywhere, "--dry-run")
    made = [
        f"topic {topic}",
        f"sql STREAM {name}",
        f"sql TYPE {name}_T",
        f"sql TABLE {name}_LAST",
        f"connector {topic}-out",
    ]
    assert (planned.status, planned.signs) == (2, [f"+ {each}" for each in made]), planned.err
    first = apply(text, *everywhere)
    assert (first.status, first.err.splitlines()) == (0, [f"created {each}" for each in made])
    again = apply(text.replace("CREATE TABLE", "create   TABLE"), *everywhere)
    assert (again.status, again.signs, again.err) == (0, [f"= {each}" for each in made], "")
    wider = apply(
        text.replace("PRIMARY KEY, N INT", "PRIMARY KEY, N INT, M INT").replace("/out", "/other"), *everywhere
    )
    assert (wider.status, wider.signs[-2:]) == (0, [f"~ {each}" for each in made[-2:]]), wider.out + wider.err
    assert f"    file: {tmp_path}/out → {tmp_path}/other\n" in wider.out
    nowhere = apply(text.replace(f"KAFKA_TOPIC='{topic}'", f"KAFKA_TOPIC='{topic}-2'"), *everywhere)
    assert (nowhere.status, nowhere.signs[-2]) == (1, f"! sql TABLE {name}_LAST")
    assert f"there is no topic '{topic}-2'" in nowhere.out
    wrong = apply(text.replace("PRIMARY KEY, N INT", "PRIMARY KEY, N BLOB"), *everywhere)
    assert (wrong.status, wrong.signs[-2]) == (1, f"! sql TABLE {name}_LAST"), wrong.out
    assert "platform.yaml:15: " in wrong.out
    gone = apply(f"name: {topic}\n", *everywhere, "--prune", "--yes")
    assert (gone.status, gone.signs) == (0, [f"- {each}" for each in (made[4], made[3], made[2], made[1], made[0])]), (
        gone.err
    )
    assert apply(f"name: {topic}\n", *everywhere, "--prune", "--dry-run").status == 0


def test_the_page_tells_what_works(
    apply: Apply, everywhere: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the query, which is only tried out: it would wait for Spark."""
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (totals,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.setenv("ARCHIVE", str(tmp_path / "audit.txt"))
    (tmp_path / "totals.sql").write_text("-- nothing yet\n")
    made = apply(example, *everywhere)
    assert (made.status, len(made.signs)) == (0, 5), made.out + made.err
    assert apply(example, *everywhere, "--dry-run").status == 0
    (tmp_path / "totals.sql").write_text(totals)
    tried = apply(example, *everywhere, "--dry-run")
    assert (tried.status, tried.signs[4]) == (2, "+ sql TABLE SHOP_TOTALS"), tried.out
    (tmp_path / "totals.sql").write_text(totals.replace("amount", "price"))
    wrong = apply(example, *everywhere, "--dry-run")
    assert (wrong.status, wrong.signs[4]) == (1, "! sql TABLE SHOP_TOTALS")
    assert "totals.sql:3: " in wrong.out
    assert "PRICE" in wrong.out
    assert apply("name: shop\n", *everywhere, "--prune", "--yes").status == 0


def test_settings_of_connectors_are_validated_and_secrets_are_not_told(
    apply: Apply, barnabas: BarnabasBroker, connect_service: ConnectProcess, topic: str, tmp_path: Path
) -> None:
    where = ("--bootstrap-server", barnabas.address, "--connect", connect_service.url)
    text = f"""\
name: {topic}
connectors:
  {topic}:
    connector.class: io.confluent.connect.jdbc.JdbcSinkConnector
    connection.url: jdbc:sqlite:{tmp_path}/shop.db
    connection.password: {SECRET}
    consumer.override.sasl.jaas.config: {SECRET}
    topics: {topic}
    tasks.max: many
"""
    refused = apply(text, *where)
    assert (refused.status, refused.signs) == (1, [f"! connector {topic}"])
    assert "    tasks.max: many\n" in refused.out
    planned = apply(text.replace("many", "1"), *where, "--dry-run")
    assert planned.signs == [f"+ connector {topic}"]
    assert f"connection.password: {MASK}" in planned.out
    assert SECRET not in refused.out + refused.err + planned.out + planned.err
    right = text.replace("many", "1")
    assert apply(right, *where).signs == [f"+ connector {topic}"]
    assert apply(right, *where, "--dry-run").signs == [f"= connector {topic}"]
    other = apply(right.replace(SECRET, f"{SECRET}-2"), *where)
    assert other.signs == [f"~ connector {topic}"]
    assert f"connection.password: {MASK} → {MASK}" in other.out
    assert apply(right, *where, "--dry-run").status == 2
    assert apply(f"name: {topic}\n", *where, "--prune", "--yes").signs == [f"- connector {topic}"]
    unknown = apply(text.replace("JdbcSink", "JdbcDrain"), *where)
    assert (unknown.status, unknown.signs) == (1, [f"! connector {topic}"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("topics: {}", "platform.yaml:1: the file has no name"),
        ("name: a\ntopic: {}", "platform.yaml:2: the file has no 'topic'\n  Did you mean 'topics'?"),
        ("name: a\ntopics:\n  t: {partition: 1}", "platform.yaml:3: topic 't' has no 'partition'\n  Did you mean 'partitions'?"),
        ("name: a\ntopics:\n  t: {partitions: some}", "platform.yaml:3: partitions must be a number from 1 to 100000, not 'some'"),
        ("name: a\ntopics:\n  t:\n  u:\n  t:", "platform.yaml:5: 't' stands twice in 'topics'; the first is in line 3"),
        ("name: a\ntopics: {t: {configs: {a: '${NOT_SET}'}}}", "platform.yaml:2: the variable NOT_SET is not set"),
        ("name: a\nsql: |\n  SET 'a'='b';\n  CREATE STREAM s\n  (a ${NOT_SET});", "platform.yaml:5: the variable NOT_SET"),
        ("name: a\nschemas: {s: {file: missing.avsc}}", "platform.yaml:2: schema 's': "),
        ("name: a\nsql:\n- file: missing.sql", "platform.yaml:3: sql: "),
        ("name: a\nschemas: {s: {type: AVRO}}", "platform.yaml:2: schema 's' needs `file` or `schema`, and not both"),
        ("name: a\nschemas: {s: {schema: x, compatibility: FUL}}", "Did you mean 'FULL'?"),
        ("name: a\nschemas: {s: {schema: x, references: [{name: t, subject: t}]}, t: {schema: x}}", "does not stand before it"),
        ("name: a\nconnectors: {c: {topics: t}}", "connector 'c' has no connector.class"),
        ("name: a\nconnectors: {c: {connector.class: [x]}}", "connector.class must be one value, not a list"),
        ("name: [", "platform.yaml:1: this is no YAML"),
        ("name: a\nx: !!python/object:os.system {}", "platform.yaml:2: the file has no 'x'"),
        ("name: a\nschemas: {s: &s {schema: {a: &a [*a]}}}", "within each other"),
        ("- a", "the file must be a mapping"),
        ("", "is empty"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_told_with_its_line(apply: Apply, text: str, told: str) -> None:
    refused = apply(text)
    assert refused.status == 1
    assert told in refused.err


def test_all_mistakes_in_the_file_are_told_at_once(apply: Apply) -> None:
    text = """\
nam: a
topics:
  t: {partitions: some, partition: 1, configs: {a: [], b: "${NOT_SET} ${NOR_THIS}"}}
  t: {}
schemas: {s: {file: missing.avsc, type: AVR}}
connectors:
  c: {topics: []}
sql:
- CREATE STREEM s;
- INSERT INTO s VALUES (1);
"""
    refused = apply(text)
    told = [line.rpartition("platform.yaml:")[2] for line in refused.err.splitlines() if "platform.yaml:" in line]
    assert refused.status == 1
    wanted = [
        "1: the file has no 'nam'",
        "1: the file has no name",
        "3: topic 't' has no 'partition'",
        "3: partitions must be a number",
        "3: a must be one value",
        "3: the variable NOT_SET",
        "3: the variable NOR_THIS",
        "4: 't' stands twice",
        "5: type 'AVR'",
        "5: schema 's': ",
        "7: topics must be one value",
        "7: connector 'c' has no connector.class",
        "9:10: ",
        "10: statement",
    ]
    assert sorted(told) == [
        line for line, begin in zip(sorted(told), sorted(wanted), strict=True) if line.startswith(begin)
    ]


def test_variables_keep_away_from_config_providers(tmp_path: Path) -> None:
    from barnabas.cli.apply import desired_state

    path = tmp_path / "platform.yaml"
    path.write_text(
        "name: a\nconnectors:\n  c: &c\n    connector.class: X\n    a: ${file:/run/secrets:key}\n    b: ${B:-b}-$${B}-${C}\n    d: yes\n"
        "  e: {<<: *c, d: 012}\n"
    )
    first, second = desired_state.read(path, {"C": "c: 1"}).connectors
    assert first.config == {
        "name": "c", "connector.class": "X", "a": "${file:/run/secrets:key}", "b": "b-${B}-c: 1", "d": "true",
    }  # fmt: skip
    assert second.config == {**first.config, "name": "e", "d": "012"}


def test_a_service_that_nobody_names_is_not_looked_for_at_the_usual_port(
    apply: Apply, barnabas: BarnabasBroker
) -> None:
    refused = apply("name: a\nsql:\n  - CREATE TYPE t AS INT;\n", "--bootstrap-server", barnabas.address)
    assert (refused.status, refused.err.startswith("barnabas: no platform runs on ")) == (3, True)
    assert "--sql URL" in refused.err
    nobody = apply("name: a\nsql:\n  - CREATE TYPE t AS INT;\n", "--sql", "http://127.0.0.1:1")
    assert (nobody.status, nobody.err.startswith("barnabas: no platform runs on ")) == (3, True)
    assert "--bootstrap-server HOST:PORT" in nobody.err


def test_a_service_that_is_needed_and_away_is_named(apply: Apply, barnabas: BarnabasBroker, topic: str) -> None:
    away = "http://127.0.0.1:1"
    where = ("--bootstrap-server", barnabas.address, "--registry", away, "--connect", away, "--sql", away)
    for part, flag in (
        (f"schemas: {{{topic}: {{schema: '\"string\"'}}}}", "--registry"),
        ("connectors: {c: {connector.class: X}}", "--connect"),
        ("sql: CREATE TYPE t AS INT;", "--sql"),
    ):
        refused = apply(f"name: a\n{part}\n", *where)
        assert (refused.status, flag in refused.err) == (3, True), refused.err
