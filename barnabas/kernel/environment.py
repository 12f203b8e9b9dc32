"""Environment variables that hold settings, under our own prefix and under that of the container image whose place a service takes.

All follow the images' rule: `_` stands for a dot, `__` for an underscore, `___` for a dash, and the rest is lower case:
`BARNABAS_LOG_RETENTION_MS` and `KAFKA_LOG_RETENTION_MS` both set `log.retention.ms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

OWN_PREFIX = "BARNABAS_"
KAFKA_PREFIX = "KAFKA_"

# Variables of the images and of their start scripts, which speak to the Java virtual machine and not to the service.
_SCRIPT_VARIABLES = frozenset({"VERSION", "HOME", "OPTS", "DEBUG", "MODE"})
_SCRIPT_PREFIXES = ("HEAP_OPT", "JVM_", "JMX_", "LOG4J_", "TOOLS_LOG4J_", "GC_LOG_")


@dataclass(frozen=True, slots=True)
class SettingVariable:
    """A variable that sets something. `shared`: other programs use this prefix too, so an unknown name is no mistake."""

    variable: str
    name: str
    text: str
    shared: bool


def setting_variables(environ: Mapping[str, str], image_prefix: str = KAFKA_PREFIX) -> Iterator[SettingVariable]:
    """Yield the variables that hold settings; our own come last, so that they win."""
    for variable in sorted(environ):
        if variable.startswith(image_prefix) and not _belongs_to_scripts(variable.removeprefix(image_prefix)):
            yield SettingVariable(variable, setting_name(variable, image_prefix), environ[variable], shared=True)
    for variable in sorted(environ):
        if variable.startswith(OWN_PREFIX):
            yield SettingVariable(variable, setting_name(variable, OWN_PREFIX), environ[variable], shared=False)


def setting_name(variable: str, prefix: str) -> str:
    """Return the setting that a variable names."""
    dotted = variable.removeprefix(prefix).lower().replace("_", ".")
    return dotted.replace("...", "-").replace("..", "_")


def _belongs_to_scripts(rest: str) -> bool:
    return rest in _SCRIPT_VARIABLES or rest.startswith(_SCRIPT_PREFIXES)
