"""What the log tells of the records of a request: where they lie now, and which were lost on the way."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from barnabas.kernel.line_budget import LineBudget
from barnabas.kernel.logging import fields
from barnabas.kernel.service_settings import ALL_REQUESTS, NO_REQUESTS
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.producer import Delivered

REASONS_MAX: Final = 3
"""Different reasons for which records of one request failed that its line names."""

logger = logging.getLogger(__name__)


class RecordPlaces:
    """What became of the records of one request, a span of offsets for each partition: others may have written between them."""

    __slots__ = ("failed", "reasons", "spans")

    def __init__(self) -> None:
        self.spans: dict[int, tuple[int, int, int]] = {}
        """First and last offset in a partition, and the number of records."""
        self.failed = 0
        self.reasons: dict[str, None] = {}

    def add(self, results: Sequence[Delivered | KafkaFailure], *, wanted: bool) -> None:
        """`wanted`: the places of records, too, and not their failures alone."""
        for result in results:
            if isinstance(result, KafkaFailure):
                self.failed += 1
                if len(self.reasons) < REASONS_MAX:
                    self.reasons[f"{result.name}: {result.message}"] = None
            elif wanted:
                partition, offset, _ = result
                first, last, count = self.spans.get(partition, (offset, offset, 0))
                self.spans[partition] = min(first, offset), max(last, offset), count + 1


class RecordLog:
    """Places are told where all requests are, one line for each request and partition; failures unless no request is."""

    def __init__(self, wants: str) -> None:
        self.tells_places = wants == ALL_REQUESTS or logger.isEnabledFor(logging.DEBUG)
        self._tells_failures = wants != NO_REQUESTS or self.tells_places
        self._level = logging.INFO if wants == ALL_REQUESTS else logging.DEBUG
        self._budget = LineBudget()
        self.records_failed = 0

    def tell(self, topic: str, results: Sequence[Delivered | KafkaFailure]) -> None:
        places = RecordPlaces()
        places.add(results, wanted=self.tells_places)
        self.tell_of(topic, places)

    def tell_of(self, topic: str, places: RecordPlaces) -> None:
        self.records_failed += places.failed
        for partition, (first, last, count) in sorted(places.spans.items()):
            logger.log(
                self._level,
                "wrote %d record%s to %s-%d, offsets %d to %d",
                count,
                "" if count == 1 else "s",
                topic,
                partition,
                first,
                last,
                extra=fields(topic=topic, partition=partition, first_offset=first, last_offset=last, records=count),
            )
        if places.failed and self._tells_failures and (self.tells_places or self._budget.has_room()):
            reasons = "; ".join(places.reasons)
            logger.warning(
                "%d record%s for %r could not be written: %s%s",
                places.failed,
                "" if places.failed == 1 else "s",
                topic,
                reasons,
                self._budget.left_out(),
                extra=fields(topic=topic, records_failed=places.failed, reason=reasons),
            )
