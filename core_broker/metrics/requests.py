"""What is counted of requests, for each API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from barnabas.wire import apis
from barnabas.wire.fields import Field
from barnabas.wire.struct import Struct
from core_broker.metrics.histogram import Histogram

PRODUCE_KEY: Final = 0
FETCH_KEY: Final = 1
TIMES: Final = (
    "total_us",
    "request_queue_us",
    "local_us",
    "remote_us",
    "response_queue_us",
    "response_send_us",
    "throttle_us",
)


class ApiMetrics:
    """The requests of one API: how long they take, in microseconds, how large they are, and their errors.

    Times and sizes of produce and fetch requests are those of a sample, everything else is counted whole.
    """

    __slots__ = (*TIMES, "_find_errors", "errors", "key", "name", "request_bytes")

    def __init__(self, key: int) -> None:
        self.key = key
        self.name = apis.API_NAMES[key]
        self.total_us = Histogram()
        self.request_queue_us = Histogram()
        self.local_us = Histogram()
        self.remote_us = Histogram()
        self.response_queue_us = Histogram()
        self.response_send_us = Histogram()
        self.throttle_us = Histogram()
        self.request_bytes = Histogram()
        self.errors: Counter[int] = Counter()
        # Produce and fetch count their own: there, looking for what is nearly never there would cost more than the rest.
        self._find_errors = None if key in (PRODUCE_KEY, FETCH_KEY) else error_finder(apis.response_class(key))

    def count_errors(self, response: Any) -> None:
        if self._find_errors is not None:
            self.errors.update(filter(None, self._find_errors(response)))


ErrorFinder = Callable[[Any], Iterator[int]]


def error_finder(kind: type[Struct]) -> ErrorFinder | None:
    """A function that yields every error code in an answer; None if its kind has no room for any."""
    own = any(field.name == "error_code" for field in kind.FIELDS)
    below = [(field.name, find) for field in kind.FIELDS if (find := _finder_below(field)) is not None]
    if not own and not below:
        return None

    def find_errors(value: Any) -> Iterator[int]:
        if own:
            yield value.error_code
        for name, find in below:
            for part in getattr(value, name) or ():
                yield from find(part)

    return find_errors


def _finder_below(field: Field) -> ErrorFinder | None:
    element = field.element
    if field.kind == "array" and isinstance(element, type) and issubclass(element, Struct):
        return error_finder(element)
    return None
