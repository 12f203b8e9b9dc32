"""`barnabas schemas` against a registry: from a first registration to a backup of everything."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.cli.main import main
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SchemaText
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
    assert refused("delete", topic, "--permanent") == (
        2,
        "barnabas: nothing was changed: this cannot be undone\n  Say so with --yes.\n",
    )
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
    assert refused("register", order(NEEDED), "-s", topic) == (1, said)


def test_a_check_without_a_subject_compares_nothing(
    schemas: Schemas, refused: Refused, order: Callable[..., str], topic: str
) -> None:
    said = f"{topic} does not exist yet, so that there is nothing to compare with\n"
    assert schemas("check", order(), "-s", topic) == said
    assert schemas("check", order(), "-s", topic, "--version", "3") == said
    assert json.loads(schemas("check", order(), "-s", topic, "-o", "json"))["is_compatible"]
    assert refused("check", order(), "-s", topic, "--must-exist") == (1, said)


@pytest.mark.parametrize("action", ["check", "register"])
@pytest.mark.parametrize("name", ["x.avsc", "x.json", "x.proto"])
def test_what_is_no_schema_is_not_called_incompatible(
    refused: Refused, tmp_path: Path, topic: str, action: str, name: str
) -> None:
    file = tmp_path / name
    file.write_text('{"type":"rec')
    status, said = refused(action, str(file), "-s", topic)
    assert (status, said.startswith(f"barnabas: {file} is not a valid schema: ")) == (2, True), said
    assert "subject=" not in said
    assert "incompatible" not in said


def test_a_schema_of_another_type_is_incompatible(
    schemas: Schemas, refused: Refused, order: Callable[..., str], tmp_path: Path, topic: str
) -> None:
    schemas("register", order(), "-s", topic)
    other = tmp_path / "other.json"
    other.write_text("{}")
    status, said = refused("check", str(other), "-s", topic)
    assert (status, "Incompatible because of different schema type" in said) == (1, True)


def test_advice_names_the_subject_and_ends_where_the_terminal_does(
    schemas: Schemas, refused: Refused, tmp_path: Path, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    file = tmp_path / "open.json"
    file.write_text('{"type":"object"}')
    schemas("register", str(file), "-s", topic)
    file.write_text('{"type":"object","properties":{"a":{"type":"string"}}}')
    lines = refused("check", str(file), "-s", topic)[1].splitlines()
    advice = lines[next(place for place, line in enumerate(lines) if line.startswith("   fix: ")) :]
    assert len(advice) > 1
    assert all(len(line) <= 60 or " " not in line.strip() for line in advice)
    assert all(line.startswith(" " * 8) for line in advice[1:])
    assert f"/config/{topic}" in " ".join(advice)


def test_rules_of_a_schema_are_mentioned(registry_url: str, topic: str, capsys: Captured) -> None:
    rules = [
        {"name": name, "kind": "CONDITION", "mode": "WRITE", "type": kind, "expr": "true"}
        for name, kind in (("a", "CEL"), ("b", "CEL_FIELD"))
    ]
    with RegistryClient(registry_url) as client:
        for count in (1, 2):
            client.register(f"{topic}-{count}", SchemaText('"int"', rule_set={"domainRules": rules[:count]}))
    for count, said in (
        (1, "1 rule (CEL); --output json shows it"),
        (2, "2 rules (CEL, CEL_FIELD); --output json shows them"),
    ):
        assert main(["schemas", "show", f"{topic}-{count}", "--registry", registry_url]) == 0
        assert said in capsys.readouterr().err.splitlines()


def test_no_hits_are_told(registry_url: str, topic: str, capsys: Captured) -> None:
    assert main(["schemas", "list", topic, "--registry", registry_url]) == 0
    assert capsys.readouterr().err == f"no subject begins with {topic}\n"


def test_protobuf_is_compared_by_its_meaning(schemas: Schemas, tmp_path: Path, topic: str) -> None:
    file = tmp_path / "m.proto"
    file.write_text('syntax="proto3";\n// A remark.\nmessage M {string s=1;   }')
    schemas("register", str(file), "-s", topic)
    assert schemas("diff", topic + ":1", str(file)) == ""
    file.write_text('syntax="proto3"; message M {string s=1; int32 i=2;}')
    assert "+  int32 i = 2;" in schemas("diff", f"{topic}:1", str(file)).splitlines()
    file.write_text("no such language")
    assert "+no such language" in schemas("diff", f"{topic}:1", str(file)).splitlines()


def test_colours_are_for_terminals(
    schemas: Schemas, order: Callable[..., str], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schemas("register", order(), "-s", topic)
    schemas("register", order(NOTE), "-s", topic)
    assert "\x1b" not in schemas("diff", topic)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert '\x1b[32m+      "name": "note",\x1b[0m' in schemas("diff", topic)


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
    status, said = refused("compat", "delete", "-s", topic)
    assert (status, f"{topic} has no level of its own; nothing was deleted" in said) == (1, True)
    assert refused("compat", "set", "-s", topic)[0] == 2
    assert refused("compat", "get", "FULL")[0] == 2
    assert refused("compat", "get", "--policy", "strict")[0] == 2


def test_the_policy_of_a_subject(schemas: Schemas, topic: str) -> None:
    level = schemas("compat", "get", "-s", topic).split()[0]
    assert schemas("compat", "set", "--policy", "lenient", "-s", topic).endswith(", policy LENIENT\n")
    assert schemas("compat", "set", "full", "-s", topic) == "FULL, policy LENIENT\n"
    assert schemas("compat", "set", "none", "--policy", "strict", "-s", topic) == "NONE, policy STRICT\n"
    assert json.loads(schemas("compat", "get", "-s", topic, "-o", "json"))["policy"] == "STRICT"
    assert schemas("compat", "delete", "-s", topic) == f"{level} (of the whole registry)\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("register", "nowhere.avsc", "-s", "s"), "nowhere.avsc: No such file or directory"),
        (("register", "schema.txt", "-s", "s"), "the type of schema.txt is unknown from its name"),
        (("register", "x.avsc", "-s", "s", "--reference", "a=b"), "is not of the form NAME=SUBJECT:VERSION"),
        (("delete", "5"), "5 is an id"),
        (("diff", "5"), "nothing to compare 5 with"),
        (("diff", "nowhere.avsc", "x"), "nowhere.avsc: No such file or directory"),
        (("diff", "no/where.proto", "x"), "no/where.proto: No such file or directory"),
        (("show", ""), "the name of a schema is empty"),
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


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("diff", "no-such", "x.avsc"), "no-such is neither a file nor a subject"),
        (("diff", "no-such.proto:latest", "x.avsc"), "no-such.proto:latest is neither a file nor a subject"),
        (("show", "no-such:abc"), "there is no subject 'no-such:abc', and 'abc' is no version of 'no-such'"),
        (("show", ":.context:no-such"), "Subject ':.context:no-such' not found."),
    ],
)
def test_what_is_not_there_is_told(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.avsc").write_text('"int"')
    status, said = refused(*words)
    assert (status, said.startswith(f"barnabas: {complaint}\n")) == (1, True), said


def test_silence_is_explained(order: Callable[..., str], capsys: Captured) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert main(["schemas", "check", order(), "-s", "s", "--registry", url]) == 3
    capsys.readouterr()
    assert main(["schemas", "list", "--registry", url]) == 3
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


def test_a_service_that_is_no_registry_or_worker_is_told(
    rest_url: str, registry_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schemas", "list", "--registry", rest_url]) == 1
    assert "Is --registry right?" in capsys.readouterr().err
    assert main(["connectors", "list", "--connect", registry_url]) == 1
    assert "Is --connect right?" in capsys.readouterr().err
