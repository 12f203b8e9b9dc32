"""`barnabas schemas export` and `import`: ids, versions, what is deleted, settings, modes, contexts and references survive."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.main import main
from barnabas.kernel.serdes.registry_client import ALL_CONTEXTS, RegistryClient
from barnabas.kernel.serdes.schema_text import PROTOBUF, Reference, SchemaText
from tests.broker import BarnabasBroker
from tests.registry import RegistryProcess

StartRegistry = Callable[[], str]
Captured = pytest.CaptureFixture[str]

USED = SchemaText('syntax = "proto3";\n\nmessage Used {}\n', PROTOBUF)
USING = SchemaText(
    'syntax = "proto3";\n\nimport "used.proto";\n\nmessage Using {\n  Used used = 1;\n}\n',
    PROTOBUF,
    (Reference("used.proto", "zz-used", 1),),
)


@pytest.fixture
def start_registry(barnabas: BarnabasBroker, tmp_path: Path) -> Iterator[StartRegistry]:
    """Start registries that hold nothing yet, each on a topic of its own."""
    started: list[RegistryProcess] = []

    def start() -> str:
        name = f"{tmp_path.name}-{len(started)}-{secrets.token_hex(4)}"
        settings = {"kafkastore.topic": f"_schemas-{name}", "schema.registry.group.id": name}
        own = RegistryProcess(tmp_path / name, barnabas.address, settings=settings)
        started.append(own)
        own.start()
        return own.url

    yield start
    for own in started:
        own.stop()


def fill(client: RegistryClient) -> None:
    """Subjects whose order by name is not the order in which they can be registered."""
    client.register("zz-used", USED)
    client.register("aa-using", USING)
    for number in range(3):
        fields = [{"name": f"f{each}", "type": "int", "default": 0} for each in range(number)]
        text = json.dumps({"type": "record", "name": "R", "fields": fields}, separators=(",", ":"))
        client.register("evolving", SchemaText(text, metadata={"properties": {"owner": f"o{number}"}}))
    client.delete("evolving", 2)
    client.register("gone", SchemaText('"string"'))
    client.delete("gone")
    client.register(":.other:s", SchemaText('"int"'))
    client.set_config(None, {"compatibility": "FULL"})
    client.set_config("evolving", {"compatibility": "NONE"})
    client.set_mode("zz-used", "READONLY")


def content(client: RegistryClient) -> dict[str, Any]:
    return {
        "live": list(client.schemas(ALL_CONTEXTS)),
        "all": list(client.schemas(ALL_CONTEXTS, deleted=True)),
        "configs": [client.config(), client.config("evolving")],
        "modes": [client.mode(), client.mode("zz-used")],
    }


def run(url: str, *words: str) -> int:
    return main(["schemas", *words, "--registry", url])


def test_a_registry_moves_with_all_it_has(start_registry: StartRegistry, tmp_path: Path, capsys: Captured) -> None:
    source, target = start_registry(), start_registry()
    file = str(tmp_path / "backup.jsonl")
    with RegistryClient(source) as old, RegistryClient(target) as new:
        fill(old)
        assert run(source, "export", file) == 0
        assert run(target, "import", file) == 0
        assert "imported 7 of 7 schemas" in capsys.readouterr().err
        assert content(new) == content(old)
        # Again, and after half of it was lost: what is there stays, what is missing comes.
        assert run(target, "import", file) == 0
        assert "imported 0 of 7 schemas" in capsys.readouterr().err
        new.delete("aa-using")
        new.delete("aa-using", permanent=True)
        assert run(target, "import", file) == 0
        assert "imported 1 of 7 schemas" in capsys.readouterr().err
        assert content(new) == content(old)
        # What is registered next gets an id that nothing has.
        new.set_mode("zz-used", "READWRITE")
        assert new.register("next", SchemaText('"bytes"')) not in {each.id for each in old.schemas("", deleted=True)}
        _check_strangers(target, new, old, file, capsys)


def _check_strangers(target: str, new: RegistryClient, old: RegistryClient, file: str, capsys: Captured) -> None:
    """A registry that holds something else is left alone, unless it is to be added to."""
    new.set_config("evolving", {"compatibility": "FORWARD"})
    assert run(target, "import", file) == 1
    assert "the registry is not empty: 1 schemas are not of" in capsys.readouterr().err
    assert run(target, "import", file, "--merge") == 0
    assert new.versions("next") == [1]
    assert new.config("evolving")["compatibilityLevel"] == "FORWARD"
    new.delete("evolving", 1)
    new.delete("evolving")
    new.delete("evolving", permanent=True)
    new.register("evolving", SchemaText('"long"'))
    before = content_of_subjects(new)
    assert run(target, "import", file, "--merge") == 1
    assert "evolving version 1 is there with another schema or id" in capsys.readouterr().err
    assert content_of_subjects(new) == before


def content_of_subjects(client: RegistryClient) -> list[Any]:
    return list(client.schemas(ALL_CONTEXTS, deleted=True))


def test_an_export_can_be_piped(registry_url: str, topic: str, capsys: Captured) -> None:
    with RegistryClient(registry_url) as client:
        client.register(topic, SchemaText('"string"'))
    capsys.readouterr()
    assert run(registry_url, "export") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == {"kind": "head", "format": "barnabas-schemas", "version": 1}
    assert lines[-1] == {"kind": "end", "schemas": sum(line["kind"] == "schema" for line in lines)}
    assert topic in [line.get("subject") for line in lines]


HEAD = '{"kind":"head","format":"barnabas-schemas","version":1}\n'
SCHEMA = '{"kind":"schema","subject":"s","version":1,"id":1,"schema":"\\"int\\"","deleted":false}\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is cut off"),
        (HEAD + SCHEMA, "is cut off"),
        (HEAD + SCHEMA + '{"kind":"end","schemas":2}\n', "line 3: 1 schemas are there of 2"),
        (HEAD + SCHEMA[:30], "line 2: "),
        (HEAD + '{"kind":"schema"}\n', "line 2: 'subject' is missing"),
        (HEAD + '{"kind":"cheese"}\n', "line 2: 'cheese' is nothing that a backup holds"),
        ('{"kind":"head","format":"barnabas-schemas","version":2}\n', "line 1: the format is barnabas-schemas 2"),
        ("[1]\n", "line 1: "),
    ],
)
def test_a_file_that_is_no_whole_backup_is_refused(
    registry_url: str, tmp_path: Path, capsys: Captured, text: str, complaint: str
) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text(text)
    assert run(registry_url, "import", str(file)) == 2
    assert complaint in capsys.readouterr().err


def test_a_failed_export_leaves_the_old_file(registry_url: str, tmp_path: Path, capsys: Captured) -> None:
    assert run(registry_url, "export", str(tmp_path / "no" / "file")) == 1
    assert "No such file or directory" in capsys.readouterr().err
