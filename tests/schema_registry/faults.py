"""Connections that break where a test wants them to."""

from collections import Counter
from typing import Any, Self

from barnabas.wire.client import Client, Connection
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.produce import ProduceRequest, ProduceResponse
from barnabas.wire.struct import Message


class FaultyClient(Client):
    """Its connections can be cut, and can lose answers to Produce: the broker has written, the client does not hear of it."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self.answers_to_lose = 0
        self.sent: Counter[type[Message]] = Counter()
        """How many requests of each kind were answered; those to write that were refused, as of a topic that has no leader yet, do not count."""
        self._connections: list[Connection] = []
        self._is_cut_off = False

    async def __aenter__(self) -> Self:
        return self

    async def cut_off(self) -> None:
        """Lose the network, without a word to the brokers."""
        self._is_cut_off = True
        for connection in self._connections:
            await connection.close()

    def mend(self) -> None:
        self._is_cut_off = False

    async def has_produced(self) -> bool:
        return self.sent[ProduceRequest] > 0

    async def connect(self, address: str) -> Connection:
        if self._is_cut_off:
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, "the network is cut")
        connection = await super().connect(address)
        self._connections.append(connection)
        send = connection.send

        async def lose_answers(request: Any, response: Any, **options: Any) -> Any:
            answer = await send(request, response, **options)
            self.sent[type(request)] += not _is_refused(answer)
            if isinstance(request, ProduceRequest) and self.answers_to_lose:
                self.answers_to_lose -= 1
                await connection.close()
                return await send(request, response, **options)
            return answer

        connection.send = lose_answers  # type: ignore[method-assign]
        return connection


def _is_refused(answer: Message) -> bool:
    return isinstance(answer, ProduceResponse) and any(
        partition.error_code for topic in answer.responses for partition in topic.partition_responses
    )
