"""Flink SQL, from the Python package, as a session cluster: a job manager, a task manager, and a shell that hands statements to them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from benchmarks.connection import HOST
from benchmarks.contestants import find_java
from benchmarks.job import LoadFailed
from benchmarks.registries import PeerMissing
from benchmarks.running import START_LIMIT_SECONDS, Launch, Running, free_port, tail
from benchmarks.sql_engines import Deployment, Engine, EngineName, Query, Site
from benchmarks.sql_flink_statements import flink_query, flink_sink, flink_source, settings_of, source_name
from benchmarks.turns import say
from tests.provision import jars
from tests.provision.cache import cache_root
from tests.provision.jars import Artifact, JarError, JarSet

VERSION: Final = "2.3.0"
CONNECTORS: Final = JarSet(
    f"flink-{VERSION}",
    (
        # The newest there is: it is made for 2.2, and works with 2.3.
        Artifact(
            "org.apache.flink",
            "flink-sql-connector-kafka",
            "5.0.0-2.2",
            "5605c691d11a501382c383fecba37a7a552467da5ab7ba904ef5d6f3d62c5616",
        ),
        Artifact(
            "org.apache.flink",
            "flink-sql-avro-confluent-registry",
            VERSION,
            "abb904c1de29af02d2ea5c21df117f12d1fe9dd89f2514913a5079fc742d49ea",
        ),
    ),
    transitive=False,
)
INSTALL_LIMIT_SECONDS = 1_800
STAMP = "complete"
SHELL = Path(__file__).with_name("sql_flink_shell.py")
ANSWER_LIMIT_SECONDS = 10
PROBE_SECONDS = 0.05
# Enough for ten queries of two parts each; the memory is Flink's default.
SLOTS = 24
PARALLELISM = 2
# Ours has a checkpoint for each batch; Flink has none unless it is told to, and would lose records then.
CHECKPOINT_INTERVAL = "10 s"


@dataclass(frozen=True, slots=True)
class FlinkEngine(Engine):
    python: Path
    libraries: Path
    name: EngineName = "flink"
    title: str = f"Flink {VERSION}"

    def deployed(self, site: Site) -> FlinkDeployment:
        return FlinkDeployment(self, site)


class FlinkDeployment(Deployment):
    def __init__(self, engine: FlinkEngine, site: Site) -> None:
        super().__init__("flink", engine.title)
        site.folder.mkdir(parents=True, exist_ok=True)
        self._site = site
        self._output = site.folder / "output.log"
        self._address = f"http://{HOST}:{(port := free_port())}"
        self._running: list[Running] = []
        self._declared: set[str] = set()
        home = _home(engine.python)
        environment = _environment(engine, home, site.folder, port)
        try:
            for program in ("jobmanager", "taskmanager"):
                command = ["bash", str(home / "bin" / f"{program}.sh"), "start-foreground"]
                self._running.append(Launch(program, command, port, self._output, environment).start(lambda: True))
            # Java takes its time to start three times over: all do so at once.
            self._shell = _Shell(engine.python, self._address, environment, self._output)
            self._running.append(Running(self._shell.process, port, 0))
            self._shell.expect()
            self._await_slots()
        except BaseException:
            self._end()
            raise

    @property
    def running(self) -> Sequence[Running]:
        return self._running

    def start(self, query: Query) -> str:
        for topic in filter(None, (query.orders, query.customers)):
            source = source_name(query, topic)
            if source not in self._declared:
                self._shell.ask(sql=flink_source(query, topic, self._site))
                self._declared.add(source)
        self._shell.ask(sql=flink_sink(query, self._site))
        answer = self._shell.ask(sql=flink_query(query), settings=json.dumps(settings_of(query)))
        return answer["job"]

    def stop(self, query_id: str) -> None:
        self._shell.ask(cancel=query_id)

    def check(self, query_id: str) -> None:
        with urllib.request.urlopen(f"{self._address}/jobs/{query_id}", timeout=ANSWER_LIMIT_SECONDS) as answer:
            state = json.load(answer)["state"]
        if state in ("FAILED", "FAILING", "RESTARTING"):
            with urllib.request.urlopen(f"{self._address}/jobs/{query_id}/exceptions") as answer:
                raise LoadFailed(f"{query_id} is {state}: {answer.read().decode(errors='replace')[:2_000]}")

    def _await_slots(self) -> None:
        deadline = time.monotonic() + START_LIMIT_SECONDS
        while self._slots() < SLOTS:
            if time.monotonic() > deadline:
                raise TimeoutError(f"Flink has no {SLOTS} slots after {START_LIMIT_SECONDS} s")
            time.sleep(PROBE_SECONDS)

    def _slots(self) -> int:
        try:
            with urllib.request.urlopen(f"{self._address}/overview", timeout=ANSWER_LIMIT_SECONDS) as answer:
                return int(json.load(answer)["slots-total"])
        except OSError:
            return 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            say(f"the end of the output of Flink: {tail(self._output)}")
        self._end()

    def _end(self) -> None:
        for running in reversed(self._running):
            running.kill()


class _Shell:
    def __init__(self, python: Path, address: str, environment: Mapping[str, str], output: Path) -> None:
        _, _, port = address.rpartition(":")
        settings = {"execution.target": "remote", "rest.address": HOST, "rest.port": port}
        with output.open("ab") as errors:
            self.process = subprocess.Popen(
                # -P: modules beside the shell must not stand before those of Python.
                [str(python), "-P", str(SHELL), address, json.dumps(settings)],
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def ask(self, **request: str) -> dict[str, str]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return self.expect()

    def expect(self) -> dict[str, str]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise LoadFailed("Flink's shell has ended; its output says why")
        answer: dict[str, str] = json.loads(line)
        if "error" in answer:
            raise LoadFailed(f"Flink: {answer['error'][:2_000]}")
        return answer


def _environment(engine: FlinkEngine, home: Path, folder: Path, port: int) -> dict[str, str]:
    """Its own defaults, apart from ports, slots and checkpoints."""
    libraries = folder / "lib"
    libraries.mkdir()
    for jar in (*(home / "lib").glob("*.jar"), *engine.libraries.glob("*.jar")):
        (libraries / jar.name).symlink_to(jar)
    configuration = folder / "conf"
    shutil.copytree(home / "conf", configuration)
    settings = {
        "jobmanager.bind-host": "localhost",
        "jobmanager.rpc.address": "localhost",
        "jobmanager.rpc.port": free_port(),
        "jobmanager.memory.process.size": "1600m",
        "taskmanager.bind-host": "localhost",
        "taskmanager.host": "localhost",
        "taskmanager.memory.process.size": "1728m",
        "taskmanager.numberOfTaskSlots": SLOTS,
        "parallelism.default": PARALLELISM,
        "rest.address": HOST,
        "rest.bind-address": HOST,
        "rest.port": port,
        "execution.checkpointing.interval": CHECKPOINT_INTERVAL,
        "execution.checkpointing.dir": f"file://{folder}/checkpoints",
    }
    lines = [f"{name}: {value}" for name, value in settings.items()]
    (configuration / "config.yaml").write_text(
        "\n".join([f'env.java.opts.all: "{_java_options(home)}"', *lines]) + "\n"
    )
    return {
        "FLINK_HOME": str(home),
        "FLINK_LIB_DIR": str(libraries),
        "FLINK_CONF_DIR": str(configuration),
        "FLINK_LOG_DIR": str(folder),
        "JAVA_HOME": str(find_java().parent.parent),
    }


def _java_options(home: Path) -> str:
    """What Flink needs on newer Javas, as its own configuration has it."""
    for line in (home / "conf" / "config.yaml").read_text().splitlines():
        name, _, value = line.strip().partition(":")
        if name == "all":
            return value.strip()
    return ""


def _home(python: Path) -> Path:
    (found,) = python.parent.parent.glob("lib/python*/site-packages/pyflink")
    return found


def find() -> FlinkEngine:
    """Flink in an environment of its own, which is made if it is not there. PeerMissing."""
    environment = cache_root() / f"flink-{VERSION}"
    if not (environment / STAMP).exists():
        _install(environment)
    try:
        libraries = jars.provide(CONNECTORS)
    except JarError as missing:
        raise PeerMissing(f"Flink's connectors cannot be had: {missing}") from missing
    try:
        find_java()
    except FileNotFoundError as missing:
        raise PeerMissing("Flink needs Java: `python -m tests.provision` installs one") from missing
    return FlinkEngine(environment / "bin" / "python", libraries)


def _install(environment: Path) -> None:
    say(f"installing Flink {VERSION} into {environment}, which takes minutes")
    shutil.rmtree(environment, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(environment)])
    _run([str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", f"apache-flink=={VERSION}"])
    (environment / STAMP).touch()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_LIMIT_SECONDS, check=False)
    if done.returncode:
        raise PeerMissing(f"Flink could not be installed; {command[0]} said: {(done.stderr or done.stdout)[-500:]}")
