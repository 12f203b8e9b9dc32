"""The events of the verifiable tools: one JSON object per line, with Kafka's names and its order of fields."""

from __future__ import annotations

import json
import time


def print_event(name: str, **fields: object) -> None:
    event = {"timestamp": int(time.time() * 1000), "name": name, **fields}
    print(json.dumps(event, separators=(",", ":"), ensure_ascii=False), flush=True)
