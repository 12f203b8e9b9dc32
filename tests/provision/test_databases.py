from __future__ import annotations

from pathlib import Path

import pytest

from tests.provision import databases
from tests.provision.databases import DatabaseServer


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")


def server(folder: Path) -> DatabaseServer:
    return DatabaseServer("Sample", "sample-server", ("sampled",), f"{folder}/*/bin", "nobody")


def test_the_newest_version_is_found(tmp_path: Path) -> None:
    for version in ("9", "15", "13"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "sampled").touch()
    assert server(tmp_path).find() == tmp_path / "15" / "bin"


def test_what_is_missing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert server(tmp_path).find() is None
    monkeypatch.setattr(databases, "SERVERS", (server(tmp_path),))
    databases.main()
    assert "sudo apt-get install sample-server; its tests will be skipped" in capsys.readouterr().out
