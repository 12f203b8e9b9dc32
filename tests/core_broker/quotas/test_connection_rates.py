"""The rate of new connections, with a clock of the test's own."""

from __future__ import annotations

import asyncio

import pytest

from core_broker.metadata.image import ClusterImage, QuotaEntity
from core_broker.quotas import connection_rates
from core_broker.quotas.addresses import canonical, literal
from core_broker.quotas.connection_rates import AT_ONCE, AcceptLimits, ConnectionRates
from core_broker.quotas.rate import Windows

WINDOWS = Windows(count=11, size_ms=1000)
HERE = "127.0.0.1"


class Clock:
    def __init__(self) -> None:
        self.now_ms = 0.0

    def __call__(self) -> float:
        return self.now_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rates(clock: Clock) -> ConnectionRates:
    return ConnectionRates(WINDOWS, clock)


def limit_addresses(rates: ConnectionRates, **limits: float) -> None:
    rates.follow(
        ClusterImage(
            client_quotas={
                QuotaEntity.of({"ip": None if name == "default" else name}): {"connection_creation_rate": limit}
                for name, limit in limits.items()
            }
        )
    )


def test_without_a_limit_nothing_is_active(rates: ConnectionRates) -> None:
    assert not rates.active
    assert rates.admit("A", HERE) == AT_ONCE


def test_an_address_over_its_rate_is_kept_waiting_and_closed(rates: ConnectionRates, clock: Clock) -> None:
    limit_addresses(rates, **{HERE: 2.0})
    assert rates.active
    verdicts = [rates.admit("A", HERE) for _ in range(25)]
    assert verdicts[:20] == [AT_ONCE] * 20, "ten windows' worth"
    assert all(verdict.refused and 0 < verdict.delay_ms <= WINDOWS.size_ms for verdict in verdicts[20:])
    assert rates.admit("A", "127.0.0.2") == AT_ONCE
    clock.now_ms += WINDOWS.span_ms
    assert rates.admit("A", HERE) == AT_ONCE
    assert rates.refused == 5


def test_the_default_applies_to_each_address_alone(rates: ConnectionRates) -> None:
    limit_addresses(rates, default=1.0, **{HERE: 100.0})
    for address in ("10.0.0.1", "10.0.0.2"):
        assert [rates.admit("A", address).refused for _ in range(11)] == [False] * 10 + [True]
    assert not any(rates.admit("A", HERE).refused for _ in range(100))


def test_an_address_is_the_same_however_it_is_written(rates: ConnectionRates) -> None:
    limit_addresses(rates, **{"127.1": 1.0, "2001:DB8:0::1": 1.0})
    for host in ("::ffff:127.0.0.1", "2001:db8::1"):
        assert [rates.admit("A", host).refused for _ in range(11)][-1]
    assert canonical("fe80::1%eth0") == "fe80::1"
    assert canonical("not an address") == "not an address"
    assert literal("localhost") is None
    assert literal("\0") is None


def test_a_machine_is_limited_by_name_once_it_was_looked_up(rates: ConnectionRates) -> None:
    limit_addresses(rates, localhost=1.0, **{"no.such.machine.invalid": 1.0})
    assert rates.has_names
    assert not rates.active
    asyncio.run(rates.look_up())
    assert [rates.admit("A", HERE).refused for _ in range(11)][-1]


def test_a_listener_takes_connections_one_after_the_other(rates: ConnectionRates, clock: Clock) -> None:
    rates.configure(AcceptLimits(listeners={"A": 5}))
    delays = [rates.admit("A", HERE).delay_ms for _ in range(200)]
    assert delays[:50] == [0] * 50
    assert delays == sorted(delays)
    # What is over ten windows' worth comes in at the rate, not all at once a window later.
    assert delays[-1] == pytest.approx(150 / 5 * 1000, rel=0.35)
    assert rates.admit("B", HERE) == AT_ONCE
    assert rates.delayed > 100
    clock.now_ms += delays[-1] + WINDOWS.span_ms
    assert rates.admit("A", HERE) == AT_ONCE


def test_the_broker_limits_all_listeners_together(rates: ConnectionRates) -> None:
    rates.configure(AcceptLimits(total=1))
    assert [rates.admit(listener, HERE).delay_ms for listener in "ABABABABAB"] == [0] * 10
    assert rates.admit("A", HERE).delay_ms > 0


def test_addresses_that_are_known_are_bounded(
    rates: ConnectionRates, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_rates, "ADDRESSES_MAX", 50)
    limit_addresses(rates, default=1.0)
    for number in range(300):
        rates.admit("A", f"10.0.{number // 256}.{number % 256}")
    assert len(rates._addresses) == 50
