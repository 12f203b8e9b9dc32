"""Refusals that several paths of v3 share, in Confluent's words."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.errors import HttpError
from rest_proxy.problems import BAD_REQUEST, KAFKA_BAD_REQUEST, NOT_FOUND, UNPROCESSABLE

NOT_IMPLEMENTED: Final = 501

INVALID_PAYLOAD: Final = 42206


def not_found(message: str = "HTTP 404 Not Found") -> HttpError:
    return HttpError(NOT_FOUND, message)


def bad_request(message: str) -> HttpError:
    return HttpError(BAD_REQUEST, message)


def bad_kafka_request(message: str) -> HttpError:
    """What the brokers would refuse, refused here because the client library cannot even send it."""
    return HttpError(BAD_REQUEST, message, code=KAFKA_BAD_REQUEST)


def invalid_payload(message: str) -> HttpError:
    return HttpError(UNPROCESSABLE, f"Payload error. {message}", code=INVALID_PAYLOAD)
