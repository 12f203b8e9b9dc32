"""The Connect workers that are measured: what each is called, how it is started, and how it is told about a database."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from uuid import uuid4

from benchmarks.connect_api import ConnectApi
from benchmarks.connect_postgres import USER
from benchmarks.connection import HOST
from benchmarks.contestants import KAFKA_FLAGS, KAFKA_VERSION
from benchmarks.running import Launch, Running, free_port, tail
from benchmarks.turns import say

WorkerName = Literal["ours", "kafka"]
InsertMode = Literal["insert", "upsert"]
STRINGS = "org.apache.kafka.connect.storage.StringConverter"
# The heap that Kafka's own script sets.
WORKER_HEAP = ("-Xms256M", "-Xmx2G")


@dataclass(frozen=True, slots=True)
class Site:
    """Where a worker listens, whom it asks, and a folder and a group of its own."""

    port: int
    broker_port: int
    folder: Path
    group: str

    @property
    def settings(self) -> dict[str, str]:
        """What both workers are told."""
        topics = {f"{kind}.storage.topic": f"{self.group}-{kind}" for kind in ("config", "offset", "status")}
        replicas = {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
        return {"group.id": self.group, "key.converter": STRINGS, "value.converter": STRINGS, **topics, **replicas}


@dataclass(frozen=True, slots=True)
class Worker(ABC):
    """A kind of Connect worker."""

    name: WorkerName
    title: str

    @abstractmethod
    def command(self, site: Site) -> list[str]: ...

    @abstractmethod
    def jdbc_sink(self, url: str, table: str, mode: InsertMode) -> dict[str, str]:
        """The settings that write to a table with the column `id` as its key."""

    @property
    @abstractmethod
    def has_jdbc_sink(self) -> bool: ...

    @property
    @abstractmethod
    def tuned_jdbc_sink(self) -> dict[str, str]:
        """What makes the sink faster where a user knows of it."""


@dataclass(frozen=True, slots=True)
class OurWorker(Worker):
    name: WorkerName = field(default="ours", init=False)
    title: str = field(default="ours", init=False)

    def command(self, site: Site) -> list[str]:
        settings = [word for name, value in site.settings.items() for word in ("--set", f"{name}={value}")]
        return [
            *(str(Path(sys.executable).parent / "barnabas"), "serve", "connect"),
            *("--listeners", f"http://{HOST}:{site.port}", "--bootstrap-servers", f"{HOST}:{site.broker_port}"),
            *settings,
        ]

    def jdbc_sink(self, url: str, table: str, mode: InsertMode) -> dict[str, str]:
        keys = {"pk.mode": "record_value", "pk.fields": "id"} if mode == "upsert" else {}
        return {
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "connection.url": url,
            "connection.user": USER,
            "table.name.format": table,
            "insert.mode": mode,
            **keys,
        }

    @property
    def has_jdbc_sink(self) -> bool:
        return True

    @property
    def tuned_jdbc_sink(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class KafkaConnect(Worker):
    """Apache Kafka's worker in its distributed mode, with its default settings and JVM flags."""

    java: Path = Path("java")
    jars: Path = Path()
    plugins: Path | None = None
    name: WorkerName = field(default="kafka", init=False)
    title: str = field(default=f"Kafka Connect {KAFKA_VERSION}", init=False)

    def command(self, site: Site) -> list[str]:
        settings = {
            **site.settings,
            "bootstrap.servers": f"{HOST}:{site.broker_port}",
            "listeners": f"http://{HOST}:{site.port}",
            **({} if self.plugins is None else {"plugin.path": str(self.plugins)}),
        }
        properties = site.folder / "worker.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        logging = site.folder / "log4j2.yaml"
        logging.write_text(
            "Configuration:\n  Appenders:\n    File:\n      name: F\n"
            f"      fileName: {site.folder / 'worker.log'}\n      PatternLayout: {{pattern: '%d %p %c %m%n'}}\n"
            "  Loggers:\n    Root:\n      level: INFO\n      AppenderRef: {ref: F}\n"
        )
        return [
            *(str(self.java), *WORKER_HEAP, *KAFKA_FLAGS, f"-Dlog4j2.configurationFile={logging}"),
            *("-cp", f"{self.jars}/*", "org.apache.kafka.connect.cli.ConnectDistributed", str(properties)),
        ]

    def jdbc_sink(self, url: str, table: str, mode: InsertMode) -> dict[str, str]:
        keys = {"primary.key.mode": "record_value", "primary.key.fields": "id"} if mode == "upsert" else {}
        return {
            "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
            "connection.url": url,
            "connection.username": USER,
            "connection.password": "none is asked for",
            "collection.name.format": table,
            "insert.mode": mode,
            **keys,
        }

    @property
    def has_jdbc_sink(self) -> bool:
        return self.plugins is not None

    @property
    def tuned_jdbc_sink(self) -> dict[str, str]:
        return {
            "dialect.postgres.unnest.insert.enabled": "true",
            "batch.size": "3000",
            "consumer.override.max.poll.records": "3000",
        }


class Deployment:
    """A worker that runs, in a group of its own."""

    def __init__(self, worker: Worker, broker_port: int, folder: Path) -> None:
        self.worker = worker
        group = f"{worker.name}-{uuid4().hex[:8]}"
        self._site = Site(free_port(), broker_port, folder / group, group)
        self._output = self._site.folder / "output.log"
        self._running: Running | None = None
        self.api = ConnectApi(self._site.port)

    @property
    def running(self) -> Running:
        assert self._running is not None, "the worker was not started"
        return self._running

    @property
    def pid(self) -> int:
        return self.running.pid

    def __enter__(self) -> Deployment:
        self._site.folder.mkdir(parents=True)
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            say(f"the end of the output of {self.worker.title}: {tail(self._output)}")
        self.running.kill()

    def restart(self) -> None:
        """A stop in good order, and a start on the topics that are there."""
        self.running.stop()
        self._start()

    def _start(self) -> None:
        launch = Launch(self.worker.title, self.worker.command(self._site), self._site.port, self._output)
        self._running = launch.start(self.api.answers)
