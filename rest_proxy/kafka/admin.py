"""Questions to the cluster and changes of it, as awaitables."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._metadata import ClusterMetadata

from barnabas.kernel.kafka_clients.cluster_news import CLUSTER_NEWS
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.reachability import Reachability
from rest_proxy.kafka.repeated_lines import RepeatedLines

REQUEST_TIMEOUT_S: Final = 30.0
METADATA_TIMEOUT_S: Final = 10.0
PROBE_TIMEOUT_S: Final = 2.0

logger = logging.getLogger(__name__)
logger.addFilter(RepeatedLines())

KeyT = TypeVar("KeyT")
ResultT = TypeVar("ResultT")


class Admin:
    """librdkafka's admin client. Its answers come on its own thread and are handed to the event loop."""

    def __init__(self, settings: Mapping[str, Any], reachability: Reachability) -> None:
        self.client = AdminClient({**CLUSTER_NEWS, **settings}, logger=logger)
        self._reachability = reachability

    async def probe(self) -> None:
        """KafkaFailure when no broker answers soon."""
        try:
            await self._answer_to(lambda client: client.describe_cluster(request_timeout=PROBE_TIMEOUT_S))
        except KafkaFailure:
            await self._learn_cluster()

    async def _learn_cluster(self) -> None:
        """librdkafka asks the controller that it knows of, also when that has gone; any broker can tell it of the new one."""
        try:
            await asyncio.to_thread(self.client.list_topics, None, PROBE_TIMEOUT_S)
        except KafkaException as problem:
            raise KafkaFailure.of_exception(problem) from None

    async def one(self, ask: Callable[[AdminClient], Future[ResultT]]) -> ResultT:
        """The answer to a call that has one: `await admin.one(lambda client: client.describe_cluster())`. KafkaFailure when it fails."""
        await self._reachability.check()
        return await self._reachability.unless_lost(self._answer_to(ask))

    async def each(
        self, ask: Callable[[AdminClient], Mapping[KeyT, Future[ResultT]]]
    ) -> dict[KeyT, ResultT | KafkaFailure]:
        """The answers to a call that has several, failures among them."""
        await self._reachability.check()
        futures = ask(self.client)
        answers = await self._reachability.unless_lost(
            asyncio.gather(*map(asyncio.wrap_future, futures.values()), return_exceptions=True)
        )
        return {key: _answer(answer) for key, answer in zip(futures, answers, strict=True)}

    async def metadata(self) -> ClusterMetadata:
        """Brokers, and all topics with their partitions. It blocks in librdkafka, so it runs on a thread."""
        await self._reachability.check()
        try:
            return await self._reachability.unless_lost(
                asyncio.to_thread(self.client.list_topics, None, METADATA_TIMEOUT_S)
            )
        except KafkaException as problem:
            raise KafkaFailure.of_exception(problem) from None

    async def _answer_to(self, ask: Callable[[AdminClient], Future[ResultT]]) -> ResultT:
        try:
            return await asyncio.wrap_future(ask(self.client))
        except KafkaException as problem:
            raise KafkaFailure.of_exception(problem) from None


def _answer(answer: ResultT | BaseException) -> ResultT | KafkaFailure:
    if isinstance(answer, KafkaException):
        return KafkaFailure.of_exception(answer)
    if isinstance(answer, BaseException):
        raise answer
    return answer
