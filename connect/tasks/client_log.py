"""The log of Kafka clients, in the worker and in its tasks."""

from __future__ import annotations

import logging
from typing import Final

from barnabas.kernel.kafka_clients.client_log import OneOfAKind

CLIENT_LOG: Final = logging.getLogger("connect.kafka")
CLIENT_LOG.addFilter(OneOfAKind())
