"""A process that follows a topic until it is killed: BROKER TOPIC FOLDER. It tells its position each time it grows."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from streams_sql.sql_types import INTEGER
from streams_sql.views.views import Views
from tests.streams_sql.views.tables import table

LOOK_S = 0.001
STANDARD_OUTPUT = 1


async def main(address: str, topic: str, folder: str) -> None:
    views = Views(Path(folder), {"bootstrap.servers": address})
    await views.start()
    await views.follow([table(topic, {"A": INTEGER})])
    while True:
        (status,) = views.status()
        position = sum(status.positions.values())
        if position:
            os.write(STANDARD_OUTPUT, f"{position}\n".encode())
        await asyncio.sleep(LOOK_S)


asyncio.run(main(*sys.argv[1:]))
