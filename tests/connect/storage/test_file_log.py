"""The offsets of a standalone worker in their file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.log import LogRecord
from connect.storage.file_log import FileLog


def loaded(path: Path, *appended: LogRecord) -> dict[bytes, bytes | None]:
    """What a log comes to after it was opened and something was added."""
    found: dict[bytes, bytes | None] = {}

    async def use() -> None:
        log = await FileLog.open(path, found.update)
        for record in appended:
            await log.append([record])
        await log.close()

    asyncio.run(use())
    return found


def test_the_last_value_of_a_key_counts_and_the_file_does_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "offsets"
    written = [LogRecord(b'["c",{}]', f'{{"n":{number}}}'.encode()) for number in range(50)]
    gone = [LogRecord(b'["d",{}]', b"{}"), LogRecord(b'["d",{}]', None)]
    assert loaded(path, *written, *gone) == {b'["c",{}]': b'{"n":49}', b'["d",{}]': None}
    assert loaded(path) == {b'["c",{}]': b'{"n":49}'}
    assert len(path.read_text().splitlines()) == 1


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "offsets"
    loaded(path, LogRecord(b"a", b"1"), LogRecord(b"b", b"2"))
    path.write_bytes(path.read_bytes()[:-4])
    assert loaded(path) == {b"a": b"1"}


@pytest.mark.parametrize("content", [b"\xac\xed\x00\x05sr\nmore\n", b"{}\n{}\n"])
def test_a_file_of_something_else_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "offsets"
    path.write_bytes(content)
    with pytest.raises(StoreFailure, match="something else than offsets"):
        loaded(path)
    assert path.read_bytes() == content
