"""The registry's client: its calls, what it keeps, other addresses when one is silent, and answers that make no sense."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from barnabas.kernel.serdes.registry_client import LATEST, RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import AVRO, JSON, Reference, SchemaText
from tests.ports import free_port

STRING = SchemaText('"string"')
# How often the scripted server looks whether it shall stop.
STOP_POLL_S = 0.01
RECORD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"%s}]}'


@pytest.fixture
def client(registry_url: str) -> Iterator[RegistryClient]:
    with RegistryClient(registry_url) as client:
        yield client


def test_a_schema_from_its_registration_to_its_end(client: RegistryClient, topic: str) -> None:
    first = SchemaText(RECORD % "", metadata={"properties": {"owner": "me"}})
    schema_id = client.register(topic, first)
    assert client.register(topic, first) == schema_id
    found = client.lookup(topic, first)
    assert (found.subject, found.version, found.id, found.deleted) == (topic, 1, schema_id, False)
    assert client.schema(schema_id) == found.schema == first
    assert client.schema(client.guid(schema_id)) == first
    second = SchemaText(RECORD % ',"default":1')
    client.register(topic, second)
    assert client.versions(topic) == [1, 2]
    # What a newer version says nothing of, it has from the one before: here the owner.
    assert client.version(topic) == client.version(topic, LATEST) == client.version(topic, 2)
    assert client.version(topic).schema == replace(second, metadata=first.metadata)
    assert topic in client.subjects()
    assert [(each.subject, each.version) for each in client.schemas(topic)] == [(topic, 1), (topic, 2)]
    assert [each.version for each in client.schemas(topic, latest_only=True)] == [2]
    assert client.delete(topic, 1) == [1]
    assert [(each.version, each.deleted) for each in client.schemas(topic, deleted=True)] == [(1, True), (2, False)]
    assert client.version(topic, 1, deleted=True).schema == first
    assert client.delete(topic) == [2]
    assert client.delete(topic, permanent=True) == [1, 2]
    assert list(client.schemas(topic, deleted=True)) == []


def test_subjects_may_have_any_name(client: RegistryClient, topic: str) -> None:
    name = f"{topic}/ä %2F?#&:x"
    client.register(name, STRING)
    assert name in client.subjects()
    assert client.versions(name) == [1]


def test_references_and_other_types(client: RegistryClient, topic: str) -> None:
    client.register(f"{topic}-item", SchemaText('{"type":"object"}', JSON))
    schema = SchemaText('{"$ref":"item.json"}', JSON, (Reference("item.json", f"{topic}-item", 1),))
    assert client.schema(client.register(topic, schema)) == schema
    with pytest.raises(RegistryClientError) as refusal:
        client.delete(f"{topic}-item")
    assert (refusal.value.status, refusal.value.code) == (422, 42206)


def test_settings_and_modes(client: RegistryClient, topic: str) -> None:
    with pytest.raises(RegistryClientError) as missing:
        client.config(topic)
    assert (missing.value.status, missing.value.code) == (404, 40408)
    assert client.config(topic, inherited=True)["compatibilityLevel"] == client.config()["compatibilityLevel"]
    client.set_config(topic, {"compatibility": "FULL"})
    assert client.config(topic)["compatibilityLevel"] == "FULL"
    client.delete_config(topic)
    client.set_mode(topic, "IMPORT")
    assert client.mode(topic) == "IMPORT"
    client.delete_mode(topic)
    with pytest.raises(RegistryClientError, match="does not have subject-level mode"):
        client.mode(topic)


def test_compatibility_is_told(client: RegistryClient, topic: str) -> None:
    client.register(topic, SchemaText('{"type":"record","name":"R","fields":[]}'))
    assert client.compatibility(topic, SchemaText(RECORD % ',"default":1'))["is_compatible"] is True
    refused = client.compatibility(topic, SchemaText(RECORD % ""), LATEST)
    assert refused["is_compatible"] is False
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in refused["messages"][0]
    with pytest.raises(RegistryClientError) as refusal:
        client.register(topic, SchemaText(RECORD % ""))
    assert refusal.value.status == 409


def test_an_address_that_is_silent_is_passed_over(registry_url: str, topic: str) -> None:
    with RegistryClient(f"http://127.0.0.1:{free_port()}, {registry_url}") as client:
        client.register(topic, STRING)
        assert client.versions(topic) == [1]


def test_a_context_may_be_part_of_the_address(registry_url: str, topic: str) -> None:
    with RegistryClient(f"{registry_url}/contexts/.{topic}/") as inside, RegistryClient(registry_url) as outside:
        schema_id = inside.register("s", STRING)
        assert inside.schema(schema_id) == STRING
        assert outside.versions(f":.{topic}:s") == [1]


@pytest.mark.parametrize(
    "url", ["", " , ", "127.0.0.1:8081", "ftp://x", "http://", "http://x:y", "http://x:0", "http://x:99999"]
)
def test_an_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(RegistryClientError, match=r"http://"):
        RegistryClient(url)


def test_silence_is_told_without_the_password() -> None:
    port = free_port()
    with RegistryClient(f"http://me:secret@127.0.0.1:{port}") as client, pytest.raises(RegistryClientError) as silence:
        client.subjects()
    assert silence.value.status is None
    assert silence.value.message == f"cannot reach the schema registry at http://127.0.0.1:{port}: Connection refused"


class Scripted(BaseHTTPRequestHandler):
    """Answers with what the test wants and notes what it was asked."""

    protocol_version = "HTTP/1.1"
    answer = (200, b"[]")
    closes_kept = False
    url: str
    asked: list[tuple[str, str | None, str | None]]

    def do_GET(self) -> None:
        accepts = self.headers["Confluent-Accept-Unknown-Properties"]
        self.asked.append((self.path, self.headers["Authorization"], accepts))
        status, body = self.answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        # Without a word in the answer, as a server does whose patience with an idle connection has ended.
        self.close_connection = self.closes_kept

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


@pytest.fixture
def scripted() -> Iterator[type[Scripted]]:
    class Own(Scripted):
        pass

    Own.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Own) as server:
        Own.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(STOP_POLL_S,))
        thread.start()
        yield Own
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("user", "user_info", "sent"),
    [
        ("", None, None),
        ("", "me:secret", "Basic bWU6c2VjcmV0"),
        ("me:p%40ss@", "other:x", "Basic bWU6cEBzcw=="),
    ],
)
def test_what_every_request_carries(
    scripted: type[Scripted], user: str, user_info: str | None, sent: str | None
) -> None:
    with RegistryClient(scripted.url.replace("http://", f"http://{user}"), user_info) as client:
        assert list(client.schemas("a b", deleted=True)) == []
    assert scripted.asked == [("/schemas?subjectPrefix=a+b&deleted=true&limit=500", sent, "true")]


def test_a_connection_that_was_closed_meanwhile_is_made_anew(scripted: type[Scripted]) -> None:
    scripted.closes_kept = True
    with RegistryClient(scripted.url) as client:
        assert [client.subjects(), client.subjects(), client.subjects()] == [[], [], []]


def test_what_an_id_stands_for_is_asked_for_once(scripted: type[Scripted]) -> None:
    scripted.answer = (200, b'{"schema":"\\"int\\""}')
    with RegistryClient(scripted.url) as client:
        assert client.schema(1) == client.schema(1) == SchemaText('"int"', AVRO)
        client.schema(1, "serialized")
    assert [path for path, _, _ in scripted.asked] == ["/schemas/ids/1", "/schemas/ids/1?format=serialized"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((404, b'{"error_code":40401,"message":"no"}'), (404, 40401, "no")),
        ((500, b""), (500, 500, "the registry answered with status 500")),
        ((502, b"[1]"), (502, 502, "the registry answered with status 502")),
        ((200, b"<html>"), (200, 200, "the answer is not JSON (status 200): <html>")),
        ((401, b"no entry"), (401, 401, "the answer is not JSON (status 401): no entry")),
    ],
)
def test_a_refusal_is_told(scripted: type[Scripted], answer: tuple[int, bytes], error: tuple[int, int, str]) -> None:
    scripted.answer = answer
    with RegistryClient(scripted.url) as client, pytest.raises(RegistryClientError) as refusal:
        client.subjects()
    assert (refusal.value.status, refusal.value.code, refusal.value.message) == error
