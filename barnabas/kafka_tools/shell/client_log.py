"""Log lines on standard error in the layout of Kafka's tools."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Final

from barnabas.wire.client import Client
from barnabas.wire.errors import KafkaError

RECONNECT_S: Final = 1.0


def log(level: str, message: str, logger: str) -> None:
    now_s = time.time()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now_s)) + f",{int(now_s * 1000) % 1000:03}"
    print(f"[{stamp}] {level} {message} ({logger})", file=sys.stderr, flush=True)


async def wait_for_broker(client: Client, who: str) -> None:
    """Try to connect until a broker is there, as Java's clients do, with a warning each time."""
    while True:
        try:
            await client.connection()
        except KafkaError as error:
            log(
                "WARN",
                f"[{who}] {error.message} Trying again; Ctrl-C ends it.",
                "org.apache.kafka.clients.NetworkClient",
            )
            await asyncio.sleep(RECONNECT_S)
        else:
            return
