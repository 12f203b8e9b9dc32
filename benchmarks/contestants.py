"""The two brokers that are measured: how each is prepared and started, and what makes its topics keep a promise."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal

from benchmarks.connection import HOST, answers
from benchmarks.running import Launch, Running, free_port
from tests.provision import java
from tests.provision.cache import cache_root

KAFKA_VERSION = "4.3.0"
CLUSTER_ID = "QmFybmFiYXMtYmVuY2g0Mw"
# Deleted topics leave the disk at once on both sides, so that the write-back of dead files does not disturb the next row.
DELETE_DELAY_MS = 100
# The heap that Kafka's own start script sets, and the flags that its run script adds.
KAFKA_HEAP = ("-Xmx1G", "-Xms1G")
KAFKA_FLAGS = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
Name = Literal["ours", "kafka"]
Durability = Literal["relaxed", "durable"]


@dataclass(frozen=True, slots=True)
class Contestant(ABC):
    """A kind of broker. `home` is a folder of its own, below which every start has its data."""

    name: Name
    home: Path

    @abstractmethod
    def command(self, folder: Path, port: int, durability: Durability) -> list[str]: ...

    @abstractmethod
    def prepare(self, folder: Path, port: int, durability: Durability) -> None:
        """Whatever an operator does once before the first start. It is not timed."""

    @abstractmethod
    def topic_configs(self, durability: Durability) -> dict[str, str]:
        """What makes a topic of this broker keep the promise."""

    def start(self, folder: Path, durability: Durability = "relaxed", port: int | None = None) -> Running:
        """Starts on the folder, which is made and prepared when it is new, and waits until Metadata is answered."""
        port = port or free_port()
        if not folder.exists():
            folder.mkdir(parents=True)
            self.prepare(folder, port, durability)
        launch = Launch(self.name, self.command(folder, port, durability), port, folder / "output.log")
        return launch.start(lambda: answers(port))


@dataclass(frozen=True, slots=True)
class Ours(Contestant):
    name: Name = field(default="ours", init=False)

    def command(self, folder: Path, port: int, durability: Durability) -> list[str]:
        barnabas = Path(sys.executable).parent / "barnabas"
        return [
            *(str(barnabas), "serve", "broker"),
            *("--listeners", f"PLAINTEXT://{HOST}:{port}", "--data-dir", str(folder / "data")),
            *("--set", f"durability={durability}", "--set", "group.initial.rebalance.delay.ms=0"),
            *("--set", f"log.segment.delete.delay.ms={DELETE_DELAY_MS}"),
        ]

    def prepare(self, folder: Path, port: int, durability: Durability) -> None:
        """Nothing: the first start makes the data directory, and that is timed."""

    def topic_configs(self, durability: Durability) -> dict[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class ApacheKafka(Contestant):
    """One KRaft node with Kafka's default settings and JVM flags."""

    jars: Path = Path()
    java: Path = Path("java")
    name: Name = field(default="kafka", init=False)

    def command(self, folder: Path, port: int, durability: Durability) -> list[str]:
        return self._java(folder, *KAFKA_HEAP, main="kafka.Kafka", arguments=(str(folder / "server.properties"),))

    def prepare(self, folder: Path, port: int, durability: Durability) -> None:
        controller = free_port()
        (folder / "server.properties").write_text(
            f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@{HOST}:{controller}\n"
            f"listeners=PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}\n"
            f"advertised.listeners=PLAINTEXT://{HOST}:{port}\ncontroller.listener.names=CONTROLLER\n"
            f"log.dirs={folder / 'data'}\noffsets.topic.replication.factor=1\n"
            "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
            "share.coordinator.state.topic.replication.factor=1\nshare.coordinator.state.topic.min.isr=1\n"
            "group.initial.rebalance.delay.ms=0\n"
            f"log.segment.delete.delay.ms={DELETE_DELAY_MS}\nlog.initial.task.delay.ms={DELETE_DELAY_MS}\n"
        )
        (folder / "log4j2.yaml").write_text(
            "Configuration:\n  Appenders:\n    File:\n      name: F\n"
            f"      fileName: {folder / 'server.log'}\n      PatternLayout: {{pattern: '%d %p %c %m%n'}}\n"
            "  Loggers:\n    Root:\n      level: INFO\n      AppenderRef: {ref: F}\n"
        )
        arguments = ("format", "-t", CLUSTER_ID, "-c", str(folder / "server.properties"))
        format_storage = self._java(folder, "-Xmx256M", main="kafka.tools.StorageTool", arguments=arguments)
        done = subprocess.run(format_storage, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ChildProcessError(f"Kafka's storage tool could not format {folder}: {done.stderr or done.stdout}")

    def topic_configs(self, durability: Durability) -> dict[str, str]:
        return {"flush.messages": "1"} if durability == "durable" else {}

    def _java(self, folder: Path, *heap: str, main: str, arguments: tuple[str, ...]) -> list[str]:
        log = f"-Dlog4j2.configurationFile={folder / 'log4j2.yaml'}"
        return [str(self.java), *heap, *KAFKA_FLAGS, log, "-cp", f"{self.jars}/*", main, *arguments]


def default_jars() -> Path:
    return cache_root() / "jars" / f"kafka-{KAFKA_VERSION}"


def find_kafka(jars: Path, home: Path) -> ApacheKafka:
    if not any(jars.glob("kafka_*.jar")):
        raise FileNotFoundError(
            f"{jars} holds no Apache Kafka {KAFKA_VERSION}. Fetch it with `python -m tests.provision`, "
            "or name a folder with its jars with --kafka-jars."
        )
    return ApacheKafka(home, jars, find_java())


@functools.cache
def find_java() -> Path:
    java_home = java.find()
    if java_home is None:
        raise FileNotFoundError(
            f"Apache Kafka needs a Java runtime, {java.JAVA_MINIMUM} or newer, and there is none: "
            "`python -m tests.provision` installs one, or set JAVA_HOME."
        )
    return java_home / "bin" / "java"


class Pair:
    """Contestants running side by side, stopped when the block ends."""

    def __init__(self, contestants: list[Contestant], durability: Durability) -> None:
        self._contestants = contestants
        self.durability = durability
        self.running: dict[Name, Running] = {}

    def __enter__(self) -> Pair:
        try:
            for contestant in self._contestants:
                folder = contestant.home / self.durability
                self.running[contestant.name] = contestant.start(folder, self.durability)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        for running in self.running.values():
            running.stop()
        for contestant in self._contestants:
            shutil.rmtree(contestant.home / self.durability, ignore_errors=True)
