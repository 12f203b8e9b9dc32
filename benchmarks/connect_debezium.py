"""Debezium's JDBC sink for Kafka Connect, as a folder of plugins."""

from __future__ import annotations

from pathlib import Path

from tests.provision import jars
from tests.provision.jars import Artifact, JarSet

DEBEZIUM = JarSet(
    "debezium-jdbc-3.5.0",
    (
        Artifact("io.debezium", "debezium-connector-jdbc", "3.5.0.Final"),
        Artifact("org.postgresql", "postgresql", "42.7.7"),
    ),
    transitive=True,
)
# The worker's own are newer, and must not meet another copy of their classes.
LEFT_TO_THE_WORKER = ("jackson-core", "jackson-databind", "jackson-annotations")


def plugin_path(folder: Path) -> Path:
    """A folder that a worker takes as plugin.path; JarError if the jars cannot be had."""
    fetched = jars.provide(DEBEZIUM)
    plugin = folder / "plugins" / "debezium-jdbc"
    plugin.mkdir(parents=True)
    for jar in fetched.glob("*.jar"):
        if not jar.name.startswith(LEFT_TO_THE_WORKER):
            (plugin / jar.name).symlink_to(jar)
    return plugin.parent
