"""A server's folder, which it shares with nobody."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from streams_sql.own_folder import LOCK_FILE, OwnFolder

DEADLINE_S = 60.0


def test_a_server_on_its_way_out_is_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        former, next_one = OwnFolder(tmp_path), OwnFolder(tmp_path, DEADLINE_S)
        await former.open()
        opening = asyncio.create_task(next_one.open())
        # It runs until it waits.
        await asyncio.sleep(0)
        assert not opening.done()
        former.close()
        await opening
        next_one.close()

    asyncio.run(scenario())
    assert f"another server, process {os.getpid()}, uses {tmp_path}" in caplog.text


def test_one_that_stays_is_named(tmp_path: Path) -> None:
    async def scenario() -> str:
        holder = OwnFolder(tmp_path)
        await holder.open()
        with pytest.raises(SettingError) as refused:
            await OwnFolder(tmp_path, 0).open()
        return str(refused.value)

    told = asyncio.run(scenario())
    assert f"another server, process {os.getpid()}, uses this folder" in told
    assert "Stop it, or give each server a folder of its own (--data-dir)" in told


@pytest.mark.parametrize("noted", [b"", b"no number", str(2**22 + 1).encode()])
def test_a_holder_that_is_not_known_here_is_not_named(tmp_path: Path, noted: bytes) -> None:
    async def scenario() -> str:
        await OwnFolder(tmp_path).open()
        (tmp_path / LOCK_FILE).write_bytes(noted)
        with pytest.raises(SettingError) as refused:
            await OwnFolder(tmp_path, 0).open()
        return str(refused.value)

    assert "another server uses this folder" in asyncio.run(scenario())
