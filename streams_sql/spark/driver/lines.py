"""What the driver process and Spark's workers write as text, in our log."""

from __future__ import annotations

import logging
import re
from typing import Final

from barnabas.kernel.kafka_clients.client_log import OneOfAKind

logger = logging.getLogger(__name__)
CLIENT_LOG: Final = logging.getLogger("streams_sql.spark.kafka")
CLIENT_LOG.addFilter(OneOfAKind())

# What Spark tells at each start, however it is set.
_SMALL_TALK: Final = re.compile(
    r"^WARNING: Using incubator modules|WARN NativeCodeLoader|^Using Spark's default log4j|^Setting .*log level|"
    r"^To adjust logging level|Streaming TransformWithStateIn\w+ Python worker"
)
_OF_CLIENT: Final = re.compile(r"%(\d)\|[\d.]+\|(\w+)\|(.*)")
"""A line of librdkafka's: severity, time, kind of event, who and what."""
_LEVELS: Final = {"3": logging.ERROR, "4": logging.WARNING, "7": logging.DEBUG}
"""By the severities of syslog; those between are information."""


def log_line(text: str) -> None:
    """Each worker has Kafka clients of its own, which all tell when a broker goes: one of a kind is enough."""
    found = _OF_CLIENT.match(text)
    if found is not None:
        severity, kind, told = found.groups()
        CLIENT_LOG.log(_LEVELS.get(severity, logging.INFO), "%s %s", kind, told)
    else:
        logger.log(logging.DEBUG if _SMALL_TALK.search(text) else logging.INFO, "spark: %s", text)
