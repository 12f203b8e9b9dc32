"""The pages of docs/reference say what is declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from barnabas.kafka_tools.main import MODULES
from barnabas.reference.__main__ import main
from barnabas.reference.pages import pages
from barnabas.services import SERVICES

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
MEND = "make the pages again: python -m barnabas.reference"


@pytest.fixture(scope="module")
def made() -> Mapping[str, str]:
    return pages()


def test_each_page_is_what_the_declarations_give(made: Mapping[str, str]) -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(made), MEND
    stale = [name for name, text in made.items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert stale == [], MEND


def test_the_command_writes_them(tmp_path: Path, made: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.reference.__main__.pages", lambda: made)
    main([str(tmp_path)])
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == made


@pytest.mark.parametrize("name", list(SERVICES))
def test_every_setting_of_a_service_is_on_its_page(made: Mapping[str, str], name: str) -> None:
    page = made[f"settings-{name}.md"]
    assert [setting for setting in SERVICES[name].catalogue() if f"`{setting}`" not in page] == []


def test_every_tool_and_command_has_words(made: Mapping[str, str]) -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \|$", made["kafka-tools.md"], re.MULTILINE)
    assert [name for name, _ in rows] == list(MODULES)
    assert all(about for _, about in rows)
    commands = re.findall(r"^## (barnabas .+)\n\n(.+)$", made["command.md"], re.MULTILINE)
    assert {"barnabas up", "barnabas serve sql", "barnabas connectors offsets"} <= {name for name, _ in commands}
    assert all(about for _, about in commands)
    assert re.findall(r"^\| `.+` \|  \|$", made["command.md"], re.MULTILINE) == []


def test_every_metric_has_words(made: Mapping[str, str]) -> None:
    rows = re.findall(r"^\| `(\w+)` \| \w+ \| .*? \| (.*) \|$", made["metrics.md"], re.MULTILINE)
    names = {name for name, _ in rows}
    assert {"kafka_log_log_size", "schema_registry_subjects", "connect_task_running", "streams_sql_queries"} <= names
    assert [name for name, about in rows if not about] == []
