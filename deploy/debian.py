"""Debian packages, installed where that can be done without asking: as root, on a machine with apt."""

from __future__ import annotations

import os
import shutil
import subprocess

INSTALL_DEADLINE_S = 600


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(package: str) -> bool:
    """Install a package and say whether that worked; the package lists are refreshed when they do not have it."""
    if not can_install():
        return False
    print(f"installing the Debian package {package}", flush=True)
    wanted = ["install", "--yes", "--no-install-recommends", package]
    return _apt_get(wanted) or (_apt_get(["update"]) and _apt_get(wanted))


def _apt_get(arguments: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ["apt-get", "-qq", *arguments],
        env=environment,
        timeout=INSTALL_DEADLINE_S,
        check=False,
        stdout=subprocess.DEVNULL,
    )
    return done.returncode == 0
