"""Quotas as requests meet them, with a clock of the test's own."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.context import Listener, RequestContext
from core_broker.metadata.image import ClusterImage, QuotaEntity
from core_broker.quotas import client_quotas
from core_broker.quotas.client_quotas import UNLIMITED, ClientQuotas
from core_broker.quotas.rate import Windows
from core_broker.security.principal import ANONYMOUS

WINDOWS = Windows(count=11, size_ms=1000)
STRICT_SINCE = 6
USER = ANONYMOUS.name


class Clock:
    def __init__(self) -> None:
        self.now_ms = 50_000.0

    def __call__(self) -> float:
        return self.now_ms


def image(**quotas: float) -> ClusterImage:
    return ClusterImage(client_quotas={QuotaEntity.of({"user": USER}): quotas})


def request(version: int = STRICT_SINCE) -> RequestContext:
    listener = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)
    return RequestContext(19, version, 1, "client", ANONYMOUS, listener, "127.0.0.1")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def quotas(clock: Clock) -> ClientQuotas:
    return ClientQuotas(WINDOWS, WINDOWS, clock)


def test_without_quotas_nobody_is_measured(quotas: ClientQuotas) -> None:
    assert not quotas.active
    assert quotas.produce.record(USER, "c", 1e12, 0) == 0
    assert quotas.mutations(request(), strict_since=STRICT_SINCE) is UNLIMITED
    assert list(quotas.produce.usage(0)) == []


def test_a_quota_that_goes_away_pauses_nobody(quotas: ClientQuotas, clock: Clock) -> None:
    quotas.follow(image(producer_byte_rate=10.0))
    assert quotas.produce.record(USER, "c", 1000, clock()) == 90_000
    quotas.follow(image(producer_byte_rate=200.0))
    assert quotas.produce.record(USER, "c", 0, clock()) == 0, "what was used so far counts, by the new limit"
    quotas.follow(ClusterImage())
    assert not quotas.active
    assert quotas.produce.record(USER, "c", 1e12, clock()) == 0


def test_a_pause_for_time_is_one_window_at_most(quotas: ClientQuotas, clock: Clock) -> None:
    quotas.follow(image(request_percentage=1.0))
    assert quotas.request.record(USER, "c", 100_000, clock()) == WINDOWS.size_ms


def test_clients_of_one_user_share_its_quota(quotas: ClientQuotas, clock: Clock) -> None:
    quotas.follow(image(consumer_byte_rate=100.0))
    assert quotas.fetch.record(USER, "one", 900, clock()) == 0
    assert quotas.fetch.record(USER, "two", 900, clock()) == 8000
    assert quotas.fetch.record("other", "two", 9000, clock()) == 0
    assert quotas.fetch.burst(USER, "one") == 1000
    assert quotas.fetch.burst("other", "one") is None


def test_who_is_measured_is_bounded(quotas: ClientQuotas, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_quotas, "CLIENTS_MAX", 100)
    quotas.follow(ClusterImage(client_quotas={QuotaEntity.of({"client-id": None}): {"producer_byte_rate": 5.0}}))
    for number in range(250):
        quotas.produce.record(USER, str(number), 1, clock())
    assert len(list(quotas.produce.usage(clock()))) == 100
    clock.now_ms += WINDOWS.span_ms
    quotas.produce.record(USER, "new", 1, clock())
    assert [usage.client.client_id for usage in quotas.produce.usage(clock())] == ["new"], "the silent ones have gone"


def test_a_strict_quota_refuses_while_it_is_overdrawn(quotas: ClientQuotas, clock: Clock) -> None:
    quotas.follow(image(controller_mutation_rate=1.0))
    quota = quotas.mutations(request(), strict_since=STRICT_SINCE)
    quota.charge(100)  # any number, as long as there is credit
    assert quota.throttle_ms() == 0
    with pytest.raises(KafkaError) as refused:
        quota.charge(1)
    assert refused.value.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert quota.throttle_ms() == 89_000
    clock.now_ms += 1000
    assert quota.throttle_ms() == 88_000, "the pause is what is left of it when the answer goes out"
    clock.now_ms += 88_000
    quotas.mutations(request(), strict_since=STRICT_SINCE).charge(1)


def test_an_old_client_gets_what_it_asks_for_and_pauses(quotas: ClientQuotas, clock: Clock) -> None:
    quotas.follow(image(controller_mutation_rate=1.0))
    quota = quotas.mutations(request(STRICT_SINCE - 1), strict_since=STRICT_SINCE)
    quota.charge(100)
    assert quota.throttle_ms() == 89_000
    quota.charge(1)
    assert quota.throttle_ms() == 90_000


class ThrottledClient(RuleBasedStateMachine):
    """A client that keeps to its pauses never gets more than its quota, over any time, beyond one burst."""

    LIMIT = 1000.0

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.quotas = ClientQuotas(WINDOWS, WINDOWS, self.clock)
        self.quotas.follow(image(producer_byte_rate=self.LIMIT))
        self.begun_ms = self.clock()
        self.sent = 0
        self.largest = 0

    @rule(size=st.integers(1, 30_000))
    def send(self, size: int) -> None:
        self.sent += size
        self.largest = max(self.largest, size)
        self.clock.now_ms += self.quotas.produce.record(USER, "c", size, self.clock())

    @rule(pause_ms=st.integers(0, 20_000))
    def wait(self, pause_ms: int) -> None:
        self.clock.now_ms += pause_ms

    @invariant()
    def stays_within_the_quota(self) -> None:
        elapsed_s = (self.clock() - self.begun_ms) / 1000
        burst = self.LIMIT * WINDOWS.span_ms / 1000
        assert self.sent <= self.LIMIT * elapsed_s * 2 + burst + self.largest


TestThrottledClient = ThrottledClient.TestCase
TestThrottledClient.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
