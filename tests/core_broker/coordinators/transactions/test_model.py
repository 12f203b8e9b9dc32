"""The coordinator against a simple model: producers, zombies, time-outs, and the death of the process in any write."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.coordinators.transactions.decisions import Admission
from core_broker.coordinators.transactions.transaction import Producer, Status
from tests.core_broker.coordinators.transactions.world import Died, World

IDS = ("one", "two")
PLACES = (("a", 0), ("a", 1), ("b", 0))
TIMEOUT_MS = 30_000
WRITES_BEFORE_DEATH = st.none() | st.integers(0, 5)

Values = dict[tuple[str, int], list[bytes]]


@dataclass
class Client:
    """An instance of a transactional producer, which believes what it was told."""

    transactional_id: str
    version: int
    producer: Producer
    written: Values = field(default_factory=dict)
    """What its present transaction has written, as far as it heard."""

    is_broken: bool = False


class Transactions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp())
        self.world = World(self._folder)
        self.clients: dict[str, list[Client]] = {transactional_id: [] for transactional_id in IDS}
        self.committed: Values = {place: [] for place in PLACES}
        self._numbers = count()

    def teardown(self) -> None:
        self.world.close()
        shutil.rmtree(self._folder)

    def current(self, transactional_id: str) -> Client | None:
        return self.clients[transactional_id][-1] if self.clients[transactional_id] else None

    # What may go wrong around any call.

    def call(self, action: Callable[[], object]) -> ErrorCode | None:
        """How it ended; None if the process died of it, and another one has taken over."""
        try:
            action()
        except KafkaError as error:
            return error.code
        except Died:
            self.restart()
            return None
        return ErrorCode.NONE

    def restart(self) -> None:
        self.world.restart()
        # Whatever an instance had under way, it does not know how that ended: it begins anew.
        for clients in self.clients.values():
            for client in clients:
                client.is_broken = True

    @rule(writes=WRITES_BEFORE_DEATH)
    def die_soon(self, writes: int | None) -> None:
        self.world.disk.writes_left = writes

    @rule()
    def die_now(self) -> None:
        before = self.world.state()
        prepared = any(found.status.is_prepared for found in before.values())
        self.restart()
        if not prepared:
            assert self.world.state() == before, "the log tells another story than the life that wrote it"

    # What clients do.

    @rule(transactional_id=st.sampled_from(IDS), version=st.sampled_from((0, 2)))
    def initialise(self, transactional_id: str, version: int) -> None:
        found: list[Producer] = []

        def ask() -> None:
            found.append(self.world.initialise(transactional_id, timeout_ms=TIMEOUT_MS))

        code = self.call(ask)
        if code is ErrorCode.CONCURRENT_TRANSACTIONS:
            code = self.call(ask)
        if code is ErrorCode.NONE:
            self.clients[transactional_id].append(Client(transactional_id, version, found[-1]))
        else:
            assert code is None

    @rule(
        transactional_id=st.sampled_from(IDS),
        version=st.sampled_from((0, 2)),
        places=st.sets(st.sampled_from(PLACES), min_size=2),
        commits=st.booleans(),
        writes=WRITES_BEFORE_DEATH,
    )
    def transact(
        self, transactional_id: str, version: int, places: set[tuple[str, int]], commits: bool, writes: int | None
    ) -> None:
        """A whole transaction, of an instance that is there or of a new one."""
        client = self.current(transactional_id)
        if client is None or client.is_broken:
            self.initialise(transactional_id, version)
        self.produce(transactional_id, places)
        self.end(transactional_id, commits, writes)

    @rule(transactional_id=st.sampled_from(IDS), places=st.sets(st.sampled_from(PLACES), min_size=1))
    def produce(self, transactional_id: str, places: set[tuple[str, int]]) -> None:
        client = self.current(transactional_id)
        for place in sorted(places):
            if client is not None and not client.is_broken:
                self.produce_to(place, client)

    def produce_to(self, place: tuple[str, int], client: Client) -> None:
        transactional_id = client.transactional_id
        value = b"%d" % next(self._numbers)

        def write() -> None:
            if client.version == 2:
                self.world.produce(transactional_id, client.producer, place, value)
            else:
                self.world.add(transactional_id, client.producer, place)
                self.world.produce(transactional_id, client.producer, place, value, Admission.VERIFY)

        code = self.call(write)
        if code is ErrorCode.NONE:
            client.written.setdefault(place, []).append(value)
        elif code is ErrorCode.PRODUCER_FENCED:
            client.is_broken = True  # its transaction took too long
        else:
            assert code is None

    @rule(transactional_id=st.sampled_from(IDS), commits=st.booleans(), writes=WRITES_BEFORE_DEATH)
    def end(self, transactional_id: str, commits: bool, writes: int | None) -> None:
        client = self.current(transactional_id)
        if client is None or client.is_broken or (commits and not client.written):
            return
        if client.version == 0 and not client.written:
            return
        after: list[Producer] = []

        def ask() -> None:
            after.append(self.world.end(transactional_id, client.producer, commits=commits, version=client.version))

        self.world.disk.writes_left = writes
        code = self.call(ask)
        written, client.written = client.written, {}
        if code is ErrorCode.NONE:
            client.producer = after[-1]
            if commits:
                self.commit(written)
        elif code is None:
            # All of it or nothing, and after the restart it is decided which.
            found = self.world.find(transactional_id)
            assert found is not None
            if found.status is Status.COMPLETE_COMMIT:
                assert commits
                self.commit(written)
        else:
            assert code in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_TXN_STATE), "its transaction took too long"
            client.is_broken = True

    def commit(self, written: Values) -> None:
        for place, values in written.items():
            self.committed[place].extend(values)

    @rule(transactional_id=st.sampled_from(IDS), place=st.sampled_from(PLACES), commits=st.booleans())
    def zombie(self, transactional_id: str, place: tuple[str, int], commits: bool) -> None:
        """An instance that was replaced does not know it, and has no effect."""
        for client in self.clients[transactional_id][:-1]:
            produce = partial(self.world.produce, transactional_id, client.producer, place, b"zombie")
            assert self.call(produce) in (ErrorCode.PRODUCER_FENCED, None)
            end = partial(self.world.end, transactional_id, client.producer, commits=commits, version=client.version)
            assert self.call(end) in (ErrorCode.PRODUCER_FENCED, None)

    @rule(delay_ms=st.sampled_from((1, 5_000, 20_000, 60_000)))
    def wait(self, delay_ms: int) -> None:
        assert self.call(lambda: self.world.advance(delay_ms)) in (ErrorCode.NONE, None)

    # What is always true.

    @invariant()
    def readers_see_what_was_committed(self) -> None:
        """All of it, or what comes before the first open transaction."""
        for place in PLACES:
            seen = sorted(self.world.committed(*place))
            if self.world.is_stable(*place):
                assert seen == sorted(self.committed[place])
            else:
                assert set(seen) <= set(self.committed[place])
                assert len(seen) == len(set(seen))

    @invariant()
    def nobody_hangs(self) -> None:
        """Without an open transaction nothing holds readers up."""
        states = self.world.state().values()
        assert not any(found.status.is_prepared for found in states), "all ends are carried out at once here"
        open_places = {place for found in states if found.status is Status.ONGOING for place in found.partitions}
        for place in PLACES:
            assert place in open_places or self.world.is_stable(*place)

    @precondition(lambda self: self.world.disk.writes_left is None)
    @rule()
    def everything_ends(self) -> None:
        """However it stands: when nobody does anything any more, readers get to the end."""
        self.world.advance(2 * TIMEOUT_MS)
        for place in PLACES:
            assert self.world.is_stable(*place)


Transactions.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestTransactions = Transactions.TestCase
