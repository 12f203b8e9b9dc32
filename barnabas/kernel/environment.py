"""Environment variables that hold settings, under our own prefix and under that of the apache/kafka container image.

Both follow the image's rule: `_` stands for a dot, `__` for an underscore, `___` for a dash, and the rest is lower case:
`BARNABAS_LOG_RETENTION_MS` and `KAFKA_LOG_RETENTION_MS` both set `log.retention.ms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

OWN_PREFIX = "BARNABAS_"
KAFKA_PREFIX = "KAFKA_"

# Variables of the image and of Kafka's start scripts, which speak to the Java virtual machine and not to the broker.
_KAFKA_SCRIPT_VARIABLES = frozenset({"KAFKA_VERSION", "KAFKA_HOME", "KAFKA_OPTS", "KAFKA_DEBUG", "KAFKA_MODE"})
_KAFKA_SCRIPT_PREFIXES = (
    "KAFKA_HEAP_OPT",
    "KAFKA_JVM_",
    "KAFKA_JMX_",
    "KAFKA_LOG4J_",
    "KAFKA_TOOLS_LOG4J_",
    "KAFKA_GC_LOG_",
)


@dataclass(frozen=True, slots=True)
class SettingVariable:
    """A variable that sets something. `shared`: other programs use this prefix too, so an unknown name is no mistake."""

    variable: str
    name: str
    text: str
    shared: bool


def setting_variables(environ: Mapping[str, str]) -> Iterator[SettingVariable]:
    """Yield the variables that hold settings; our own come last, so that they win."""
    for variable in sorted(environ):
        if variable.startswith(KAFKA_PREFIX) and not _belongs_to_scripts(variable):
            yield SettingVariable(variable, setting_name(variable, KAFKA_PREFIX), environ[variable], shared=True)
    for variable in sorted(environ):
        if variable.startswith(OWN_PREFIX):
            yield SettingVariable(variable, setting_name(variable, OWN_PREFIX), environ[variable], shared=False)


def setting_name(variable: str, prefix: str) -> str:
    """Return the setting that a variable names."""
    dotted = variable.removeprefix(prefix).lower().replace("_", ".")
    return dotted.replace("...", "-").replace("..", "_")


def _belongs_to_scripts(variable: str) -> bool:
    return variable in _KAFKA_SCRIPT_VARIABLES or variable.startswith(_KAFKA_SCRIPT_PREFIXES)
