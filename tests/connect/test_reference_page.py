"""The pages about connectors: what is built in is on one, and the samples of the other work."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from connect.api.record import Record
from connect.compliance.sink import SinkCompliance
from connect.plugins.catalogue import own_plugins
from connect.reference_page import page

PAGE = Path(__file__).parents[2] / "docs" / "connectors.md"
SAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def module_of(name: str, sample: str) -> Any:
    """Import a sample as somebody does who has saved it under the name."""
    with TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.py")
        file.write_text(sample)
        spec = spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


NOTES = module_of("notes", SAMPLES[1])


def test_all_of_our_plugins_are_on_the_page() -> None:
    text = page()
    assert [plugin.name for plugin in own_plugins() if plugin.class_name.partition("$")[0] not in text] == []


class TestSinkOfThePage(SinkCompliance):
    plugin = NOTES.NotesSink

    def arrange(self, folder: Path) -> Mapping[str, str]:
        return {"database": str(folder / "notes.db")}

    def written(self, folder: Path) -> Sequence[int]:
        database = sqlite3.connect(folder / "notes.db")
        try:
            return [place for (place,) in database.execute("SELECT place FROM notes ORDER BY rowid")]
        finally:
            database.close()

    def bad_record(self, number: int) -> Record:
        return Record("t", {"id": number})

    @contextmanager
    def away(self, folder: Path) -> Iterator[None]:
        other = sqlite3.connect(folder / "notes.db")
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.close()
