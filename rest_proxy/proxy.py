"""What the handlers of all paths share."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.kernel.settings import Settings
from rest_proxy.clients import Clients
from rest_proxy.formats.formats import Formats
from rest_proxy.origins import Origins
from rest_proxy.record_log import RecordLog
from rest_proxy.stopping import Stopping


@dataclass(frozen=True, slots=True)
class Proxy:
    """The Kafka clients, the formats of records, how links begin, when all ends, what the log tells of records, and the settings."""

    settings: Settings
    clients: Clients
    formats: Formats
    origins: Origins
    stopping: Stopping
    record_log: RecordLog
