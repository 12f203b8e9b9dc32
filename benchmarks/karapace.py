"""Karapace, its registry and its REST proxy, installed from its source into an environment of its own, on a broker of ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.connection import HOST
from benchmarks.proxies import Proxy, ProxyName, Site
from benchmarks.registries import Name, PeerMissing, Registry
from benchmarks.turns import say
from tests.provision.cache import cache_root

PYTHON_MINIMUM = (3, 12)
PYTHONS = ("python3.14", "python3.13", "python3.12")
INSTALL_LIMIT_SECONDS = 900
STAMP = "complete"
# Karapace hands Protobuf to a library in Go, which is built from a fork that not every machine can reach. The load is Avro
# alone, so it runs without: the module that would load the library is there, and nothing in it is called.
LAUNCH = """
import runpy, sys, types
library = types.ModuleType("karapace.core.protobuf.protopace.protopace")
for name in ("Proto", "IncompatibleError", "check_compatibility", "format_proto"):
    setattr(library, name, type(name, (Exception,), {}))
sys.modules[library.__name__] = library
runpy.run_module(sys.argv.pop(1), run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Karapace(Registry):
    python: Path = Path("python3")
    name: Name = field(default="karapace", init=False)
    title: str = field(default="Karapace", init=False)

    def command(self, port: int, broker_port: int) -> list[str]:
        return [str(self.python), "-c", LAUNCH, "karapace"]

    def environment(self, port: int, broker_port: int) -> Mapping[str, str]:
        return _environment(port, broker_port)


@dataclass(frozen=True, slots=True)
class KarapaceProxy(Proxy):
    python: Path = Path("python3")
    name: ProxyName = field(default="karapace", init=False)
    title: str = field(default="Karapace", init=False)

    def command(self, site: Site) -> list[str]:
        return [str(self.python), "-c", LAUNCH, "karapace.kafka_rest_apis"]

    def environment(self, site: Site) -> Mapping[str, str]:
        return {
            **_environment(site.port, site.broker_port),
            "KARAPACE_KARAPACE_REST": "true",
            "KARAPACE_REGISTRY_HOST": HOST,
            "KARAPACE_REGISTRY_PORT": str(site.registry_port),
            # Its default of 100 ms would be most of what is measured; ours waits for nothing.
            "KARAPACE_PRODUCER_LINGER_MS": "0",
        }


def _environment(port: int, broker_port: int) -> dict[str, str]:
    """Its defaults, apart from a log level that would cost it time, and acks, which ours waits for too."""
    return {
        "KARAPACE_HOST": HOST,
        "KARAPACE_PORT": str(port),
        "KARAPACE_ADVERTISED_HOSTNAME": HOST,
        "KARAPACE_BOOTSTRAP_URI": f"{HOST}:{broker_port}",
        "KARAPACE_PRODUCER_ACKS": "all",
        "KARAPACE_LOG_LEVEL": "WARNING",
    }


def find(home: Path, source: Path | None) -> Karapace:
    return Karapace(home, python=_find_python(source))


def find_proxy(source: Path | None) -> KarapaceProxy:
    return KarapaceProxy(python=_find_python(source))


def _find_python(source: Path | None) -> Path:
    """The interpreter that has it installed; with a source it is installed first."""
    environment = cache_root() / "karapace"
    if source is not None:
        _install(source, environment)
    if not (environment / STAMP).exists():
        raise PeerMissing(
            "Karapace is not on the package index: check its source out and name the folder, once, with --karapace FOLDER"
        )
    return environment / "bin" / "python"


def _install(source: Path, environment: Path) -> None:
    project = source / "pyproject.toml"
    if not project.is_file():
        raise PeerMissing(f"{source} is not the source of Karapace: it has no pyproject.toml")
    say(f"installing Karapace into {environment}")
    shutil.rmtree(environment, ignore_errors=True)
    _run([str(_python()), "-m", "venv", str(environment)])
    wanted = tomllib.loads(project.read_text())["project"]["dependencies"]
    _run([str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *map(released, wanted)])
    (packages,) = environment.glob("lib/python*/site-packages")
    shutil.copytree(source / "src" / "karapace", packages / "karapace")
    # Its build would write this module.
    (packages / "karapace" / "version.py").write_text('__version__ = "source"\n')
    (environment / STAMP).touch()


def released(requirement: str) -> str:
    """A dependency that is pinned to an address becomes the release of the package index."""
    return requirement.partition(" @ ")[0]


def _python() -> Path:
    if sys.version_info >= PYTHON_MINIMUM:
        return Path(sys.executable)
    for name in PYTHONS:
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return Path(found)
    raise PeerMissing(f"Karapace needs Python {'.'.join(map(str, PYTHON_MINIMUM))} or newer on the path")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_LIMIT_SECONDS, check=False)
    if done.returncode:
        raise PeerMissing(f"Karapace could not be installed; {command[0]} said: {(done.stderr or done.stdout)[-500:]}")
