"""The rows of the REST proxies' benchmark: producing by requests and by a stream, consuming by a stream, memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from benchmarks import wrk
from benchmarks.bare_client import BareLoad
from benchmarks.comparison import OURS, Aim, Metric
from benchmarks.connection import create_topics, records_in
from benchmarks.http_stream import HttpStream, get, seconds_to_read, seconds_to_upload
from benchmarks.job import Figures
from benchmarks.lifecycle import MB, SETTLE_SECONDS
from benchmarks.processes import PeakMemory, cpu_seconds
from benchmarks.proxies import Deployment, Platform, Proxy, ask
from benchmarks.rest_records import AVRO_TYPE, JSON_TYPE, MARK, v2_body, v3_records
from benchmarks.spread import at_least, at_most
from benchmarks.wire import Topic, UnexpectedAnswer
from benchmarks.wrk import Request

PARTITIONS = 6
MANY_CONNECTIONS = 32
MANY_RECORDS = 100
OPEN_STREAMS = 1_000
RECORDS_PER_CHUNK = 100
# As many records as our proxy lets one upload have under way.
STREAM_LOTS_IN_FLIGHT = 100
RECEIPT_MARK = b'"error_code":200'
LINES = "application/x-ndjson"
EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much work one measurement does."""

    seconds: float
    warm_seconds: float
    uploaded_records: int
    consumed_records: int


FULL = Scale(seconds=6, warm_seconds=2, uploaded_records=400_000, consumed_records=500_000)
QUICK = Scale(seconds=2, warm_seconds=1, uploaded_records=50_000, consumed_records=100_000)


@dataclass(frozen=True, slots=True)
class Stage:
    """What is on the platform: a topic that is written to, and one that is full."""

    platform: Platform
    written: Topic
    full: Topic
    scale: Scale

    @classmethod
    def prepared(cls, platform: Platform, scale: Scale) -> Stage:
        port = platform.broker_port
        written, full = create_topics(port, ["written", "full"], PARTITIONS)
        load = BareLoad("produce", port, "full", lot_records=MANY_RECORDS, lots_in_flight=STREAM_LOTS_IN_FLIGHT)
        replace(load, records=scale.consumed_records).run()
        return cls(platform, written, full, scale)

    def count(self) -> int:
        return records_in(self.platform.broker_port, self.written)

    def bare(self, load: BareLoad) -> Figures:
        """The ceiling: the same records without a proxy."""
        load = replace(load, port=self.platform.broker_port, partitions=PARTITIONS)
        if load.kind == "consume":
            load = replace(load, topic=self.full.name, records=self.scale.consumed_records)
        else:
            load = replace(load, topic=self.written.name, seconds=self.scale.seconds)
        figures = load.run()
        return figures | costs(figures)


def costs(figures: Figures) -> Figures:
    """What a request and a record cost, and how much one core does. A short load on a coarse clock may seem to cost nothing."""
    used = max(figures["cpu_s"], 0.01)
    found = {"records_core_s": figures["records"] / used, "cpu_record_us": used / figures["records"] * 1e6}
    if "requests" in figures:
        found |= {"requests_core_s": figures["requests"] / used, "cpu_us": used / figures["requests"] * 1e6}
    return found


@dataclass(frozen=True, slots=True)
class Load:
    """Requests of v2 that repeat one body."""

    records: int
    connections: int
    avro: bool = False

    def run(self, stage: Stage, deployment: Deployment, seconds: float) -> Figures:
        request = Request(f"/topics/{stage.written.name}", v2_body(self.records, avro=self.avro))
        script = wrk.in_turn([request], AVRO_TYPE if self.avro else JSON_TYPE)
        before, used = stage.count(), cpu_seconds(deployment.running.pid)
        figures = wrk.run(deployment.port, script, self.connections, seconds)
        used = cpu_seconds(deployment.running.pid) - used
        records = figures["requests"] * self.records
        if stage.count() - before < records:
            raise UnexpectedAnswer(f"{records:,.0f} records were acknowledged, {stage.count() - before:,} are there")
        figures |= {"records": records, "records_s": figures["requests_s"] * self.records, "cpu_s": used}
        return figures | costs(figures)


def _timed(deployment: Deployment, records: int, seconds: Callable[[], float]) -> Figures:
    used = cpu_seconds(deployment.running.pid)
    took = seconds()
    used = cpu_seconds(deployment.running.pid) - used
    figures: Figures = {"records": records, "records_s": records / took, "cpu_s": used}
    return figures | costs(figures)


def records_path(deployment: Deployment, topic: Topic) -> str:
    cluster = ask(deployment.port, "/v3/clusters")["data"][0]["cluster_id"]
    return f"/v3/clusters/{cluster}/topics/{topic.name}/records"


def upload(stage: Stage, deployment: Deployment, _seconds: float) -> Figures:
    """One request that carries all records; each must have its receipt."""
    records = stage.scale.uploaded_records
    path, before = records_path(deployment, stage.written), stage.count()
    times, data, receipts = records // RECORDS_PER_CHUNK, v3_records(RECORDS_PER_CHUNK), (RECEIPT_MARK, records)
    figures = _timed(deployment, records, lambda: seconds_to_upload(deployment.port, path, data, times, receipts))
    if stage.count() - before != records:
        raise UnexpectedAnswer(f"{records:,} records have receipts, {stage.count() - before:,} are there")
    return figures


def download(accept: str, stage: Stage, deployment: Deployment, _seconds: float) -> Figures:
    records = stage.scale.consumed_records
    request = get(f"{records_path(deployment, stage.full)}?from=beginning&limit={records}", accept)
    return _timed(deployment, records, lambda: seconds_to_read(deployment.port, request, MARK, records))


