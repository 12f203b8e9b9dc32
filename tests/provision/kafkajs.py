"""kafkajs, the JavaScript client, installed with npm into the user's cache: `python -m tests.provision.kafkajs`."""

import shutil
import subprocess
from pathlib import Path

from deploy import debian
from tests.provision.cache import cache_root

PACKAGE = "kafkajs@2.2.4"
INSTALL_DEADLINE_S = 300


class KafkaJsError(Exception):
    """kafkajs could not be had; the message says why and what to do."""


def folder() -> Path:
    return cache_root() / "npm"


def provide() -> Path:
    """Return the folder with `node_modules`; install kafkajs into it first if it is not there."""
    if shutil.which("node") is None:
        raise KafkaJsError("kafkajs needs Node.js; on Debian and Ubuntu: apt-get install npm")
    if (folder() / "node_modules" / "kafkajs" / "package.json").is_file():
        return folder()
    npm = shutil.which("npm")
    if npm is None:
        raise KafkaJsError("kafkajs is installed with npm, which is missing; on Debian and Ubuntu: apt-get install npm")
    folder().mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--prefix", str(folder()), "--no-audit", "--no-fund", "--loglevel=error", PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_DEADLINE_S, check=False)
    if done.returncode:
        raise KafkaJsError(f"npm could not install {PACKAGE}; is the network there? It said:\n{done.stderr}")
    return folder()


def main() -> None:
    if shutil.which("npm") is None:
        debian.install("npm")
    try:
        provide()
    except KafkaJsError as error:
        print(f"{error}\nThe tests of kafkajs will be skipped.")


if __name__ == "__main__":
    main()
