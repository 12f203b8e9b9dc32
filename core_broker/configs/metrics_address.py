"""Where metrics are told: the setting `metrics.listener`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from barnabas.kernel.settings import Value

LOOPBACK: Final = "127.0.0.1"
PORT_MAX: Final = 65_535
_URL: Final = re.compile(r"http://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:/@?#]*):(?P<port>[0-9]{1,5})(?:/|/metrics)?")


class MetricsAddress(NamedTuple):
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> MetricsAddress | None:
        """No host means this machine only; port 0 any free port. None if it is no such address."""
        match = _URL.fullmatch(url)
        if match is None or int(match["port"]) > PORT_MAX:
            return None
        return cls(match["host"].strip("[]") or LOOPBACK, int(match["port"]))


def check_metrics_listener(value: Value) -> str | None:
    if not value or MetricsAddress.parse(str(value)) is not None:
        return None
    return "expected http://HOST:PORT, such as http://127.0.0.1:9404"
