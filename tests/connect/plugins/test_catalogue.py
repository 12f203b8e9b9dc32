"""Plugins under all the names that configurations use."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect.api.plugin import PluginKind
from connect.errors import ConnectError
from connect.plugins.catalogue import installed
from connect.plugins.plugin_files import passed_over

PLUGINS = installed()
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"

CONNECTOR_FILE = '''
from dataclasses import dataclass
from collections.abc import Iterator
from barnabas.connect import Batch, Idle, Offsets, Record, setting, source

@dataclass(frozen=True, kw_only=True)
class CountSettings:
    topic: str = setting("topic", "Where to.")
    until: int = setting("until", "How far.", 3)

@source("counter")
def count(settings: CountSettings, offsets: Offsets) -> Iterator[Batch | Idle]:
    """Counts."""
    yield Batch([Record(settings.topic, number) for number in range(settings.until)])
'''


@pytest.mark.parametrize(
    ("name", "kind", "class_name"),
    [
        (SOURCE, PluginKind.SOURCE, SOURCE),
        ("FileStreamSourceConnector", PluginKind.SOURCE, SOURCE),
        ("FileStreamSource", PluginKind.SOURCE, SOURCE),
        ("file-source", PluginKind.SOURCE, SOURCE),
        ("JsonConverter", PluginKind.CONVERTER, "org.apache.kafka.connect.json.JsonConverter"),
        ("JsonConverter", PluginKind.HEADER_CONVERTER, "org.apache.kafka.connect.json.JsonConverter"),
        ("InsertField$Key", PluginKind.TRANSFORMATION, "org.apache.kafka.connect.transforms.InsertField$Key"),
    ],
)
def test_a_plugin_has_many_names(name: str, kind: PluginKind, class_name: str) -> None:
    assert PLUGINS.find(name, (kind,)).class_name == class_name


def test_a_file_is_enough_for_a_connector(tmp_path: Path) -> None:
    file = tmp_path / "counting.py"
    file.write_text(CONNECTOR_FILE)
    plugin = installed([str(tmp_path)]).find("counter", (PluginKind.SOURCE,))
    assert plugin.doc == "Counts."
    settings = plugin.settings_type(topic="t", until=2)
    (batch,) = plugin.made_by(settings).read([{}], None)
    assert [(record.topic, record.value) for record in batch.records] == [("t", 0), ("t", 1)]


@pytest.mark.parametrize(("text", "reason"), [("1/0", "ZeroDivisionError"), ("def", "SyntaxError")])
def test_a_file_that_cannot_be_loaded_is_named(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(ConnectError, match=f"broken.py cannot be loaded: {reason}"):
        installed([str(tmp_path)])


def test_paths_of_jars_are_passed_over(tmp_path: Path) -> None:
    jar, folder, missing = tmp_path / "connect-file.jar", tmp_path / "plugins", str(tmp_path / "missing")
    jar.touch()
    folder.mkdir()
    paths = [str(jar), str(folder), missing]
    assert list(installed(paths)) == list(PLUGINS)
    assert passed_over(paths) == [str(jar), missing]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="there is no file"):
        installed([str(tmp_path / "nothing.py")])
