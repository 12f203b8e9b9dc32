from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.provision import java


def fake_java(home: Path, version: str) -> Path:
    """Write a `java` that prints its version as Java does, and otherwise its arguments, one on a line."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = -version ] && echo \'openjdk version "{version}" 2025-04-15\' >&2 && exit\n'
        'for argument; do echo "$argument"; done\n'
    )
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Java anywhere, and a cache of our own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_no_java_is_none() -> None:
    assert java.find() is None


def test_java_home_is_taken_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "21.0.1")
    fake_java(tmp_path / "path", "17.0.15")
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    assert java.find() == tmp_path / "path"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java.find() == tmp_path / "home"


@pytest.mark.parametrize(
    ("version", "fits"), [("1.8.0_392", False), ("11.0.2", False), ("17.0.15", True), ("25", True)]
)
def test_an_old_java_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, fits: bool) -> None:
    fake_java(tmp_path / "path", version)
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    assert (java.find() is not None) is fits


def test_the_shim_drops_one_argument_and_keeps_the_rest_as_they_are(tmp_path: Path) -> None:
    real = fake_java(tmp_path / "wheel of java", "21.0.4")
    java.write_shim(real, java.shim_home())
    assert java.find() == java.shim_home()
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$HOME", "Main"]
    done = subprocess.run([java.shim_home() / "bin" / "java", *words], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["-cp", "a b", "", "$HOME", "Main", ""]


def test_a_program_may_need_a_newer_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path / "path", "17.0.15")
    fake_java(java.shim_home(), "21.0.8")
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    assert java.find() == tmp_path / "path"
    assert java.provide(21) == java.shim_home()
