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

from rest_proxy.kafka.failure import KafkaFailure

REQUEST_TIMEOUT_S: Final = 30.0

logger = logging.getLogger(__name__)

KeyT = TypeVar("KeyT")
ResultT = TypeVar("ResultT")


class Admin:
    """librdkafka's admin client. Its answers come on its own thread and are handed to the event loop."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.client = AdminClient(dict(settings), logger=logger)

    async def one(self, ask: Callable[[AdminClient], Future[ResultT]]) -> ResultT:
        """The answer to a call that has one: `await admin.one(lambda client: client.describe_cluster())`. KafkaFailure when it fails."""
        try:
            return await asyncio.wrap_future(ask(self.client))
        except KafkaException as problem:
            raise KafkaFailure.of_exception(problem) from None

    async def each(
        self, ask: Callable[[AdminClient], Mapping[KeyT, Future[ResultT]]]
    ) -> dict[KeyT, ResultT | KafkaFailure]:
        """The answers to a call that has several, failures among them."""
        futures = ask(self.client)
        answers = await asyncio.gather(*map(asyncio.wrap_future, futures.values()), return_exceptions=True)
        return {key: _answer(answer) for key, answer in zip(futures, answers, strict=True)}

    async def metadata(self, topic: str | None = None) -> ClusterMetadata:
        """Brokers, topics and partitions. It blocks in librdkafka, so it runs on a thread."""
        try:
            return await asyncio.to_thread(self.client.list_topics, topic, REQUEST_TIMEOUT_S)
        except KafkaException as problem:
            raise KafkaFailure.of_exception(problem) from None


def _answer(answer: ResultT | BaseException) -> ResultT | KafkaFailure:
    if isinstance(answer, KafkaException):
        return KafkaFailure.of_exception(answer)
    if isinstance(answer, BaseException):
        raise answer
    return answer
