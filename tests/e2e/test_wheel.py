"""The wheel holds all that is needed: installed in an environment of its own, the platform starts and the demo runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.platform_process import PlatformProcess

ROOT = Path(__file__).parents[2]
SOURCES = ("barnabas", "connect", "core_broker", "rest_proxy", "schema_registry", "streams_sql")
TEST_S = 1_200

pytestmark = [pytest.mark.long, pytest.mark.timeout(TEST_S)]


class InstalledPlatform(PlatformProcess):
    """`barnabas up` of another environment."""

    def __init__(self, home: Path, program: Path) -> None:
        super().__init__(home)
        self._program = program

    def command(self) -> list[str]:
        return [str(self._program), *super().command()[1:]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, since the build leaves its own files beside the sources."""
    copy, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, copy)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, copy], check=True
    )
    (found,) = target.glob("*.whl")
    return found


def test_the_wheel_holds_every_module(wheel: Path) -> None:
    written = {
        str(path.relative_to(ROOT)) for name in SOURCES for path in (ROOT / name).rglob("*") if path.suffix == ".py"
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name for name in held if name.endswith(".py")} == written
    assert {f"{name}/py.typed" for name in SOURCES} <= held


def test_the_demo_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([environment / "bin" / "pip", "install", "--quiet", f"{wheel}[all]"], check=True)
    program = environment / "bin" / "barnabas"
    platform = InstalledPlatform(tmp_path / "platform", program)
    platform.start()
    try:
        demo = subprocess.run(
            [program, "demo", "--data-dir", platform.data], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert demo.returncode == 0, demo.stdout + demo.stderr
    finally:
        platform.stop()
