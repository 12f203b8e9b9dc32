"""Settings that every service has, whatever else it has."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.logging import LOG_FORMATS, LOG_LEVELS
from barnabas.kernel.settings import Catalogue, Kind, Setting

ALL_REQUESTS: Final = "all"
PROBLEMS: Final = "problems"
NO_REQUESTS: Final = "none"
REQUEST_LOG_SLOW_DEFAULT_MS: Final = 3_000

DATA_DIR = Setting(
    "data.dir", Kind.STRING, "barnabas-data", "Folder that holds the data, one folder in it for each service."
)
LOG_FORMAT = Setting(
    "log.format",
    Kind.STRING,
    "text",
    "Form of the log on standard error: a line of text or a JSON object.",
    choices=LOG_FORMATS,
)
LOG_LEVEL = Setting("log.level", Kind.STRING, "info", "Least severity that is logged.", choices=LOG_LEVELS)

SERVICE_SETTINGS = Catalogue([DATA_DIR, LOG_FORMAT, LOG_LEVEL])

REQUEST_LOG = Setting(
    "request.log",
    Kind.STRING,
    PROBLEMS,
    "Which requests have a line in the log: all, those that failed through no fault of the client or were slow (problems), or none.",
    choices=(ALL_REQUESTS, PROBLEMS, NO_REQUESTS),
)
REQUEST_LOG_SLOW_MS = Setting(
    "request.log.slow.ms",
    Kind.INT,
    REQUEST_LOG_SLOW_DEFAULT_MS,
    "How long a request may take before it counts as slow; what a client has asked to wait for is not counted.",
    "ms",
    minimum=1,
)

REQUEST_SETTINGS: Final = (REQUEST_LOG, REQUEST_LOG_SLOW_MS)
"""Every service declares these among its own settings, since it reads them itself; a plain name means all services nevertheless."""
