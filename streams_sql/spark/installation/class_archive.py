"""Spark's classes, read and verified once: an archive that Java maps into memory, with which Spark starts in half the processor time.

Java passes over an archive that does not fit its own version or the jars, so that an outdated one costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from streams_sql.spark.installation import home

RECORDING_DEADLINE_S: Final = 600
DIGEST_CHARACTERS: Final = 8

_PATTERN: Final = "classes-*.jsa"
# What Java says of an archive that it passes over would stand among the lines of the service.
_QUIET: Final = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")


def options(spark_home: Path, java_home: Path) -> str:
    """What Java is told so that it uses the archive; nothing where there is none."""
    return shlex.join(using(_path(spark_home, java_home)))


def is_missing(java_home: Path) -> bool:
    """True where there is none and one can be made."""
    spark_home = home.light_home()
    return spark_home is not None and can_be_made(java_home) and not _path(spark_home, java_home).is_file()


def provide(java_home: Path) -> bool:
    """Make the archive where it is missing, which takes as long as a few queries; False when that did not work."""
    spark_home = home.light_home()
    if spark_home is None or not is_missing(java_home):
        return True
    home.remove_abandoned()
    archive = _path(spark_home, java_home)
    with tempfile.TemporaryDirectory(dir=spark_home) as folder:
        arriving = Path(folder) / archive.name
        command = [sys.executable, "-m", "streams_sql.spark.installation.class_recording", str(arriving)]
        with suppress(subprocess.SubprocessError):
            subprocess.run(command, check=True, capture_output=True, timeout=RECORDING_DEADLINE_S)
        if not arriving.is_file():
            return False
        for outdated in spark_home.glob(_PATTERN):
            outdated.unlink(missing_ok=True)
        arriving.rename(archive)
    return True


def using(archive: Path) -> tuple[str, ...]:
    """The options of Java that make it use an archive; none where there is no such file."""
    return (f"-XX:SharedArchiveFile={archive}", *_QUIET) if archive.is_file() else ()


def can_be_made(java_home: Path) -> bool:
    """Ours build on the archive that Java brings along for its own classes, which small runtimes lack."""
    return (java_home / "lib" / "server" / "classes.jsa").is_file()


def archive_name(jars: Path, java_home: Path) -> str:
    """The name of the archive of these jars and this Java."""
    release = java_home / "release"
    told = release.read_text() if release.is_file() else ""
    # Java compares sizes and times: with jars that were installed anew at the same place it passes the archive over.
    names = sorted(f"{jar.name} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in os.scandir(jars))
    text = "\n".join([str(java_home.resolve()), told, *names])
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]
    return _PATTERN.replace("*", digest)


def _path(spark_home: Path, java_home: Path) -> Path:
    return spark_home / archive_name(spark_home / "jars", java_home)
