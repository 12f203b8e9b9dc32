"""The machine's own floor: what plain Python can do with the same bytes from the same client when there is no broker around it.

A server of a few lines receives each frame, checks the CRC, writes the batch to a file and answers; or reads a file and sends it. It keeps no
offsets, no indexes, no topics. `python -m benchmarks.floor FILE` serves; `measure` starts it and runs the load client against it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from crc32c import crc32c

from benchmarks import batch, job, wire
from benchmarks.bulk import BIG_BATCH_BYTES, BIG_IN_FLIGHT, SMALL_BATCH_BYTES, SMALL_GATHER, SMALL_IN_FLIGHT, WARM_SHARE
from benchmarks.connection import HOST
from benchmarks.job import ROOT, Figures, Job
from benchmarks.rows import Scale
from benchmarks.running import free_port
from benchmarks.spread import percentile
from benchmarks.wire import NO_TAGS, Topic

TOPIC = Topic("floor", bytes(16), 1)
RECORD_BYTES = 1024
FILE_BYTES = 400_000_000
BATCH_FROM = len(wire.request(wire.PRODUCE, wire.produce_prefix(TOPIC.name, 0, -1)))
FRAME_LIMIT_BYTES = 2 << 20
READ_BYTES = 256 << 10
SYNCS = 1_000
SHAPES = {
    "big": {"batch_bytes": BIG_BATCH_BYTES, "in_flight": BIG_IN_FLIGHT},
    "16k": {"batch_bytes": SMALL_BATCH_BYTES, "in_flight": SMALL_IN_FLIGHT, "gather": SMALL_GATHER},
}


def respond(body: bytes) -> bytes:
    header = struct.pack(">i", 0) + NO_TAGS
    return struct.pack(">i", len(header) + len(body)) + header + body


def one_partition(fields: bytes) -> bytes:
    return wire.compact_array([wire.compact(TOPIC.name.encode()) + wire.compact_array([fields + NO_TAGS]) + NO_TAGS])


PRODUCED = respond(
    one_partition(struct.pack(">ihqqq", 0, 0, 0, -1, 0) + wire.compact_array(()) + wire.ABSENT)
    + struct.pack(">i", 0)
    + NO_TAGS
)


class Server:
    """Serves one connection after another, one request at a time."""

    def __init__(self, path: Path, batch_bytes: int) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT)
        self._end = 0
        self._received = memoryview(bytearray(FRAME_LIMIT_BYTES))
        self._sent = memoryview(bytearray(FRAME_LIMIT_BYTES))
        self._per_batch = batch.records_per_batch(RECORD_BYTES, batch_bytes)
        self._batch = self._sample()
        self._per_fetch = wire.FETCH_PARTITION_MAX_BYTES // len(self._batch)
        self._batches = 0
        self._offset_at = wire.FetchRequest(TOPIC, max_wait_ms=0, min_bytes=0).offsets_at[0]

    def _sample(self) -> bytes:
        return batch.encode([os.urandom(RECORD_BYTES) for _ in range(self._per_batch)], time.time_ns() // 1_000_000)

    def serve(self, listener: socket.socket) -> None:
        while True:
            peer, _ = listener.accept()
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not self._batches:
                self._end = 0
                os.ftruncate(self._file, 0)
            with peer, contextlib.suppress(ConnectionError):
                self._converse(peer)

    def _converse(self, peer: socket.socket) -> None:
        """Takes what has arrived, handles every whole frame in it, and answers them all in one send."""
        received, held, wanted, flags = self._received, 0, READ_BYTES, 0
        while got := peer.recv_into(received[held:wanted], 0, flags):
            end, at, answers = held + got, 0, []
            wanted, flags = READ_BYTES, 0
            while end - at >= 4:
                (length,) = struct.unpack_from(">i", received, at)
                if end - at < 4 + length:
                    if 4 + length > READ_BYTES:  # the rest of a big frame, and nothing that would have to be moved
                        wanted, flags = 4 + length, socket.MSG_WAITALL
                    break
                answers.append(self._answer(at))
                at += 4 + length
            if answers:
                peer.sendall(answers[0] if len(answers) == 1 else b"".join(answers))
            if at:
                received[: end - at] = received[at:end]
            held = end - at

    def _answer(self, at: int) -> bytes | memoryview:
        (api_key,) = struct.unpack_from(">h", self._received, at + 4)
        if api_key == wire.PRODUCE:
            return self._produce(at)
        return self._list_offsets() if api_key == wire.LIST_OFFSETS else self._fetch(at)

    def _produce(self, at: int) -> bytes:
        frame = self._received
        start = at + BATCH_FROM
        while frame[start] > 0x7F:
            start += 1
        start += 1
        end = start + 12 + struct.unpack_from(">i", frame, start + 8)[0]
        if struct.unpack_from(">I", frame, start + 17)[0] != crc32c(frame[start + batch.CRC_FROM : end]):
            raise ValueError("a batch arrived with a wrong CRC")
        self._end += os.pwrite(self._file, frame[start:end], self._end)
        return PRODUCED

    def _list_offsets(self) -> bytes:
        """Counts what there is to read; the first call makes it."""
        if not self._batches:
            self._batches = FILE_BYTES // len(self._batch)
            os.ftruncate(self._file, 0)
            for index in range(self._batches):
                stamped = struct.pack(">q", index * self._per_batch) + self._batch[8:]
                os.pwrite(self._file, stamped, index * len(stamped))
        end = self._batches * self._per_batch
        return respond(struct.pack(">i", 0) + one_partition(struct.pack(">ihqqi", 0, 0, -1, end, 0)) + NO_TAGS)

    def _fetch(self, at: int) -> memoryview:
        (offset,) = struct.unpack_from(">q", self._received, at + self._offset_at)
        first = offset // self._per_batch
        size = min(self._per_fetch, self._batches - first) * len(self._batch)
        head = struct.pack(">ihi", 0, 0, 0) + wire.uvarint(2) + TOPIC.topic_id + wire.uvarint(2)
        head += struct.pack(">ihqqq", 0, 0, 0, 0, 0) + wire.ABSENT + struct.pack(">i", -1) + wire.uvarint(size + 1)
        tail = NO_TAGS * 3
        head = struct.pack(">ii", 5 + len(head) + size + len(tail), 0) + NO_TAGS + head
        end = len(head) + size
        self._sent[: len(head)] = head
        os.preadv(self._file, [self._sent[len(head) : end]], first * len(self._batch))
        self._sent[end : end + len(tail)] = tail
        return self._sent[: end + len(tail)]


@contextlib.contextmanager
def serving(path: Path, batch_bytes: int) -> Iterator[tuple[int, int]]:
    """Port and process id of a server whose file goes away with it."""
    command = [sys.executable, "-m", "benchmarks.floor", str(path), str(batch_bytes)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline()), process.pid
    finally:
        process.kill()
        process.wait()
        path.unlink(missing_ok=True)


def measure(folder: Path, scale: Scale) -> Figures:
    """Every figure of the floor, once."""
    figures: Figures = {}
    for shape, form in SHAPES.items():
        os.sync()
        with serving(folder / "floor.log", form["batch_bytes"]) as (port, pid):
            per_batch = batch.records_per_batch(RECORD_BYTES, form["batch_bytes"]) * RECORD_BYTES
            count = (scale.big_bytes if shape == "big" else scale.small_batch_bytes) // per_batch
            options = form | {"broker_pid": pid}
            warm = int(count * WARM_SHARE)
            produced = job.run(Job.on("produce", port, TOPIC, count=count, warm_count=warm, **options))
            if shape == "big":
                single = job.run(Job.on("one in flight", port, TOPIC, count=scale.requests, warm_count=1_000))
                figures |= {f"one_in_flight_{key}": single[key] for key in ("p50_us", "p99_us")}
            passes = max(1, scale.consumed_bytes // FILE_BYTES)
            consumed = job.run(Job.on("consume", port, TOPIC, count=passes, **options))
        for name, source in (("produce", produced), ("consume", consumed)):
            figures |= {f"{name}_{shape}_{key}": source[key] for key in ("mb_s", "cpu_s_per_gb")}
    return figures | synced_appends(folder / "floor.log")


def synced_appends(path: Path) -> Figures:
    """One append of 1 KiB after the other, each followed by fdatasync."""
    data, took = os.urandom(RECORD_BYTES), []
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        for index in range(SYNCS):
            start = time.perf_counter()
            os.pwrite(file, data, index * RECORD_BYTES)
            os.fdatasync(file)
            took.append(time.perf_counter() - start)
    finally:
        os.close(file)
        path.unlink()
    return {"fdatasync_per_s": SYNCS / sum(took), "fdatasync_p50_us": percentile(sorted(took), 0.5) * 1e6}


def main() -> None:
    port = free_port()
    with socket.create_server((HOST, port)) as listener:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        Server(Path(sys.argv[1]), int(sys.argv[2])).serve(listener)


if __name__ == "__main__":
    main()
