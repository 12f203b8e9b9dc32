"""The load client: pre-encoded batches out with several requests in flight, fetches drained and counted.

`python -m benchmarks.load JOB` runs one job (see job.py) and prints `ready`, then its figures as one line of JSON. Encoding, connecting
and warming up happen before the clock starts. Payload is what counts: MB are 10^6 bytes of record values.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import struct
import sys
import time
from dataclasses import asdict

from benchmarks import batch, group_load, latency, wire
from benchmarks.connection import Connection
from benchmarks.job import READY, Figures, Job, Outcome
from benchmarks.processes import cpu_seconds
from benchmarks.wire import UnexpectedAnswer

# Distinct frames that the sender goes through in turn, so that a broker does not see one and the same bytes again and again.
DISTINCT_FRAMES = 6
ANSWER_BUFFER_BYTES = 256 << 10
NO_ERROR = b"\x00\x00"


class Stopwatch:
    """Wall time, the broker's CPU time and the client's own over one stretch."""

    def __init__(self, broker_pid: int) -> None:
        self._pid = broker_pid
        self._broker = self._broker_cpu()
        self._client = time.process_time()
        self._start = time.perf_counter()

    def _broker_cpu(self) -> float:
        return cpu_seconds(self._pid) if self._pid else 0.0

    def figures(self, records: int, record_bytes: int) -> Figures:
        seconds = time.perf_counter() - self._start
        payload = records * record_bytes
        return {
            "records": records,
            "seconds": seconds,
            "mb_s": payload / seconds / 1e6,
            "records_s": records / seconds,
            "cpu_s_per_gb": (self._broker_cpu() - self._broker) / payload * 1e9,
            "client_cpu_s_per_gb": (time.process_time() - self._client) / payload * 1e9,
        }


class Sender:
    """Produce requests on one connection with a bounded number in flight."""

    def __init__(self, job: Job) -> None:
        self.records_per_batch = batch.records_per_batch(job.record_bytes, job.batch_bytes)
        frames = self._frames(job)
        self._frame_bytes = len(frames[0])
        assert all(len(frame) == self._frame_bytes for frame in frames)
        self._distinct = len(frames)
        # Twice over: any run of up to `distinct` frames is one slice and one system call.
        self._block = memoryview(b"".join(frames) * 2)
        self._in_flight = job.in_flight
        self._gather = job.gather
        self._rate = job.rate
        self._error_at = wire.produce_error_at(job.topic_name)
        self._answers = memoryview(bytearray(ANSWER_BUFFER_BYTES))
        self._connection = Connection(job.port)
        self._answer_bytes = self._measure_answer()

    def _frames(self, job: Job) -> list[bytes]:
        now_ms = time.time_ns() // 1_000_000
        frames = []
        for index in range(-(-max(DISTINCT_FRAMES, job.in_flight) // job.partitions) * job.partitions):
            noise = os.urandom(job.record_bytes * self.records_per_batch)
            values = [noise[at : at + job.record_bytes] for at in range(0, len(noise), job.record_bytes)]
            encoded = batch.encode(values, now_ms)
            frames.append(wire.produce_request(job.topic_name, index % job.partitions, encoded, job.acks))
        return frames

    def _measure_answer(self) -> int:
        """Sends one batch: every answer without an error has the same length."""
        self._connection.send(self._block[: self._frame_bytes])
        answer = self._connection.receive()
        self._check(answer, 0)
        return len(answer)

    def send(self, batches: int, seconds: float = 0) -> int:
        """Sends that many batches, or for that long, and returns the records acknowledged, all of them."""
        sent = acknowledged = 0
        start = time.perf_counter()
        while True:
            if not batches and time.perf_counter() - start >= seconds:
                batches = sent
            left = batches - sent if batches else self._distinct
            room = min(self._in_flight - (sent - acknowledged), left, self._distinct)
            if room > 0:
                if self._rate:
                    room = 1
                    wait_until(start + sent / self._rate)
                at = sent % self._distinct * self._frame_bytes
                self._connection.send(self._block[at : at + room * self._frame_bytes])
                sent += room
            if batches and acknowledged == batches:
                return acknowledged * self.records_per_batch
            acknowledged += self._collect(min(self._gather, sent - acknowledged))

    def _collect(self, count: int) -> int:
        """Waits for that many answers in one system call, so that a busy client wakes up less often."""
        size = self._answer_bytes
        got = self._connection.socket.recv_into(self._answers, count * size, socket.MSG_WAITALL)
        if got < count * size:
            raise ConnectionError("the broker closed the connection; its log says why")
        for at in range(0, got, size):
            self._check(self._answers, at)
        return count

    def _check(self, answers: memoryview, at: int) -> None:
        if answers[at + self._error_at : at + self._error_at + 2] != NO_ERROR:
            raise UnexpectedAnswer(
                f"Produce answered error {struct.unpack_from('>h', answers, at + self._error_at)[0]}"
            )


def wait_until(moment: float) -> None:
    wait = moment - time.perf_counter()
    if wait > 0:
        time.sleep(wait)


def produce(job: Job) -> Outcome:
    sender = Sender(job)
    say_ready()
    warm = sender.records_per_batch + (sender.send(job.warm_count) if job.warm_count else 0)
    watch = Stopwatch(job.broker_pid)
    records = sender.send(job.count, job.seconds)
    figures = watch.figures(records, job.record_bytes)
    return Outcome(figures | {"records": records, "all_records": records + warm}, [])


class Drain:
    """Reads a topic from its beginning to its present end, the next fetch sent as soon as an answer is whole."""

    def __init__(self, job: Job) -> None:
        self._connection = Connection(job.port)
        self._fetch = wire.FetchRequest(job.topic, max_wait_ms=500, min_bytes=1)
        self._partitions = job.partitions
        offsets = wire.listed_offsets(self._connection.ask(wire.list_offsets_request([job.topic])))
        self._ends = {partition: offset for (_, partition), (_, offset) in offsets.items()}

    def read(self, *, check_crc: bool) -> int:
        """Returns the number of records. Every batch must follow on the one before it."""
        position = dict.fromkeys(range(self._partitions), 0)
        for partition in position:
            self._fetch.ask_from(partition, 0)
        records = 0
        while position != self._ends:
            self._connection.send(self._fetch.frame)
            answer = self._connection.receive()
            for partition, start, end in wire.fetched_records(answer):
                for found in batch.walk(answer, start, end):
                    if found.base_offset != position[partition]:
                        raise UnexpectedAnswer(
                            f"partition {partition} went on at offset {found.base_offset}, not {position[partition]}"
                        )
                    if check_crc and not batch.crc_matches(answer, found):
                        raise UnexpectedAnswer(f"the CRC of the batch at offset {found.base_offset} is wrong")
                    position[partition] = found.next_offset
                    records += found.records
                self._fetch.ask_from(partition, position[partition])
        return records


def consume(job: Job) -> Outcome:
    """`count` passes over the topic. The one before them, which may be all, is not timed and checks every CRC."""
    drain = Drain(job)
    say_ready()
    expected = drain.read(check_crc=True)
    if not job.count:
        return Outcome({"all_records": expected}, [])
    watch = Stopwatch(job.broker_pid)
    records = sum(drain.read(check_crc=False) for _ in range(job.count))
    figures = watch.figures(records, job.record_bytes)
    if records != expected * job.count:
        raise UnexpectedAnswer(f"{job.count} passes over {expected} records gave {records}")
    return Outcome(figures | {"all_records": expected}, [])


def say_ready() -> None:
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()


RUNNERS = {
    "produce": produce,
    "consume": consume,
    "one in flight": latency.one_in_flight,
    "many producers": latency.many_producers,
    "paced": latency.paced,
    "tail": latency.tail,
    "join groups": group_load.join_groups,
    "rebalance": group_load.rebalance,
    "commits": group_load.commits,
    "transactions": group_load.transactions,
}


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    gc.disable()  # nothing here makes cycles, and a collection in a timed stretch would be ours, not the broker's
    if job.kind not in ("produce", "consume"):
        say_ready()
    sys.stdout.write(json.dumps(asdict(RUNNERS[job.kind](job))) + "\n")


if __name__ == "__main__":
    main()
