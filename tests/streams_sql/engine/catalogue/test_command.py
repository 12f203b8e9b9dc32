"""Commands as records of the topic."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from streams_sql.engine.catalogue.command import VERSION, Command, UnknownCommand

WHOLE = Command(
    "CREATE STREAM X AS SELECT * FROM S;",
    {"auto.offset.reset": "latest"},
    {"value": "`A` INTEGER"},
    query_id="CSAS_X_1",
    lowering=7,
    slots=3,
    positions='{"s": {"id": "abc", "offsets": {"0": 12}}}',
    why_batches="it keeps state",
)


@pytest.mark.parametrize("command", [WHOLE, Command("DROP STREAM X;")], ids=["whole", "bare"])
def test_a_command_comes_back_as_it_was(command: Command) -> None:
    assert Command.decode(command.encode()) == command


def test_what_is_not_there_is_not_written() -> None:
    assert orjson.loads(Command("DROP STREAM X;").encode()) == {"version": 1, "statement": "DROP STREAM X;"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "it is no JSON"),
        (b"[]", "it has version None"),
        (b'{"version":4,"statement":"x"}', "it has version 4, and this server reads versions up to 3"),
        (b'{"version":1}', "its statement is None"),
        (b'{"version":1,"statement":"x","properties":{"a":1}}', "its properties are"),
    ],
)
def test_what_this_server_cannot_read_is_told(raw: bytes, reason: str) -> None:
    with pytest.raises(UnknownCommand, match=reason):
        Command.decode(raw)


def test_only_what_former_servers_would_misread_has_a_later_version() -> None:
    rebuilt = Command("CREATE TABLE X;", query_id="B", rebuilds="A")
    swap = Command("CREATE TABLE X;", query_id="B", is_swap=True)
    of_stream = replace(rebuilt, is_of_stream=True)
    for command, version in ((rebuilt, 2), (swap, 2), (of_stream, VERSION)):
        assert orjson.loads(command.encode())["version"] == version
        assert Command.decode(command.encode()) == command
    assert Command.decode(Command("X;", spare_id="A").encode()) == Command("X;")
