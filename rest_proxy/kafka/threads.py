"""Threads for calls that block in librdkafka: polling a consumer, committing, asking for positions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from confluent_kafka import KafkaException

from rest_proxy.kafka.failure import KafkaFailure

ParamsP = ParamSpec("ParamsP")
ResultT = TypeVar("ResultT")


class Threads:
    """A bounded number of threads; further calls wait in line."""

    def __init__(self, name: str, size: int) -> None:
        self._executor = ThreadPoolExecutor(size, thread_name_prefix=name)

    async def run(self, call: Callable[ParamsP, ResultT], *arguments: ParamsP.args, **named: ParamsP.kwargs) -> ResultT:
        """Call on a thread; librdkafka's exceptions become KafkaFailure."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, lambda: call(*arguments, **named))
        except KafkaException as problem:
            raise KafkaFailure.of_exception(problem) from None

    def stop(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)
