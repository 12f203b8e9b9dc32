"""Spark's session: one for each driver process, with settings that were measured."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from streams_sql.spark.driver.masters import default_master, is_local
from streams_sql.spark.installation import class_archive, home, jars, java

# Shards keep their state in RocksDB alone; all else has it in memory, which commits faster.
SHARD_SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
# The last of two equal names counts, in what no column asks for too.
NATIVE_SETTINGS: Final[Mapping[str, str]] = {"spark.sql.variant.allowDuplicateKeys": "true"}
_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
_LOCAL_FOLDER: Final = "spark.local.dir"
_MEMORY: Final = "spark.driver.memory"
_OWN_JARS: Final = ("spark.jars", "spark.jars.packages")
# Records go through Python: Java plans batches and keeps groups. Measured, half of its processor time went into compiling what was hardly
# used after that, so that code must be ten times as hot as usual before it is worth the better compiler.
_COMPILING: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
# For the small heap that Spark has by default. A large one would stand still for seconds.
_COLLECTING: Final = "-XX:+UseSerialGC"

SETTINGS: Final[Mapping[str, str]] = {
    "spark.app.name": "barnabas-sql",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # What fails is told to the server, with its cause first.
    "spark.log.level": "FATAL",
    # What cannot be worked out is NULL, and no time zone but one.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # Texts of users hold ${…} that are theirs; of two equal keys of a map the last one stays.
    "spark.sql.variable.substitute": "false",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # Each partition of the state is a commit in each batch.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "2",
    # A task must not run a second time beside itself.
    "spark.speculation": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "streams_sql.spark.shards.worker_daemon",
    # A query that is stopped while Kafka is away waits for nobody: what its batch has not written is written when it runs again.
    "spark.python.task.killTimeout": "200ms",
    "spark.scheduler.mode": "FAIR",
    # A query that does not end must not keep the others waiting for ever.
    "spark.sql.streaming.stopTimeout": "60s",
}
# Nobody else needs to reach a Spark that is here alone; a cluster's machines must.
LOCAL_SETTINGS: Final[Mapping[str, str]] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
PYTHON_SETTING: Final = "spark.pyspark.python"
"""The Python of a cluster's machines, where it is not where ours is."""


def scratch_settings(scratch: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """For a Spark whose temporary files lie in a folder of its own, where the user has named no other."""
    options = settings.get(_JAVA_OPTIONS, "")
    found = {_JAVA_OPTIONS: f"{options} -Djava.io.tmpdir={scratch}".strip(), _LOCAL_FOLDER: str(scratch)}
    return {**found, **{name: settings[name] for name in (_LOCAL_FOLDER,) if name in settings}}


def open_session(master: str, settings: Mapping[str, str]) -> SparkSession:
    """Start Spark, here if no master is named. The user's settings go before ours; with jars of their own, ours stand back."""
    chosen = {**SETTINGS, **settings}
    java_home = java.require()
    if is_local(master):
        chosen = {**LOCAL_SETTINGS, **chosen}
        # Spark warns of each address that it might have chosen instead.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        if PYTHON_SETTING not in settings and (light := home.light_home()) is not None:
            os.environ.setdefault("SPARK_HOME", str(light))
            archive = class_archive.options(light, java_home)
            chosen[_JAVA_OPTIONS] = f"{archive} {java_options(chosen)}".strip()
    # Processes that plan batches load numpy, and would start threads for it that do nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["JAVA_HOME"] = str(java_home)
    # State workers run whatever python3 comes first on the path unless told otherwise.
    os.environ["PYSPARK_PYTHON"] = settings.get(PYTHON_SETTING, sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master or default_master())
    if not any(name in settings for name in _OWN_JARS):
        chosen["spark.jars"] = jars.class_path()
    for name, value in chosen.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel(chosen["spark.log.level"])
    _write_plain_files(session)
    return session


def java_options(settings: Mapping[str, str]) -> str:
    """Ours, and behind them the user's, which go before ours; of collectors Java takes one alone."""
    own = settings.get(_JAVA_OPTIONS, "")
    is_small = _MEMORY not in settings and not re.search(r"-XX:\+Use\w+GC|-Xmx", own)
    return " ".join(filter(None, (_COMPILING, _COLLECTING if is_small else "", own)))


def _write_plain_files(session: SparkSession) -> None:
    """Checkpoints on a local disk: Hadoop would write a second file with checksums for each, and start a process for its permissions. What
    is large in them is compressed, with checksums of its own."""
    context: Any = session.sparkContext
    local = context._jvm.org.apache.hadoop.fs.FileSystem.getLocal(context._jsc.hadoopConfiguration())
    local.setWriteChecksum(False)
