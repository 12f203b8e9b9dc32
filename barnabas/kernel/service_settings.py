"""Settings that every service has, whatever else it has."""

from __future__ import annotations

from barnabas.kernel.logging import LOG_FORMATS, LOG_LEVELS
from barnabas.kernel.settings import Catalogue, Kind, Setting

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
