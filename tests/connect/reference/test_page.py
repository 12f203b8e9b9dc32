"""The page about connectors: its tables are those of the declarations, and its samples work."""

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

import pytest

from connect.api.record import Record
from connect.compliance.sink import SinkCompliance
from connect.plugins.catalogue import own_plugins
from connect.reference.__main__ import main
from connect.reference.page import BEGIN, END, with_reference

PAGE = Path(__file__).parents[3] / "docs" / "connectors.md"
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


module_of("spool", SAMPLES[0])
NOTES = module_of("notes", SAMPLES[1])


class TestSourceOfThePage(module_of("test_spool", SAMPLES[2]).TestSpool):  # type: ignore[misc]  # it stands in the page
    """The tests that the page shows, for the source that it shows."""

    count = 12


def test_the_page_says_what_the_declarations_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_reference(page), "run `python -m connect.reference`"


def test_all_of_our_plugins_are_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [plugin.name for plugin in own_plugins() if plugin.class_name.partition("$")[0] not in page] == []


def test_the_program_writes_between_the_marks_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nstale-text\n{END}\nafter\n")
    main([str(page)])
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}\n\n### Sources\n")
    assert text.endswith(f"\n\n{END}\nafter\n")
    assert "stale-text" not in text
    page.write_text("no marks")
    with pytest.raises(ValueError, match="the page lacks the lines"):
        main([str(page)])


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
