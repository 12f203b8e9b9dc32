"""Small requests whose time is taken one by one: one in flight, many producers with one each, and a stream read as it is written."""

from __future__ import annotations

import os
import select
import socket
import time

from benchmarks import batch, wire
from benchmarks.connection import HOST, Connection
from benchmarks.job import Figures, Job, Outcome
from benchmarks.spread import percentile
from benchmarks.wire import UnexpectedAnswer

NO_ERROR = b"\x00\x00"
ANSWER_BYTES = 4096
TAIL_WAIT_MS = 500


def single_record_frame(job: Job, partition: int) -> bytes:
    record = batch.encode([os.urandom(job.record_bytes)], time.time_ns() // 1_000_000)
    return wire.produce_request(job.topic_name, partition, record, job.acks)


def figures(took_ns: list[int], seconds: float) -> Figures:
    ordered = sorted(took_ns)
    return {
        "requests": len(ordered),
        "requests_s": len(ordered) / seconds,
        "p50_us": percentile(ordered, 0.50) / 1e3,
        "p99_us": percentile(ordered, 0.99) / 1e3,
        "p999_us": percentile(ordered, 0.999) / 1e3,
        "max_us": ordered[-1] / 1e3,
    }


def one_in_flight(job: Job) -> Outcome:
    """One record per request, the next one sent when the answer to the last is here; the partitions take turns."""
    frames = [single_record_frame(job, partition) for partition in range(job.partitions)]
    error_at = wire.produce_error_at(job.topic_name)
    with Connection(job.port) as connection:
        sent = _rounds(connection.socket, frames, error_at, job.warm_count, job.warm_seconds, [])
        took: list[int] = []
        start = time.perf_counter()
        sent += _rounds(connection.socket, frames, error_at, job.count, job.seconds, took)
        return Outcome(figures(took, time.perf_counter() - start) | {"all_records": sent}, [])


def _rounds(
    peer: socket.socket, frames: list[bytes], error_at: int, count: int, seconds: float, took: list[int]
) -> int:
    now = time.perf_counter_ns
    end = now() + int(seconds * 1e9)
    sent = 0
    while (sent < count) if count else (now() < end):
        frame = frames[sent % len(frames)]
        start = now()
        peer.sendall(frame)
        answer = peer.recv(ANSWER_BYTES)
        took.append(now() - start)
        check(answer, error_at)
        sent += 1
    return sent


def check(answer: bytes, error_at: int) -> None:
    """An answer to one small produce is far below one segment: it arrives whole or not at all."""
    if not answer:
        raise ConnectionError("the broker closed the connection; its log says why")
    if len(answer) != 4 + int.from_bytes(answer[:4], "big"):
        raise UnexpectedAnswer(f"{len(answer)} bytes are not one whole answer to a Produce request")
    if answer[error_at : error_at + 2] != NO_ERROR:
        raise UnexpectedAnswer(
            f"Produce answered error {int.from_bytes(answer[error_at : error_at + 2], 'big', signed=True)}"
        )


def many_producers(job: Job) -> Outcome:
    """Producers with one record in flight each, spread over the partitions, all in one loop over epoll."""
    error_at = wire.produce_error_at(job.topic_name)
    frames = [single_record_frame(job, index % job.partitions) for index in range(job.producers)]
    peers: dict[int, tuple[socket.socket, bytes]] = {}
    poll = select.epoll()
    for frame in frames:
        peer = socket.create_connection((HOST, job.port))
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peers[peer.fileno()] = (peer, frame)
        poll.register(peer, select.EPOLLIN)
    now = time.perf_counter_ns
    sent_at = {}
    warm_until = now() + int(job.warm_seconds * 1e9)
    until = warm_until + int(job.seconds * 1e9)
    for number, (peer, frame) in peers.items():
        sent_at[number] = now()
        peer.sendall(frame)
    took: list[int] = []
    outstanding, warm = len(peers), 0
    while outstanding:
        for number, _ in poll.poll():
            peer, frame = peers[number]
            check(peer.recv(ANSWER_BYTES), error_at)
            moment = now()
            if moment < warm_until:
                warm += 1
            else:
                took.append(moment - sent_at[number])
            if moment >= until:
                outstanding -= 1
                continue
            sent_at[number] = moment
            peer.sendall(frame)
    seconds = (now() - warm_until) / 1e9
    for peer, _ in peers.values():
        peer.close()
    return Outcome(figures(took, seconds) | {"all_records": warm + len(took)}, [])


def paced(job: Job) -> Outcome:
    """Sends `count` records at `rate` per second without waiting for answers; returns the moment of each send."""
    frame = single_record_frame(job, 0)
    stamps = []
    with Connection(job.port) as connection:
        first = connection.ask(frame)
        check(first, wire.produce_error_at(job.topic_name))
        start = time.monotonic_ns()
        answers = bytearray()
        for index in range(1, job.count):
            wait_ns = start + int(index * 1e9 / job.rate) - time.monotonic_ns()
            if wait_ns > 0:
                time.sleep(wait_ns / 1e9)
            stamps.append(time.monotonic_ns())
            connection.send(frame)
            answers += _at_hand(connection.socket)
        while len(answers) < (job.count - 1) * len(first):
            answers += _more(connection.socket)
    for at in range(0, len(answers), len(first)):
        check(bytes(answers[at : at + len(first)]), wire.produce_error_at(job.topic_name))
    return Outcome({"all_records": job.count}, [start, *stamps])


def _more(peer: socket.socket) -> bytes:
    got = peer.recv(ANSWER_BYTES)
    if not got:
        raise ConnectionError("the broker closed the connection; its log says why")
    return got


def _at_hand(peer: socket.socket) -> bytes:
    try:
        return peer.recv(ANSWER_BYTES, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return b""


def tail(job: Job) -> Outcome:
    """Long-polls one partition from its beginning until `count` records are here; returns the moment each arrived."""
    fetch = wire.FetchRequest(job.topic, max_wait_ms=TAIL_WAIT_MS, min_bytes=1)
    stamps: list[int] = []
    with Connection(job.port) as connection:
        while len(stamps) < job.count:
            connection.send(fetch.frame)
            answer = connection.receive()
            moment = time.monotonic_ns()
            for _, start, end in wire.fetched_records(answer):
                for found in batch.walk(answer, start, end):
                    if found.base_offset != len(stamps):
                        raise UnexpectedAnswer(f"expected offset {len(stamps)} and got {found.base_offset}")
                    stamps += [moment] * found.records
            fetch.ask_from(0, len(stamps))
    return Outcome({"all_records": len(stamps)}, stamps)
