"""`barnabas schemas` against a registry: from a first registration to a backup of everything."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.cli import terminal
from barnabas.cli.main import main
from tests.ports import free_port

ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}%s]}'
NOTE = ',{"name":"note","type":["null","string"],"default":null}'
NEEDED = ',{"name":"needed","type":"string"}'

Schemas = Callable[..., str]
Refused = Callable[..., tuple[int, str]]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def schemas(registry_url: str, capsys: Captured) -> Schemas:
    """Run an action against the registry; it must succeed. Returns what it printed."""

    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(["schemas", *words, "--registry", registry_url]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(registry_url: str, capsys: Captured) -> Refused:
    """Run an action that does not succeed. Returns its status and all that it printed."""

    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(["schemas", *words, "--registry", registry_url])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run


@pytest.fixture
def order(tmp_path: Path) -> Callable[[str], str]:
    """The file of an order with more fields."""

    def write(more: str = "") -> str:
        path = tmp_path / "order.avsc"
        path.write_text(ORDER % more)
        return str(path)

    return write


def test_a_subject_from_its_first_version_to_its_end(
    schemas: Schemas, refused: Refused, order: Callable[..., str], topic: str
) -> None:
    first = json.loads(schemas("register", order(), "-s", topic, "-o", "json"))
    assert (first["subject"], first["version"]) == (topic, 1)
    shown = schemas("register", order(NOTE), "-s", topic, "--metadata", "owner=me")
    assert shown.startswith(f"registered {topic} version 2, id ")
    listed = [json.loads(line) for line in schemas("list", topic, "-o", "jsonl").splitlines()]
    assert [(row["subject"], row["version"], row["type"]) for row in listed] == [(topic, 2, "AVRO")]
    assert schemas("list", topic, "--versions").splitlines()[1].split() == [topic, "1", str(first["id"]), "AVRO"]
    assert schemas("show", f"{topic}:1") == json.dumps(json.loads(ORDER % ""), indent=2) + "\n"
    assert json.loads(schemas("show", str(first["id"]), "-o", "json"))["schema"] == ORDER % ""
    newest = json.loads(schemas("show", topic, "-o", "json"))
    assert (newest["version"], newest["metadata"]) == (2, {"properties": {"owner": "me"}})
    assert schemas("delete", f"{topic}:1") == f"deleted {topic} version 1\n"
    rows = json.loads(schemas("list", topic, "--versions", "--deleted", "-o", "json"))
    assert [(row["version"], row["state"]) for row in rows] == [(1, "deleted"), (2, "live")]
    assert refused("delete", topic, "--permanent") == (2, "barnabas: this cannot be undone\n  Say so with --yes.\n")
    assert schemas("delete", topic, "--permanent", "--yes") == f"deleted {topic} versions 1, 2 for good\n"
    status, said = refused("show", topic)
    assert (status, said) == (
        1,
        f"barnabas: Subject '{topic}' not found.\n  `barnabas schemas list` shows the subjects there are.\n",
    )


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("p.proto", 'syntax = "proto3";\n\nmessage M {\n  string s = 1;\n}\n', "PROTOBUF"),
        ("j.json", '{"type":"object"}', "JSON"),
    ],
)
def test_the_name_of_a_file_tells_its_type(
    schemas: Schemas, tmp_path: Path, topic: str, name: str, text: str, kind: str
) -> None:
    (tmp_path / name).write_text(text)
    schemas("register", str(tmp_path / name), "-s", topic)
    assert json.loads(schemas("show", topic, "-o", "json"))["schemaType"] == kind
    shown = text if kind == "PROTOBUF" else json.dumps(json.loads(text), indent=2) + "\n"
    assert schemas("show", topic) == shown


def test_a_schema_that_uses_another(schemas: Schemas, tmp_path: Path, topic: str) -> None:
    item, order = tmp_path / "item.proto", tmp_path / "order.proto"
    item.write_text('syntax = "proto3"; message Item {}')
    order.write_text('syntax = "proto3"; import "item.proto"; message Order { Item item = 1; }')
    schemas("register", str(item), "-s", f"{topic}-item")
    schemas("register", str(order), "-s", topic, "--reference", f"item.proto={topic}-item:1")
    reference = {"name": "item.proto", "subject": f"{topic}-item", "version": 1}
    assert json.loads(schemas("show", topic, "-o", "json"))["references"] == [reference]


def test_what_changed_is_shown(schemas: Schemas, refused: Refused, order: Callable[..., str], topic: str) -> None:
    schemas("register", order(), "-s", topic)
    assert refused("diff", topic)[0] == 2
    schemas("register", order(NOTE), "-s", topic)
    lines = schemas("diff", topic).splitlines()
    assert lines[:2] == [f"--- {topic}:1", f"+++ {topic}:2"]
    assert '+      "name": "note",' in lines
    assert schemas("diff", f"{topic}:1", order()) == ""
    compared = json.loads(schemas("diff", f"{topic}:2", order(), "-o", "json"))
    assert (compared["old"], compared["new"]) == (f"{topic}:2", order())
    assert '-      "name": "note",' in compared["diff"]


def test_a_check_tells_what_breaks_and_what_would_help(
    schemas: Schemas, refused: Refused, order: Callable[..., str], topic: str
) -> None:
    schemas("register", order(), "-s", topic)
    assert schemas("check", order(NOTE), "-s", topic) == f"{order(NOTE)} is compatible with {topic}\n"
    status, said = refused("check", order(NEEDED), "-s", topic)
    lines = said.splitlines()
    assert (status, lines[:2]) == (1, [f"{order(NEEDED)} is not compatible with {topic}", ""])
    assert lines[2].startswith("1. READER_FIELD_MISSING_DEFAULT_VALUE at ")
    parts = {line.strip().partition(":")[0] for line in lines[3:]}
    assert {"new", "why", "fix"} <= parts
    status, text = refused("check", order(NEEDED), "-s", topic, "--version", "1", "-o", "json")
    answer = json.loads(text)
    assert (status, answer["is_compatible"], answer["differences"][0]["version"]) == (1, False, 1)
    status, said = refused("register", order(NEEDED), "-s", topic)
    assert status == 1
    assert said.endswith(
        f"  {'`barnabas schemas check FILE --subject SUBJECT` tells what breaks, and what would help.'}\n"
    )


def test_colours_are_for_terminals(
    schemas: Schemas, order: Callable[..., str], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schemas("register", order(), "-s", topic)
    schemas("register", order(NOTE), "-s", topic)
    assert "\x1b" not in schemas("diff", topic)
    monkeypatch.setattr(terminal, "colours_here", lambda stream: stream is sys.stdout)
    assert terminal.painted('+      "name": "note",', terminal.GREEN) in schemas("diff", topic)


def test_the_level_of_a_subject(schemas: Schemas, refused: Refused, topic: str) -> None:
    inherited = schemas("compat", "get", "-s", topic)
    assert inherited.endswith(" (of the whole registry)\n")
    assert schemas("compat", "set", "full", "-s", topic) == "FULL\n"
    assert json.loads(schemas("compat", "get", "-s", topic, "-o", "json")) == {
        "subject": topic,
        "level": "FULL",
        "inherited": False,
    }
    assert schemas("compat", "delete", "-s", topic) == inherited
    assert refused("compat", "set", "-s", topic)[0] == 2
    assert refused("compat", "get", "FULL")[0] == 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("register", "nowhere.avsc", "-s", "s"), "nowhere.avsc: No such file or directory"),
        (("register", "schema.txt", "-s", "s"), "the name of schema.txt does not tell its type"),
        (("register", "x.avsc", "-s", "s", "--reference", "a=b"), "is not of the form NAME=SUBJECT:VERSION"),
        (("delete", "5"), "5 is an id"),
        (("diff", "5"), "with what shall 5 be compared?"),
        (("import", "nowhere.jsonl"), "nowhere.jsonl: No such file or directory"),
    ],
)
def test_a_mistake_is_explained(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.avsc").write_text('"int"')
    status, said = refused(*words)
    assert (status, complaint in said) == (2, True), said


def test_silence_is_explained(capsys: Captured) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert main(["schemas", "list", "--registry", url]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"barnabas: cannot reach the schema registry at {url}: Connection refused\n")
    assert "--registry URL (or SCHEMA_REGISTRY_URL)" in said


def test_the_environment_names_the_registry(
    registry_url: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", registry_url)
    assert main(["schemas", "compat", "get"]) == 0
    assert capsys.readouterr().out.strip() in ("BACKWARD", "NONE", "FULL")


def test_subjects_are_offered_to_the_shell(
    registry_url: str,
    schemas: Schemas,
    order: Callable[..., str],
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    schemas("register", order(), "-s", topic)
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", registry_url)
    assert main(["completion", "names", "subjects"]) == 0
    assert topic in capsys.readouterr().out.splitlines()
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", f"http://127.0.0.1:{free_port()}")
    assert (main(["completion", "names", "subjects"]), *capsys.readouterr()) == (1, "", "")
    assert main(["completion", "bash"]) == 0
    assert 'names="subjects"' in capsys.readouterr().out