def memory(stage: Stage, proxy: Proxy) -> Figures:
    """Of a proxy that was just started, of one with many streams, and of one under load."""
    with Deployment(proxy, stage.platform) as deployment:
        time.sleep(SETTLE_SECONDS)
        figures = {"idle_mb": deployment.running.resident_bytes() / MB}
        with PeakMemory(deployment.running.pid) as peak:
            Load(1, MANY_CONNECTIONS).run(stage, deployment, stage.scale.seconds)
        figures["loaded_mb"] = peak.peak_bytes / MB
    if proxy.name == OURS:
        figures["streams_mb"] = memory_of_streams(stage, proxy)
    return figures


def memory_of_streams(stage: Stage, proxy: Proxy) -> float:
    """Each stream has had a record when it is counted."""
    with Deployment(proxy, stage.platform) as deployment, ExitStack() as stack:
        request = get(f"{records_path(deployment, stage.written)}?from=end", LINES)
        streams = [stack.enter_context(HttpStream(deployment.port, request)) for _ in range(OPEN_STREAMS)]
        begun = [stream.read_head() for stream in streams]
        BareLoad("produce", stage.platform.broker_port, stage.written.name, records=1).run()
        for stream, rest in zip(streams, begun, strict=True):
            stream.read_on(MARK, 1, rest)
        return deployment.running.resident_bytes() / MB


@dataclass(frozen=True, slots=True)
class LoadRow:
    """A row measured on proxies that stay up for all rows of this kind. `bare` is the same load without a proxy."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Stage, Deployment, float], Figures]
    bare: BareLoad
    only_ours: bool = False


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A row that starts proxies of its own."""

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Stage, Proxy], Figures]


Row = LoadRow | MemoryRow


def _one_record(
    connections: int, times: tuple[Aim, ...] = (), core: tuple[Aim, ...] = (), p50: tuple[Aim, ...] = ()
) -> LoadRow:
    who = "1 connection" if connections == 1 else f"{connections} connections"
    metrics = (
        Metric("requests_s", f"produce, 1 record in JSON a request, {who}", "req/s", times),
        Metric("requests_core_s", "… per core of the proxy", "req/s", core),
        Metric("p50_ms", "… p50", "ms", p50),
        Metric("p99_ms", "… p99", "ms"),
        Metric("cpu_us", "… proxy's CPU per request", "µs"),
    )
    bare = BareLoad("produce", lots_in_flight=connections)
    return LoadRow(f"json-1-{connections}", metrics, Load(1, connections).run, bare)


def _many_records(name: str, title: str, core: Aim, *, avro: bool) -> LoadRow:
    metrics = (
        Metric("records_s", f"produce, {MANY_RECORDS} records in {title} a request", "records/s", TIMES_KARAPACE),
        Metric("records_core_s", "… per core of the proxy", "records/s", (core,)),
        CPU_PER_RECORD,
        Metric("p99_ms", "… p99 of a request", "ms"),
    )
    bare = BareLoad("produce", lot_records=MANY_RECORDS, lots_in_flight=MANY_CONNECTIONS)
    return LoadRow(name, metrics, Load(MANY_RECORDS, MANY_CONNECTIONS, avro).run, bare)


def _stream(
    name: str, title: str, aim: Aim, measure: Callable[[Stage, Deployment, float], Figures], bare: BareLoad
) -> LoadRow:
    metrics = (
        Metric("records_s", title, "records/s", (aim,)),
        Metric("records_core_s", "… per core of the proxy", "records/s"),
        CPU_PER_RECORD,
    )
    return LoadRow(name, metrics, measure, bare, only_ours=True)


CPU_PER_RECORD = Metric("cpu_record_us", "… proxy's CPU per record", "µs")
TIMES_KARAPACE = (Aim(at_least(15), "karapace"),)
CONSUMED = Aim(at_least(100_000))
BARE_UPLOAD = BareLoad("produce", lot_records=RECORDS_PER_CHUNK, lots_in_flight=STREAM_LOTS_IN_FLIGHT)
BARE_CONSUME = BareLoad("consume")

LOAD_ROWS = (
    _one_record(MANY_CONNECTIONS, TIMES_KARAPACE, core=(Aim(at_least(8_000)),)),
    # One connection waits for one answer after the other: a time is the target, since no ratio could be had there that the
    # client alone does not reach.
    _one_record(1, p50=(Aim(at_most(1.5)),)),
    _many_records("json-100", "JSON", Aim(at_least(100_000)), avro=False),
    _many_records("avro-100", "Avro", Aim(at_least(60_000)), avro=True),
    _stream("stream-produce", "produce, v3 stream, 1 connection", Aim(at_least(80_000)), upload, BARE_UPLOAD),
    _stream("consume-ndjson", "consume, stream of NDJSON", CONSUMED, partial(download, LINES), BARE_CONSUME),
    _stream("consume-sse", "consume, server-sent events", CONSUMED, partial(download, EVENTS), BARE_CONSUME),
)
MEMORY_ROW = MemoryRow(
    "memory",
    (
        Metric("idle_mb", "resident memory, idle", "MB"),
        Metric("loaded_mb", f"… highest, 1 record a request, {MANY_CONNECTIONS} connections", "MB"),
        Metric("streams_mb", f"… with {OPEN_STREAMS:,} open streams", "MB", (Aim(at_most(150)),)),
    ),
    memory,
)
ROWS: tuple[Row, ...] = (*LOAD_ROWS, MEMORY_ROW)
