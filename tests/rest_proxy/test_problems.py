"""Failures as statuses and Confluent's codes."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from barnabas.kernel.http.errors import HttpError
from rest_proxy import problems
from rest_proxy.formats import failure as formats
from rest_proxy.kafka.failure import KafkaFailure


def failed(code: int) -> KafkaFailure:
    return KafkaFailure.of(KafkaError(code))


def translated(problem: Exception) -> HttpError:
    found = problems.translate(problem)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("kafka", "status", "code", "in_record"),
    [
        (KafkaError.UNKNOWN_TOPIC_OR_PART, 404, 40403, 50003),
        (KafkaError._UNKNOWN_TOPIC, 404, 40401, 50003),
        (KafkaError._UNKNOWN_PARTITION, 404, 40402, 50003),
        (KafkaError.TOPIC_ALREADY_EXISTS, 400, 40002, 50002),
        (KafkaError.TOPIC_EXCEPTION, 400, 40002, 50002),
        (KafkaError.SECURITY_DISABLED, 400, 40002, 50002),
        (KafkaError.MSG_SIZE_TOO_LARGE, 413, 413, 50002),
        (KafkaError.SASL_AUTHENTICATION_FAILED, 401, 40101, 40101),
        (KafkaError._AUTHENTICATION, 401, 40101, 40101),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, 403, 40301, 40301),
        (KafkaError.THROTTLING_QUOTA_EXCEEDED, 429, 42901, 50003),
        (KafkaError.BROKER_NOT_AVAILABLE, 503, 50302, 50003),
        (KafkaError._ALL_BROKERS_DOWN, 503, 50003, 50003),
        (KafkaError._MSG_TIMED_OUT, 503, 50003, 50003),
        (KafkaError.LEADER_NOT_AVAILABLE, 500, 50003, 50003),
        (KafkaError.INVALID_RECORD, 500, 50002, 50002),
        (KafkaError._FATAL, 500, 50002, 50002),
    ],
)
def test_errors_of_kafka(kafka: int, status: int, code: int, in_record: int) -> None:
    found = translated(failed(kafka))
    assert (found.status, found.code) == (status, code)
    assert found.message
    assert ("retry-after" in found.headers) == (status in (429, 503))
    assert problems.of_record(failed(kafka))[0] == in_record


@pytest.mark.parametrize(
    ("kind", "status", "code", "message"),
    [
        (formats.InvalidData, 400, 400, "Bad Request: why"),
        (formats.InvalidSchema, 422, 42205, "Invalid schema: why"),
        (formats.SchemaRefused, 422, 42207, "Error serializing message. why"),
        (formats.SchemaForbidden, 403, 40301, "why"),
        (formats.RegistryUnavailable, 503, 40801, "why"),
        (formats.Undecodable, 408, 40801, "why"),
    ],
)
def test_errors_of_formats(kind: type[formats.FormatFailure], status: int, code: int, message: str) -> None:
    found = translated(kind("why"))
    assert (found.status, found.code, found.message) == (status, code, message)


def test_faults_of_our_own_are_nobody_elses() -> None:
    assert problems.translate(KeyError("x")) is None
