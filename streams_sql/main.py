"""The SQL server as a program."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.service import HttpService
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.service_runner import ServiceProgram
from barnabas.kernel.settings import Settings
from streams_sql.assembly.instance import Instance
from streams_sql.engine.failures import EngineError


def assemble(settings: Settings) -> HttpService:
    instance = Instance(settings)
    return HttpService(instance, responds_early=True, end_streams=instance.end_queries)


# Its threads decode records for views while requests are served.
PROGRAM: Final = ServiceProgram("the server", assemble, failures=(EngineError, StoreFailure), switches_often=True)
