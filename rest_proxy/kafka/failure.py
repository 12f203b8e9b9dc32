"""What went wrong in Kafka, without a word of the library that told us."""

from __future__ import annotations

from typing import Self

from confluent_kafka import KafkaError, KafkaException


class KafkaFailure(Exception):
    """An error of the cluster or of the way to it. `code` is Kafka's number; negative ones are librdkafka's own."""

    def __init__(self, code: int, name: str, message: str, *, retriable: bool, about: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.message = message
        self.retriable = retriable
        self.about = about
        """What the message does not name."""

    @classmethod
    def of(cls, error: KafkaError) -> Self:
        return cls(error.code(), error.name(), error.str(), retriable=error.retriable())

    @classmethod
    def of_exception(cls, problem: KafkaException) -> Self:
        error = problem.args[0]
        assert isinstance(error, KafkaError), f"{problem!r} carries no error"
        return cls.of(error)

    def naming(self, about: str) -> Self:
        """The same, told with what it is about."""
        return type(self)(self.code, self.name, self.message, retriable=self.retriable, about=about)
