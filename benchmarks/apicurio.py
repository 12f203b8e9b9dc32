"""Apicurio Registry with its store in memory, asked through its API of Confluent's form."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.connection import HOST
from benchmarks.registries import Name, PeerMissing, Registry
from benchmarks.running import free_port
from tests.provision import jars, java
from tests.provision.jars import APICURIO, JarError

JAVA_MINIMUM = 21
VERSION = APICURIO.artifacts[0].version


@dataclass(frozen=True, slots=True)
class Apicurio(Registry):
    java: Path = Path("java")
    program: Path = Path()
    name: Name = field(default="apicurio", init=False)
    title: str = field(default=f"Apicurio {VERSION}", init=False)
    prefix: str = field(default="/apis/ccompat/v7", init=False)
    has_topic: bool = field(default=False, init=False)

    def command(self, port: int, broker_port: int) -> list[str]:
        settings = {
            "quarkus.http.host": HOST,
            "quarkus.http.port": port,
            "quarkus.management.host": HOST,
            "quarkus.management.port": free_port(),
            "quarkus.log.level": "WARN",
        }
        words = [f"-D{name}={value}" for name, value in settings.items()]
        return [str(self.java), *words, "-jar", str(self.program)]


def find(home: Path) -> Apicurio:
    java_home = java.provide(JAVA_MINIMUM)
    if java_home is None:
        raise PeerMissing(f"Apicurio {VERSION} needs Java {JAVA_MINIMUM} or newer: install it, or set JAVA_HOME")
    try:
        folder = jars.provide(APICURIO)
    except JarError as error:
        raise PeerMissing(str(error)) from error
    return Apicurio(home, java=java_home / "bin" / "java", program=_unpacked(folder) / "quarkus-run.jar")


def _unpacked(folder: Path) -> Path:
    """The archive's content, beside the archive."""
    content = folder / "content"
    if not content.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            with tarfile.open(folder / APICURIO.artifacts[0].file_name) as archive:
                archive.extractall(Path(scratch) / "content", filter="data")
            shutil.move(Path(scratch) / "content", content)
    return content
