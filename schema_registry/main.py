"""The Schema Registry as a program."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.service import HttpService
from barnabas.kernel.service_runner import ServiceProgram
from barnabas.kernel.settings import Settings
from barnabas.wire.errors import KafkaError
from schema_registry.assembly import Instance
from schema_registry.errors import RegistryError
from schema_registry.store.failures import TopicUnfit


def assemble(settings: Settings) -> HttpService:
    return HttpService(Instance(settings))


PROGRAM: Final = ServiceProgram("the registry", assemble, failures=(TopicUnfit, RegistryError, KafkaError))
