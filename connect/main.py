"""The Connect worker as a program."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.service import HttpService
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.service_runner import ServiceProgram
from barnabas.kernel.settings import Settings
from connect.assembly import Instance
from connect.cluster.failures import WorkerError
from connect.errors import ConnectError


def assemble(settings: Settings) -> HttpService:
    return HttpService(Instance(settings), responds_early=True)


PROGRAM: Final = ServiceProgram("the worker", assemble, failures=(ConnectError, WorkerError, StoreFailure))
