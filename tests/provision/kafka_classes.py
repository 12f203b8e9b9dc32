"""The classes of Kafka's tools in an archive: with it a tool starts in half the processor time, and tests start a hundred of them.

Run it with `python -m tests.provision.kafka_classes`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from streams_sql.spark.installation.class_archive import archive_name, can_be_made, using
from tests.provision import jars, java
from tests.provision.cache import cache_root

RECORDING_DEADLINE_S = 300
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# A reader that gives up soon, since nobody listens there: by then it has loaded all that it needs.
RECORDED = (
    "org.apache.kafka.tools.consumer.ConsoleConsumer",
    *("--bootstrap-server", "127.0.0.1:1", "--topic", "none", "--timeout-ms", "1000"),
)


def options(program: Path, kafka_jars: Path) -> tuple[str, ...]:
    """What a `java` is told so that it uses the archive; nothing where there is none."""
    return using(_archive(program.parent.parent, kafka_jars))


def main() -> None:
    home, kafka_jars = java.find(), jars.KAFKA.folder()
    if home is None or not jars.is_complete(jars.KAFKA) or not can_be_made(home):
        return
    archive = _archive(home, kafka_jars)
    if archive.is_file():
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    print("preparing the classes of Kafka's tools", flush=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        arriving = Path(folder) / archive.name
        record = f"-XX:ArchiveClassesAtExit={arriving}"
        command = [str(home / "bin" / "java"), *QUICK_START, record, "-cp", f"{kafka_jars}/*", *RECORDED]
        subprocess.run(command, capture_output=True, timeout=RECORDING_DEADLINE_S, check=False)
        if arriving.is_file():
            arriving.rename(archive)


def _archive(java_home: Path, kafka_jars: Path) -> Path:
    return cache_root() / "kafka-classes" / archive_name(kafka_jars, java_home)


if __name__ == "__main__":
    main()
