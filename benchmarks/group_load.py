"""Group members, committers and transactional producers, many at a time in one loop over epoll."""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks import batch, group_wire, wire
from benchmarks.connection import HOST, Connection
from benchmarks.group_wire import Identity
from benchmarks.job import Job, Outcome
from benchmarks.latency import figures
from benchmarks.wire import UnexpectedAnswer

ANSWER_BYTES = 256 << 10
HEARTBEAT_INTERVAL_SECONDS = 0.02
COORDINATOR_LIMIT_SECONDS = 30
STABLE_LIMIT_SECONDS = 120
RETRY_SECONDS = 0.001


def await_coordinator(port: int, key: str, kind: int) -> None:
    """The first question creates the coordinator's topic, which takes a while."""
    deadline = time.monotonic() + COORDINATOR_LIMIT_SECONDS
    with Connection(port) as connection:
        while group_wire.found_coordinator(connection.ask(group_wire.find_coordinator_request(key, kind))):
            if time.monotonic() > deadline:
                raise TimeoutError(f"no coordinator within {COORDINATOR_LIMIT_SECONDS} s")
            time.sleep(RETRY_SECONDS)


class Peer:
    """A connection that tells whoever is interested when a whole answer is there."""

    def __init__(self, crowd: Crowd) -> None:
        self.crowd = crowd
        self.socket = socket.create_connection((HOST, crowd.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self._answered: Callable[[bytes], None] | None = None
        crowd.add(self)

    def ask(self, frame: bytes, answered: Callable[[bytes], None]) -> None:
        self._answered = answered
        self.socket.sendall(frame)

    def readable(self) -> None:
        got = self.socket.recv(ANSWER_BYTES)
        if not got:
            raise ConnectionError("the broker closed the connection; its log says why")
        self._received += got
        if len(self._received) >= 4 and len(self._received) == 4 + int.from_bytes(self._received[:4], "big"):
            answer, self._received = self._received, b""
            assert self._answered is not None, "nothing comes unasked"
            self._answered(answer)


class Crowd:
    """All peers, and what they mean to do later."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._peers: dict[int, Peer] = {}
        self._poll = select.epoll()
        self._later: deque[tuple[float, Callable[[], None]]] = deque()

    def add(self, peer: Peer) -> None:
        self._peers[peer.socket.fileno()] = peer
        self._poll.register(peer.socket, select.EPOLLIN)

    def later(self, moment: float, act: Callable[[], None]) -> None:
        """Everybody waits equally long, so that what was asked for first is due first."""
        self._later.append((moment, act))

    def run_until(self, done: Callable[[], bool], limit_seconds: float) -> None:
        deadline = time.perf_counter() + limit_seconds
        while not done():
            now = time.perf_counter()
            if now > deadline:
                raise TimeoutError(f"not done within {limit_seconds} s")
            while self._later and self._later[0][0] <= now:
                self._later.popleft()[1]()
            wait = max(self._later[0][0] - now, 0) if self._later else 0.1
            for number, _ in self._poll.poll(wait):
                self._peers[number].readable()

    def close(self) -> None:
        self._poll.close()
        for peer in self._peers.values():
            peer.socket.close()


class Group:
    """One group; stable when everyone who should be in it has synced in one and the same generation."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.generation = 0
        self.synced: set[str] = set()

    @property
    def is_stable(self) -> bool:
        return len(self.synced) == self.size

    def enter(self, generation: int, member_id: str) -> None:
        if generation > self.generation:
            self.generation = generation
            self.synced.clear()
        if generation == self.generation:
            self.synced.add(member_id)


class Member:
    """Joins, syncs, and then asks every few milliseconds whether it has to join again."""

    def __init__(self, crowd: Crowd, group: Group) -> None:
        self._peer = Peer(crowd)
        self._group = group
        self._generation = 0
        self.member_id = ""
        self.is_in = False

    def join(self) -> None:
        self.is_in = True
        self._peer.ask(group_wire.join_request(self._group.name, self.member_id), self._joined)

    def leave(self) -> None:
        """Only between two heartbeats: one request is under way at a time."""
        self.is_in = False

    def _joined(self, answer: bytes) -> None:
        found = group_wire.joined(answer)
        self.member_id = found.member_id
        if found.error == group_wire.MEMBER_ID_REQUIRED:
            self.join()
            return
        self._check("JoinGroup", found.error)
        self._generation = found.generation
        members = found.members if found.leader == found.member_id else []
        sync = group_wire.sync_request(self._group.name, found.generation, found.member_id, members)
        self._peer.ask(sync, self._synced)

    def _synced(self, answer: bytes) -> None:
        error = group_wire.first_error(answer)
        if error == group_wire.REBALANCE_IN_PROGRESS:
            self.join()
            return
        self._check("SyncGroup", error)
        self._group.enter(self._generation, self.member_id)
        self._rest()

    def _rest(self) -> None:
        self._peer.crowd.later(time.perf_counter() + HEARTBEAT_INTERVAL_SECONDS, self._beat)

    def _beat(self) -> None:
        if self.is_in:
            frame = group_wire.heartbeat_request(self._group.name, self._generation, self.member_id)
            self._peer.ask(frame, self._beaten)
        else:
            self._peer.ask(group_wire.leave_request(self._group.name, self.member_id), self._left)

    def _beaten(self, answer: bytes) -> None:
        error = group_wire.first_error(answer)
        if error == group_wire.REBALANCE_IN_PROGRESS and self.is_in:
            self.join()
            return
        if error != group_wire.REBALANCE_IN_PROGRESS:
            self._check("Heartbeat", error)
        self._rest()

    def _left(self, answer: bytes) -> None:
        self._check("LeaveGroup", group_wire.first_error(answer))
        self.member_id = ""

    def _check(self, what: str, error: int) -> None:
        if error:
            raise UnexpectedAnswer(f"{what} of {self.member_id or 'a new member'} answered error {error}")


def join_groups(job: Job) -> Outcome:
    """`count` groups of `producers` members each: from the first JoinGroup until all of them are stable."""
    await_coordinator(job.port, job.topic_name, group_wire.GROUP)
    crowd = Crowd(job.port)
    groups = [Group(f"{job.topic_name}-{number}", job.producers) for number in range(job.count)]
    members = [Member(crowd, group) for group in groups for _ in range(group.size)]
    unstable = list(groups)

    def all_stable() -> bool:
        while unstable and unstable[-1].is_stable:
            unstable.pop()
        return not unstable and all(group.is_stable for group in groups)

    start = time.perf_counter()
    for member in members:
        member.join()
    crowd.run_until(all_stable, STABLE_LIMIT_SECONDS)
    seconds = time.perf_counter() - start
    crowd.close()
    return Outcome({"stable_ms": seconds * 1e3, "members_s": len(members) / seconds}, [])


def rebalance(job: Job) -> Outcome:
    """A group of `producers` members, one of which leaves: until the others are stable again. `count` times, the median."""
    await_coordinator(job.port, job.topic_name, group_wire.GROUP)
    crowd = Crowd(job.port)
    group = Group(job.topic_name, job.producers)
    members = [Member(crowd, group) for _ in range(job.producers)]
    for member in members:
        member.join()
    crowd.run_until(lambda: group.is_stable, STABLE_LIMIT_SECONDS)
    took = []
    for turn in range(job.count):
        leaver = members[turn % len(members)]
        group.size -= 1
        group.synced.clear()
        leaver.leave()
        crowd.run_until(lambda leaver=leaver: not leaver.member_id, STABLE_LIMIT_SECONDS)  # type: ignore[misc]
        start = time.perf_counter()
        crowd.run_until(lambda: group.is_stable, STABLE_LIMIT_SECONDS)
        took.append((time.perf_counter() - start) * 1e3)
        group.size += 1
        group.synced.clear()
        leaver.join()
        crowd.run_until(lambda: group.is_stable, STABLE_LIMIT_SECONDS)
    crowd.close()
    return Outcome({"rebalance_ms": median(took), "worst_ms": max(took)}, [])


class Committer:
    """One commit in flight, the next one sent when the answer is here."""

    def __init__(self, crowd: Crowd, name: str, topic: str, took: list[int]) -> None:
        self._peer = Peer(crowd)
        self._name = name
        self._topic = topic
        self._took = took
        self._offset = 0
        self._sent_ns = 0

    def commit(self) -> None:
        self._offset += 1
        self._sent_ns = time.perf_counter_ns()
        self._peer.ask(group_wire.commit_request(self._name, self._topic, self._offset), self._committed)

    def _committed(self, answer: bytes) -> None:
        error = group_wire.committed_error(answer)
        if error:
            raise UnexpectedAnswer(f"OffsetCommit answered error {error}")
        self._took.append(time.perf_counter_ns() - self._sent_ns)
        self.commit()


def commits(job: Job) -> Outcome:
    """`producers` clients, each with a group of its own and one commit in flight."""
    await_coordinator(job.port, job.topic_name, group_wire.GROUP)
    crowd = Crowd(job.port)
    took: list[int] = []
    for number in range(job.producers):
        Committer(crowd, f"{job.topic_name}-commit-{number}", job.topic_name, took).commit()
    crowd.run_until(_after(job.warm_seconds), STABLE_LIMIT_SECONDS)
    took.clear()
    start = time.perf_counter()
    crowd.run_until(_after(job.seconds), STABLE_LIMIT_SECONDS)
    found = figures(took, time.perf_counter() - start)
    crowd.close()
    return Outcome(found, [])


def _after(seconds: float) -> Callable[[], bool]:
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() >= end


class TransactionalProducer:
    """Transaction after transaction: one batch to one partition, then the commit. Transactions V2: nothing is announced."""

    def __init__(self, crowd: Crowd, job: Job, number: int, took: list[int]) -> None:
        self._peer = Peer(crowd)
        self._crowd = crowd
        self._name = f"{job.topic_name}-{number}"
        self._topic = job.topic_name
        self._partition = number % job.partitions
        self._values = list(_values(job))
        self._error_at = wire.produce_error_at(job.topic_name)
        self._took = took
        self._who = Identity(-1, -1)
        self._begun_ns = 0
        self._frame = b""
        self.transactions = 0

    def start(self) -> None:
        await_coordinator(self._crowd.port, self._name, group_wire.TRANSACTION)
        self._initialize()

    def _initialize(self) -> None:
        self._peer.ask(group_wire.init_producer_request(self._name), self._initialized)

    def _initialized(self, answer: bytes) -> None:
        if group_wire.first_error(answer) in group_wire.NOT_READY:
            self._crowd.later(time.perf_counter() + RETRY_SECONDS, self._initialize)
            return
        self._who = group_wire.identity(answer)
        self._begin()

    def _begin(self) -> None:
        self._begun_ns = time.perf_counter_ns()
        records = batch.encode(self._values, time.time_ns() // 1_000_000, producer=(*self._who, 0), transactional=True)
        self._frame = wire.produce_request(self._topic, self._partition, records, -1, self._name)
        self._produce()

    def _produce(self) -> None:
        self._peer.ask(self._frame, self._produced)

    def _produced(self, answer: bytes) -> None:
        error = int.from_bytes(answer[self._error_at : self._error_at + 2], "big", signed=True)
        if error == group_wire.CONCURRENT_TRANSACTIONS:
            # The transaction before this one is not over yet.
            self._crowd.later(time.perf_counter() + RETRY_SECONDS, self._produce)
            return
        if error:
            raise UnexpectedAnswer(f"Produce of {self._name} answered error {error}")
        self._peer.ask(group_wire.end_request(self._name, self._who), self._ended)

    def _ended(self, answer: bytes) -> None:
        self._who = group_wire.identity(answer)
        self.transactions += 1
        self._took.append(time.perf_counter_ns() - self._begun_ns)
        self._begin()


def _values(job: Job) -> Iterator[bytes]:
    return (os.urandom(job.record_bytes) for _ in range(job.count))


def transactions(job: Job) -> Outcome:
    """`producers` transactional producers, `count` records in each transaction, one transaction at a time each."""
    crowd = Crowd(job.port)
    took: list[int] = []
    producers = [TransactionalProducer(crowd, job, number, took) for number in range(job.producers)]
    for producer in producers:
        producer.start()
    crowd.run_until(_after(job.warm_seconds), STABLE_LIMIT_SECONDS)
    took.clear()
    start = time.perf_counter()
    crowd.run_until(_after(job.seconds), STABLE_LIMIT_SECONDS)
    found = figures(took, time.perf_counter() - start)
    crowd.close()
    return Outcome(found, [])
