"""Our whole platform at rest, beside Apache Kafka, Kafka Connect and Apicurio Registry, which are started all at once as well.

    python -m benchmarks.platform                       three starts of each
    python -m benchmarks.platform --quick               a shorter look at each

Ours are five services: beside those of the peers a REST proxy and SQL. The virtual machine of Spark is started when the platform
answers, and is not counted; the processes in Python that belong to it are. What counts are the figures of an idle machine.
"""

from __future__ import annotations

import argparse
import http.client
import shutil
import socket
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks import apicurio, processes
from benchmarks.comparison import Aim, Comparison, Metric
from benchmarks.connect_api import ConnectApi
from benchmarks.connect_workers import KafkaConnect, Site
from benchmarks.connection import HOST, PROBE_TIMEOUT_SECONDS, answers
from benchmarks.contestants import ApacheKafka, default_jars, find_kafka
from benchmarks.job import Figures
from benchmarks.processes import Members
from benchmarks.program import run, usual_options
from benchmarks.registries import PeerMissing
from benchmarks.registry_api import Api
from benchmarks.running import Launch, Running, free_port
from benchmarks.spread import at_most
from benchmarks.turns import say, turns

MB = 1e6
PEER = "apache"
# What each of our services is asked, in the order of their ports; the broker, which is the first, speaks no HTTP.
PAGES = ("/subjects", "/v3/clusters", "/connectors", "/info")
CONDITIONS = (
    "Each start is on an empty folder, and over when every service answers. The broker of the peer was formatted before.",
    "Memory and CPU are those of all processes together, of ours without Spark's virtual machine.",
)


@dataclass(frozen=True, slots=True)
class Scale:
    settle_seconds: float  # Spark's virtual machine, and the compilers of the others, come to rest meanwhile
    idle_seconds: float


FULL = Scale(settle_seconds=45, idle_seconds=30)
QUICK = Scale(settle_seconds=5, idle_seconds=5)


@dataclass(frozen=True, slots=True)
class Started:
    """Servers that answer, and the time from the first exec until the last of them did."""

    servers: list[Running]
    seconds: float
    members: Members = processes.family

    def sum(self, cost: Callable[[int, Members], float]) -> float:
        return sum(cost(server.pid, self.members) for server in self.servers)


@dataclass(frozen=True, slots=True)
class Whole(ABC):
    """A platform, however many processes it is."""

    name: str
    title: str
    home: Path

    @abstractmethod
    def start(self, folder: Path) -> Started: ...


@dataclass(frozen=True, slots=True)
class OurPlatform(Whole):
    name: str = field(default="ours", init=False)
    title: str = field(default="ours", init=False)

    def start(self, folder: Path) -> Started:
        first = _free_ports(1 + len(PAGES))
        barnabas = Path(sys.executable).parent / "barnabas"
        command = [str(barnabas), "up", "--ports-from", str(first), "--data-dir", str(folder / "data")]
        launch = Launch("barnabas up", command, first, folder / "output.log")
        running = launch.start(Everyone(first))
        return Started([running], running.seconds_to_answer, processes.without_java)


@dataclass(frozen=True, slots=True)
class Apache(Whole):
    kafka: ApacheKafka
    registry: apicurio.Apicurio
    name: str = field(default=PEER, init=False)
    title: str = field(default="Kafka + Connect + Apicurio", init=False)

    def start(self, folder: Path) -> Started:
        broker, worker, registry = free_port(), free_port(), free_port()
        self.kafka.prepare(folder, broker, "relaxed")
        connect = KafkaConnect(java=self.kafka.java, jars=self.kafka.jars)
        (folder / "worker").mkdir()
        site = Site(worker, broker, folder / "worker", "platform")
        subjects = Api(registry, self.registry.prefix)
        launches: list[tuple[Launch, Callable[[], bool]]] = [
            (
                Launch("kafka", self.kafka.command(folder, broker, "relaxed"), broker, folder / "kafka.out"),
                lambda: answers(broker),
            ),
            (Launch("connect", connect.command(site), worker, folder / "connect.out"), ConnectApi(worker).answers),
            (
                Launch("apicurio", self.registry.command(registry, broker), registry, folder / "apicurio.out"),
                lambda: subjects.succeeds(subjects.subjects()),
            ),
        ]
        began = time.monotonic()
        with ThreadPoolExecutor(len(launches)) as threads:
            starts = [threads.submit(launch.start, sign_of_life) for launch, sign_of_life in launches]
        seconds = time.monotonic() - began
        servers = [start.result() for start in starts if start.exception() is None]
        for start in starts:
            if failure := start.exception():
                _stop(servers)
                raise failure
        return Started(servers, seconds)


