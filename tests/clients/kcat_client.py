"""kcat of the distribution: an older librdkafka, which looks at the broker's exact version ranges."""

import itertools
import json
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from tests.clients.records import CLIENT_LIMIT_BYTES, CONSUME_DEADLINE_S, Read, Record

KEY_END = "\t"


class KcatClient:
    """Text only: tabs and newlines part keys and records. The time is always kcat's own."""

    name = "kcat"

    def can_write(self, record: Record) -> bool:
        """Records with text alone, headers with text or nothing; an empty line means nothing to kcat."""
        some = record.key is not None or bool(record.value)
        return some and all(value is not None and b"\x00" not in value for _, value in record.headers)

    def produce(
        self, address: str, topic: str, records: Sequence[Record], codec: str = "none", partition: int = 0
    ) -> None:
        """Write the records in one run for each stretch of them that the same options can write."""
        for (headers, has_key, is_null), stretch in itertools.groupby(
            records, lambda record: (record.headers, record.key is not None, record.value is None)
        ):
            options = [word for name, value in headers for word in ("-H", f"{name}={(value or b'').decode()}")]
            options += ["-K", KEY_END] if has_key else []
            options += ["-Z"] if is_null else []  # Send what is empty as null.
            lines = [
                (record.key + KEY_END.encode() if record.key is not None else b"") + (record.value or b"")
                for record in stretch
            ]
            limit = ["-X", f"message.max.bytes={CLIENT_LIMIT_BYTES}"]
            target = ["-P", "-t", topic, "-p", str(partition), "-z", codec, *limit, *options]
            kcat(address, *target, text=b"\n".join(lines) + b"\n")

    def consume(self, address: str, topic: str, count: int, offset: int = 0, partition: int = 0) -> list[Read]:
        limit = ["-X", f"fetch.message.max.bytes={CLIENT_LIMIT_BYTES}"]
        where = ["-C", "-t", topic, "-p", str(partition), "-o", str(offset), "-c", str(count), "-J", *limit]
        lines = kcat(address, *where).decode(errors="surrogateescape").splitlines()
        return [_read(json.loads(line)) for line in lines]


def kcat(address: str, *arguments: str, text: bytes = b"") -> bytes:
    """Run kcat and return what it printed; the test is skipped where it is not installed."""
    program = shutil.which("kcat")
    if program is None:
        pytest.skip("kcat is not installed; on Debian and Ubuntu: apt-get install kcat")
    command = [program, "-q", "-b", address, *arguments]
    done = subprocess.run(command, input=text, capture_output=True, timeout=CONSUME_DEADLINE_S, check=False)
    assert done.returncode == 0, f"{command} said {done.stderr.decode()}"
    return done.stdout


def _read(line: dict[str, object]) -> Read:
    names_and_values = line.get("headers", [])
    assert isinstance(names_and_values, list)
    headers = tuple(
        (name, _bytes(value)) for name, value in zip(names_and_values[::2], names_and_values[1::2], strict=True)
    )
    offset, timestamp = line["offset"], line["ts"]
    assert isinstance(offset, int)
    assert isinstance(timestamp, int)
    return Read(offset, Record(_bytes(line["key"]), _bytes(line["payload"]), headers, timestamp))


def _bytes(text: object) -> bytes | None:
    return None if text is None else str(text).encode(errors="surrogateescape")
