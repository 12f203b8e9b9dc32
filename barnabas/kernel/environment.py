"""Environment variables that hold settings, under our own prefix and under that of the container image whose place a service takes.

All follow the images' rule: `_` stands for a dot, `__` for an underscore, `___` for a dash, and the rest is lower case:
`BARNABAS_LOG_RETENTION_MS` and `KAFKA_LOG_RETENTION_MS` both set `log.retention.ms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

OWN_PREFIX = "BARNABAS_"
KAFKA_PREFIX = "KAFKA_"

# Variables of the images and of their start scripts, which speak to the Java virtual machine and not to the service.
_SCRIPT_VARIABLES = frozenset({"VERSION", "HOME", "OPTS", "DEBUG", "MODE"})
_SCRIPT_PREFIXES = ("HEAP_OPT", "JVM_", "JMX_", "LOG4J_", "TOOLS_LOG4J_", "GC_LOG_")


# What our commands take from the environment; a service that has such a setting takes it, too, and to others it means nothing.
CLIENT_VARIABLES = {"KAFKA_BOOTSTRAP_SERVERS": "bootstrap.servers", "SCHEMA_REGISTRY_URL": "schema.registry.url"}
_CLIENT_ONLY_VARIABLES = frozenset({"CONNECT_URL", "KSQL_URL", "SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO"})


class Audience(Enum):
    """For whom a variable is: by its prefix for one service, for our clients, or for whatever program uses that prefix."""

    OURS = auto()
    CLIENTS = auto()
    IMAGE = auto()


@dataclass(frozen=True, slots=True)
class SettingVariable:
    """A variable that sets something."""

    variable: str
    name: str
    text: str
    audience: Audience


def setting_variables(environ: Mapping[str, str], image_prefix: str = KAFKA_PREFIX) -> Iterator[SettingVariable]:
    """Yield the variables that hold settings; our own come last, so that they win."""
    for variable, name in CLIENT_VARIABLES.items():
        if variable in environ:
            yield SettingVariable(variable, name, environ[variable], Audience.CLIENTS)
    for variable in sorted(environ):
        if variable.startswith(image_prefix) and not _is_for_others(variable, image_prefix):
            yield SettingVariable(variable, setting_name(variable, image_prefix), environ[variable], Audience.IMAGE)
    for variable in sorted(environ):
        if variable.startswith(OWN_PREFIX):
            yield SettingVariable(variable, setting_name(variable, OWN_PREFIX), environ[variable], Audience.OURS)


def setting_name(variable: str, prefix: str) -> str:
    """Return the setting that a variable names."""
    dotted = variable.removeprefix(prefix).lower().replace("_", ".")
    return dotted.replace("...", "-").replace("..", "_")


def _is_for_others(variable: str, image_prefix: str) -> bool:
    rest = variable.removeprefix(image_prefix)
    is_for_clients = variable in CLIENT_VARIABLES or variable in _CLIENT_ONLY_VARIABLES
    return is_for_clients or rest in _SCRIPT_VARIABLES or rest.startswith(_SCRIPT_PREFIXES)