class Everyone:
    """Whether all our services answer. Who has answered once is not asked again, so that the probes are no load."""

    def __init__(self, first_port: int) -> None:
        self._left: list[Callable[[], bool]] = [
            partial(answers, first_port),
            *(partial(_answers, port, page) for port, page in enumerate(PAGES, start=first_port + 1)),
        ]

    def __call__(self) -> bool:
        while self._left and self._left[0]():
            del self._left[0]
        return not self._left


@dataclass(frozen=True, slots=True)
class RestRow:
    """A start, and what is used while nobody asks for anything."""

    name: str = "rest"
    metrics: tuple[Metric, ...] = (
        Metric("start_s", "start of all services, exec to the last first answer", "s", (Aim(at_most(2.5)),)),
        Metric("idle_pss_mb", "memory, idle, shared pages once", "MB", (Aim(at_most(400)),)),
        Metric("idle_rss_mb", "memory, idle, shared pages in each process", "MB"),
        Metric("idle_cpu_percent", "CPU, idle, of one core", "%", (Aim(at_most(3)),)),
        Metric("processes", "processes", "processes"),
    )

    def measure(self, whole: Whole, folder: Path, scale: Scale) -> Figures:
        folder.mkdir(parents=True)
        started = whole.start(folder)
        try:
            time.sleep(scale.settle_seconds)
            began, before = time.monotonic(), started.sum(processes.cpu_seconds)
            time.sleep(scale.idle_seconds)
            used = started.sum(processes.cpu_seconds) - before
            return {
                "start_s": started.seconds,
                "idle_pss_mb": started.sum(processes.proportional_bytes) / MB,
                "idle_rss_mb": started.sum(processes.resident_bytes) / MB,
                "idle_cpu_percent": 100 * used / (time.monotonic() - began),
                "processes": started.sum(lambda pid, members: len(members(pid))),
            }
        finally:
            _stop(started.servers)
            shutil.rmtree(folder, ignore_errors=True)


def _stop(servers: Sequence[Running]) -> None:
    for server in servers:
        server.stop()


def _answers(port: int, page: str) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=PROBE_TIMEOUT_SECONDS)
    try:
        connection.request("GET", page)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _free_ports(count: int) -> int:
    """The first of some ports in a row."""
    while True:
        first = free_port()
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind((HOST, port))
        except OSError:
            continue
        return first


def find_peers(options: argparse.Namespace, folder: Path) -> tuple[list[Whole], dict[str, str]]:
    try:
        kafka = find_kafka(options.kafka_jars, folder / "kafka")
        return [Apache(folder / PEER, kafka, apicurio.find(folder / "apicurio"))], {}
    except (FileNotFoundError, PeerMissing) as missing:
        say(f"the peers are left out: {missing}")
        return [], {PEER: str(missing)}


def compare(options: argparse.Namespace, rows: Sequence[RestRow], folder: Path) -> Comparison:
    peers, absent = find_peers(options, folder)
    wholes: list[Whole] = [OurPlatform(folder / "ours"), *peers]
    found = Comparison(wholes, rows, absent=absent)
    scale = QUICK if options.quick else FULL
    for row in rows:
        for turn, whole in turns(wholes, options.repeat):
            found.record(row, whole, partial(row.measure, whole, whole.home / f"{row.name}-{turn}", scale))
    return found


def main() -> int:
    parser = usual_options(__doc__, "platform", "a shorter look at each")
    parser.add_argument("--kafka-jars", type=Path, default=default_jars(), help="folder with the jars of Apache Kafka")
    options = parser.parse_args()
    return run(options, [RestRow()], partial(compare, options), CONDITIONS)


if __name__ == "__main__":
    sys.exit(main())
