"""A log in a file: the offsets of a standalone worker, one JSON line for each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson

from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.log import Apply, LogRecord


class FileLog:
    """Lines `["key", "value"]`, of which the last for a key counts. When the worker starts, only these are written back.

    Keys and values are JSON texts, so that the file can be read by people and other programs.
    """

    def __init__(self, path: Path, apply: Apply, thread: ThreadPoolExecutor) -> None:
        self._path = path
        self._apply = apply
        self._thread = thread

    @classmethod
    async def open(cls, path: Path, apply: Apply) -> FileLog:
        """Apply what the file holds. StoreFailure when it cannot be read."""
        log = cls(path, apply, ThreadPoolExecutor(1, "write offsets"))
        try:
            apply(await asyncio.get_running_loop().run_in_executor(log._thread, log._load))
        except BaseException:
            await log.close()
            raise
        return log

    async def close(self) -> None:
        await asyncio.to_thread(self._thread.shutdown)

    async def append(self, records: Sequence[LogRecord]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._write, records)
        self._apply(records)

    # --- on the thread that writes ---

    def _load(self) -> list[LogRecord]:
        try:
            lines = self._path.read_bytes().splitlines() if self._path.exists() else []
            last = dict(_parse(line) for line in lines[:-1])
            # The last line may be torn, as after a power cut.
            if lines:
                last |= _whole([lines[-1]])
            records = [LogRecord(key, value) for key, value in last.items() if value is not None]
            self._replace(records)
        except ValueError:
            raise StoreFailure(
                f"offset.storage.file.filename={self._path} holds something else than offsets; name another file"
            ) from None
        except OSError as error:
            raise StoreFailure(f"offset.storage.file.filename={self._path}: {error.strerror}") from None
        return records

    def _replace(self, records: Sequence[LogRecord]) -> None:
        """Write the file anew in one step: whoever looks sees the former or the new one."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_name(f"{self._path.name}.new")
        with new.open("wb") as file:
            file.write(_lines(records))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)

    def _write(self, records: Sequence[LogRecord]) -> None:
        try:
            with self._path.open("ab") as file:
                file.write(_lines(records))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreFailure(f"offset.storage.file.filename={self._path}: {error.strerror}") from None


def _lines(records: Sequence[LogRecord]) -> bytes:
    return b"".join(
        orjson.dumps([key.decode(), None if value is None else value.decode()]) + b"\n" for key, value in records
    )


def _parse(line: bytes) -> tuple[bytes, bytes | None]:
    match orjson.loads(line):
        case [str(key), str() | None as value]:
            return key.encode(), None if value is None else value.encode()
        case _:
            raise ValueError("no offset")


def _whole(lines: Sequence[bytes]) -> dict[bytes, bytes | None]:
    try:
        return dict(map(_parse, lines))
    except ValueError:
        return {}
