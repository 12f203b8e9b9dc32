"""The metrics of topics and requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from barnabas.wire import apis
from barnabas.wire.errors import ErrorCode
from core_broker.metrics.families import NO_LABELS, Distribution, Labels, Sample, counters
from core_broker.metrics.requests import FETCH_KEY, ApiMetrics
from core_broker.traffic import Traffic

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from core_broker.broker import Broker
    from core_broker.dispatch import Dispatcher
    from core_broker.observer import Observer

_TOPICS: Final = "kafka_server_brokertopicmetrics_"
_REQUESTS: Final = "kafka_network_requestmetrics_"
_MS_PER_US: Final = 0.001

# Kafka's name without PerSec, what we count, and what that is.
TOPIC_COUNTS: Final = (
    ("messagesin", "messages_in", "Records appended."),
    ("bytesin", "bytes_in", "Bytes of batches appended."),
    ("bytesout", "bytes_out", "Bytes of batches sent to consumers."),
    ("bytesrejected", "bytes_rejected", "Bytes of batches refused because they are too large."),
    ("totalproducerequests", "produces", "Appends, one for each partition in a request."),
    ("failedproducerequests", "failed_produces", "Appends that failed."),
    ("totalfetchrequests", "fetches", "Reads, one for each partition in a request."),
    ("failedfetchrequests", "failed_fetches", "Reads that failed."),
    ("invalidmessagecrcrecords", "invalid_crc", "Batches refused because they do not match their checksum or size."),
    ("invalidrecords", "invalid_records", "Batches refused because of their format or of a record in them."),
)
# Kafka's name, and the histogram that has it.
REQUEST_TIMES: Final = (
    ("totaltimems", "total_us", "From the arrival of a request to the hand-over of its answer."),
    ("requestqueuetimems", "request_queue_us", "How long a request lay in the buffer behind others of its connection."),
    ("localtimems", "local_us", "Time of the event loop that the request cost."),
    ("remotetimems", "remote_us", "How long the request waited: for the disk, for data, for other members."),
    ("responsequeuetimems", "response_queue_us", "How long the answer waited for its turn."),
    ("responsesendtimems", "response_send_us", "Time to encode the answer and hand it to the socket."),
    ("throttletimems", "throttle_us", "The pause that the client was told to make."),
)


def topic_families(broker: Broker) -> Iterator[Metric]:
    """One series for all topics, without a label, and one for each topic that was used."""
    total = Traffic()
    total.add(broker.traffic.deleted)
    used: list[tuple[Labels, Traffic]] = []
    for topic in broker.topics.all():
        total.add(topic.traffic)
        if topic.traffic.produces or topic.traffic.fetches:
            used.append(({"topic": topic.name}, topic.traffic))
    rows = [(NO_LABELS, total), *used]
    for name, attribute, doc in TOPIC_COUNTS:
        yield counters(f"{_TOPICS}{name}_total", doc, ((labels, getattr(row, attribute)) for labels, row in rows))
    for name in ("replicationbytesin", "replicationbytesout", "reassignmentbytesin", "reassignmentbytesout"):
        yield counters(f"{_TOPICS}{name}_total", "There is one replica.", [(NO_LABELS, 0)])


def request_families(broker: Broker, dispatcher: Dispatcher, observer: Observer, now_s: float) -> Iterator[Metric]:
    """By API. All fetches are those of consumers, so that they appear under both names that dashboards know."""
    requests: Counter[int] = Counter()
    by_version: list[Sample] = []
    for key, version, endpoint in dispatcher.endpoints():
        requests[key] += endpoint.requests
        by_version.extend(
            ({"request": name, "version": str(version)}, endpoint.requests)
            for name in _request_names(key)
            if endpoint.requests
        )
    yield counters(f"{_REQUESTS}requests_total", "Requests.", by_version)
    yield counters(f"{_REQUESTS}errors_total", "Errors in answers.", list(_errors(broker, observer)))
    for name, attribute, doc in REQUEST_TIMES:
        times = Distribution(f"{_REQUESTS}{name}", doc, _MS_PER_US, now_s)
        for api in observer.apis.values():
            _add(times, api, attribute, requests[api.key])
        yield times.metric
    sizes = Distribution(f"{_REQUESTS}requestbytes", "Size of requests.", 1, now_s)
    for api in observer.apis.values():
        _add(sizes, api, "request_bytes", requests[api.key])
    yield sizes.metric


def _add(distribution: Distribution, api: ApiMetrics, attribute: str, count: int) -> None:
    for name in _request_names(api.key):
        distribution.add({"request": name}, getattr(api, attribute), count)


def _errors(broker: Broker, observer: Observer) -> Iterator[Sample]:
    counted = Counter(broker.traffic.errors)
    for api in observer.apis.values():
        for code, count in api.errors.items():
            counted[api.key, code] += count
    for (key, code), count in counted.items():
        for name in _request_names(key):
            yield {"request": name, "error": _error_name(code)}, count


def _request_names(key: int) -> tuple[str, ...]:
    name = apis.API_NAMES[key]
    return (name, "FetchConsumer") if key == FETCH_KEY else (name,)


def _error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)
