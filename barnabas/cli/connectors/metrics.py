"""Rates and lags of tasks, from the metrics pages of the workers that run them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.cli.connectors.client import ConnectClient

_SAMPLE: Final = re.compile(r'connect_task_(\w+)\{connector="((?:[^"\\]|\\.)*)",task="(\d+)"\} (\S+)')
_RATES: Final = ("source_record_write_rate", "sink_record_send_rate")
_LAG: Final = "sink_record_lag"
_DEAD: Final = "deadletterqueue_produce_total"


@dataclass(slots=True)
class ConnectorMetrics:
    """Of all tasks of a connector together."""

    rate: float = 0.0
    lag: int | None = None
    dead_letters: int = 0


def collect(client: ConnectClient, worker_ids: Iterable[str]) -> Mapping[str, ConnectorMetrics]:
    found: dict[str, ConnectorMetrics] = {}
    for worker_id in sorted(set(worker_ids)):
        for name, connector, _task, text in _SAMPLE.findall(client.metrics(worker_id)):
            metrics = found.setdefault(connector.replace('\\"', '"').replace("\\\\", "\\"), ConnectorMetrics())
            value = float(text)
            if name in _RATES:
                metrics.rate += value
            elif name == _LAG:
                metrics.lag = (metrics.lag or 0) + int(value)
            elif name == _DEAD:
                metrics.dead_letters += int(value)
    return found
