"""The REST proxy as a program."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.service import HttpService
from barnabas.kernel.service_runner import ServiceProgram
from barnabas.kernel.settings import Settings
from rest_proxy.assembly import Instance


def assemble(settings: Settings) -> HttpService:
    instance = Instance(settings)
    return HttpService(instance, end_streams=instance.end_streams)


PROGRAM: Final = ServiceProgram("the proxy", assemble)
