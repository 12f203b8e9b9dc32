"""Failures as Java's tools report them: an exception's class and message, with the wrapping that a future or a tool adds."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.java.kafka_exceptions import described
from barnabas.wire.errors import KafkaError

ILLEGAL_ARGUMENT: Final = "java.lang.IllegalArgumentException"
_EXECUTION: Final = "java.util.concurrent.ExecutionException"
_RUNTIME: Final = "java.lang.RuntimeException"


class JavaFailure(Exception):
    """`message` is what getMessage returns; the text of the whole is what toString and a stack trace begin with."""

    def __init__(self, java_class: str, message: str) -> None:
        super().__init__(f"{java_class}: {message}")
        self.java_class = java_class
        self.message = message


def execution_failure(error: KafkaError | JavaFailure) -> JavaFailure:
    """As it comes out of a future."""
    return JavaFailure(_EXECUTION, described(error) if isinstance(error, KafkaError) else str(error))


def runtime_failure(error: Exception) -> JavaFailure:
    """As it comes out of a tool's method that wraps what it cannot declare."""
    return JavaFailure(_RUNTIME, str(error))


def future_failure(error: KafkaError | JavaFailure) -> JavaFailure:
    """As it comes out of a future inside such a method."""
    return runtime_failure(execution_failure(error))
