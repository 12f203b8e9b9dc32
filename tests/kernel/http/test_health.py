"""What a service says of its health."""

import asyncio

import pytest

from barnabas.kernel.http import health
from barnabas.kernel.http.health import Health
from tests.kernel.http.service import Service
from tests.waiting import wait_for


class Parts:
    """What the checks of a service find."""

    def __init__(self) -> None:
        self.kafka: str | None = None
        self.registry: str | None = None
        self.is_stuck = False
        self.asked = 0

    async def check_kafka(self) -> str | None:
        self.asked += 1
        if self.is_stuck:
            await asyncio.Event().wait()
        return self.kafka

    async def check_registry(self) -> str | None:
        return self.registry


@pytest.fixture
def parts() -> Parts:
    return Parts()


def served(parts: Parts) -> Service:
    checks = {"kafka": parts.check_kafka, "registry": parts.check_registry}
    return Service(Health("rest", checks, {"kafka"}).routes())


def test_health_names_what_is_wrong_and_gets_well_by_itself(parts: Parts) -> None:
    with served(parts) as service:
        answer = service.ask("GET", "/health")
        assert (answer.status, answer.json) == (
            200,
            {
                "status": "healthy",
                "message": "everything works",
                "service": "rest",
                "checks": {"kafka": {"healthy": True}, "registry": {"healthy": True}},
            },
        )
        parts.kafka = "nobody answers"
        wait_for(lambda: service.ask("GET", "/health").status == 503, "the finding")
        told = service.ask("GET", "/health").json
        assert (told["status"], told["message"]) == ("unhealthy", "kafka: nobody answers")
        assert told["checks"]["kafka"] == {"healthy": False, "reason": "nobody answers"}
        assert service.ask("GET", "/health/live").status == 200
        parts.kafka = None
        wait_for(lambda: service.ask("GET", "/health").status == 200, "the return")


def test_a_service_that_lacks_what_it_can_do_without_is_degraded(parts: Parts) -> None:
    parts.registry = "refused"
    with served(parts) as service:
        answer = service.ask("GET", "/health")
    assert (answer.status, answer.json["status"], answer.json["message"]) == (200, "degraded", "registry: refused")


def test_a_check_that_hangs_is_a_problem_in_time(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CHECK_TIMEOUT_S", 0.05)
    parts.is_stuck = True
    with served(parts) as service:
        answer = service.ask("GET", "/health")
    assert (answer.status, answer.json["message"]) == (503, "kafka: no answer within 0.05 s")


def test_many_who_ask_cost_no_more_than_one(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "KEPT_S", 60.0)
    with served(parts) as service:
        for _ in range(5):
            service.ask("GET", "/health")
    assert parts.asked == 1
