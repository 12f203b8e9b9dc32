"""Connectors of packages that somebody else has written: installed means known."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from connect.api.plugin import PluginKind
from connect.plugins.catalogue import installed

MODULE = '''
from dataclasses import dataclass
from barnabas.connect import setting, sink

@dataclass(frozen=True, kw_only=True)
class PigeonSettings:
    loft: str = setting("loft", "Where pigeons live.")

@sink("pigeon", aliases=("org.example.PigeonSinkConnector",))
def pigeon(settings: PigeonSettings, records: list) -> None:
    """Sends records by pigeon."""

PLUGINS = (pigeon,)
'''

Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Lay a package into a folder of the path as an installer does: the module, and the metadata beside it."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))

    def lay(package: str, module: str, entry: str) -> None:
        (tmp_path / f"{package}.py").write_text(module)
        metadata = tmp_path / f"{package}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[barnabas.connectors]\n{package} = {entry}\n")

    yield lay
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("entry", ["pigeons:pigeon", "pigeons:PLUGINS"])
@pytest.mark.parametrize("name", ["pigeon", "pigeons.pigeon", "PigeonSink", "org.example.PigeonSinkConnector"])
def test_an_installed_package_is_found_by_all_its_names(install: Install, entry: str, name: str) -> None:
    install("pigeons", MODULE, entry)
    found = installed().find(name, (PluginKind.SINK,))
    assert (found.class_name, found.doc) == ("pigeons.pigeon", "Sends records by pigeon.")


@pytest.mark.parametrize(
    ("module", "entry"), [("1/0", "broken:PLUGINS"), ("", "broken:missing"), ("PLUGINS = 7", "broken:PLUGINS")]
)
def test_a_broken_package_is_told_of_and_harms_no_other(
    install: Install, caplog: pytest.LogCaptureFixture, module: str, entry: str
) -> None:
    install("pigeons", MODULE, "pigeons:PLUGINS")
    install("broken", module, entry)
    assert installed().find("pigeon", (PluginKind.SINK,)).name == "pigeon"
    assert f"the plugin broken ({entry}) cannot be loaded" in caplog.text
