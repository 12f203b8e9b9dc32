from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks import connect_debezium, connect_flow
from benchmarks.connect_api import ConnectApi
from benchmarks.connect_flow import Flow, Sample
from benchmarks.connect_postgres import PostgresServer
from benchmarks.connect_records import (
    COLUMNS,
    LINE_BYTES,
    OLD_QUANTITY,
    create_table,
    envelope,
    fill_table,
    line,
    row,
    write_lines,
    write_sqlite,
)
from benchmarks.connect_rows import FLOW_ROWS, ROWS, expect, written
from benchmarks.connect_stage import parts
from benchmarks.connect_workers import KafkaConnect, OurWorker, Site, Worker
from benchmarks.connection import HOST
from benchmarks.job import LoadFailed
from benchmarks.wire import UnexpectedAnswer
from tests.provision import jars
from tests.provision.databases import POSTGRESQL

Answers = dict[str, list[tuple[int, str]]]


@contextmanager
def serve(answers: Answers) -> Iterator[ConnectApi]:
    """A server that answers each request with the next of its answers; the last of them stays."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            left = answers[f"{self.command} {self.path}"]
            code, text = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_PUT = do_DELETE = answer  # noqa: N815 - http.server looks for these names

        def log_message(self, *_: object) -> None:
            """Nothing: the output belongs to the tests."""

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield ConnectApi(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


def status(state: str) -> str:
    return json.dumps({"connector": {"state": "RUNNING"}, "tasks": [{"state": state, "trace": "the reason"}]})


def test_a_line_has_its_length_with_its_end(tmp_path: Path) -> None:
    write_lines(tmp_path / "lines", 3)
    assert (tmp_path / "lines").stat().st_size == 3 * LINE_BYTES
    assert line(1) != line(2)


def test_a_row_is_the_same_in_json_and_in_a_table(tmp_path: Path) -> None:
    found = json.loads(envelope(8))
    assert [(field["field"], field["type"]) for field in found["schema"]["fields"]] == [
        (name, kind) for name, kind, _ in COLUMNS
    ]
    write_sqlite(tmp_path / "db", [("orders", range(5, 9))])
    with sqlite3.connect(tmp_path / "db") as connection:
        rows = connection.execute("SELECT * FROM orders ORDER BY id").fetchall()
    connection.close()
    assert len(rows) == 4
    assert rows[-1] == row(8) == tuple(found["payload"].values())


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    if POSTGRESQL.find() is None:
        pytest.skip(POSTGRESQL.advice)
    with PostgresServer() as server:
        yield server


def test_rows_that_were_written_are_counted_beside_old_ones(postgres: PostgresServer) -> None:
    first, second = parts(100)
    postgres.execute(create_table("orders"))
    postgres.execute(fill_table("orders", range(40, 100, 2), OLD_QUANTITY))
    postgres.execute(fill_table("orders", first[:40]))
    with postgres.connect() as connection:
        assert connection.execute("SELECT * FROM orders WHERE id = 8").fetchone() == pytest.approx(row(8))
        assert written(connection, "orders", 100) == 40
        connection.execute("DELETE FROM orders WHERE id >= 40")
        postgres.execute(fill_table("orders", range(second.start, second.stop)))
        assert written(connection, "orders", 100) == 40 + len(second)
        expect(connection, "orders", 90)
        with pytest.raises(UnexpectedAnswer, match="90 rows are in the table, not 100"):
            expect(connection, "orders", 100)


def test_parts_are_all_numbers_in_their_order() -> None:
    assert [number for part in parts(7) for number in part] == list(range(7))


def test_figures_are_those_of_the_records_between_two_moments() -> None:
    figures = connect_flow.figures(Sample(10.0, 1_000, 2.0), Sample(12.0, 5_000, 2.4))
    assert figures == pytest.approx({"records": 4_000, "records_s": 2_000, "cpu_us": 100})


def test_records_that_arrive_at_once_are_not_timed() -> None:
    with pytest.raises(LoadFailed, match="too few to be timed"):
        connect_flow.figures(Sample(10.0, 5, 0), Sample(12.0, 5, 0))


@dataclass(frozen=True, slots=True)
class Deployed:
    api: ConnectApi
    pid: int = 1


def test_the_clock_starts_with_the_first_record_and_stops_with_the_last() -> None:
    counts = iter([0, 0, 40, 70, 100])
    answers: Answers = {
        "PUT /connectors/flow/config": [(409, "busy"), (201, "{}")],
        "DELETE /connectors/flow": [(204, "")],
        "GET /connectors/flow/status": [(200, status("RUNNING")), (404, "{}")],
    }
    verified: list[bool] = []
    flow = Flow("flow", {}, 100, lambda: next(counts), lambda: verified.append(True), probe_seconds=0)
    with serve(answers) as api:
        figures = connect_flow.run(flow, Deployed(api))
    assert figures["records"] == 60
    assert verified == [True]


def test_a_part_of_a_flow_is_not_verified() -> None:
    counts = iter([10, 50])
    answers: Answers = {
        "PUT /connectors/flow/config": [(201, "{}")],
        "DELETE /connectors/flow": [(204, "")],
        "GET /connectors/flow/status": [(404, "{}")],
    }
    flow = Flow("flow", {}, 100, lambda: next(counts), lambda: pytest.fail("verified"), probe_seconds=0)
    with serve(answers) as api:
        assert connect_flow.run(flow, Deployed(api), 0.5)["records"] == 40


def test_a_task_that_has_failed_tells_why() -> None:
    failed: Answers = {"GET /connectors/flow/status": [(200, status("FAILED"))]}
    with serve(failed) as api, pytest.raises(LoadFailed, match="the reason"):
        api.check("flow")


def test_a_refused_connector_tells_why() -> None:
    refused: Answers = {"PUT /connectors/flow/config": [(400, "file is missing")]}
    with serve(refused) as api, pytest.raises(LoadFailed, match="400: file is missing"), api.connector("flow", {}):
        pytest.fail("it was not refused")


def test_a_counter_is_that_of_all_tasks_of_the_connector() -> None:
    page = (
        'sent_total{connector="a",task="0"} 3.0\nsent_total{connector="a",task="1"} 1.2e+06\n'
        'sent_total{connector="b",task="0"} 9.0\nsent_other{connector="a",task="0"} 9.0\n'
    )
    with serve({"GET /metrics": [(200, page)]}) as api:
        assert api.counted("a", "sent_total") == 1_200_003


def test_both_workers_are_told_the_same(tmp_path: Path) -> None:
    site = Site(port=1, broker_port=2, folder=tmp_path, group="bench")
    ours = OurWorker().command(site)
    plugins = tmp_path / "plugins"
    theirs = KafkaConnect(plugins=plugins).command(site)
    told = (tmp_path / "worker.properties").read_text().splitlines()
    assert ours[1:7] == ["serve", "connect", "--listeners", "http://127.0.0.1:1", "--bootstrap-servers", "127.0.0.1:2"]
    assert ours[8::2] == [f"{name}={value}" for name, value in site.settings.items()]
    assert told[: len(site.settings)] == ours[8::2]
    assert told[len(site.settings) :] == [
        "bootstrap.servers=127.0.0.1:2",
        "listeners=http://127.0.0.1:1",
        f"plugin.path={plugins}",
    ]
    assert theirs[-1] == str(tmp_path / "worker.properties")


def test_debezium_comes_without_the_jars_that_the_worker_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = tmp_path / "fetched"
    fetched.mkdir()
    for name in ("debezium.jar", "jackson-core-2.19.0.jar", "jackson-databind-2.19.0.jar", "complete.txt"):
        (fetched / name).touch()
    monkeypatch.setattr(jars, "provide", lambda _: fetched)
    folder = connect_debezium.plugin_path(tmp_path)
    assert [path.name for path in folder.glob("*/*")] == ["debezium.jar"]


@pytest.mark.parametrize(
    ("worker", "names"),
    [
        (OurWorker(), [row.name for row in FLOW_ROWS]),
        (KafkaConnect(), ["file-source", "file-sink"]),
        (
            KafkaConnect(plugins=Path("plugins")),
            [row.name for row in FLOW_ROWS if row.name.startswith(("file", "jdbc"))],
        ),
    ],
)
def test_a_worker_is_measured_on_what_it_has(worker: Worker, names: list[str]) -> None:
    assert [row.name for row in FLOW_ROWS if row.suits(worker)] == names


def test_every_row_has_a_name_of_its_own() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
