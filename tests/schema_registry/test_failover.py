"""Several instances of one registry: any of them takes writes, and a killed leader costs no schema and no id twice."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import pytest

from tests.broker import BrokerProcess
from tests.ports import free_port
from tests.registry import RegistryProcess, ask
from tests.schema_registry.http.conftest import record
from tests.waiting import wait_for

INSTANCES = 3
SCHEMAS = 400
CLIENTS = 16
ATTEMPTS_MAX = 5_000
# The shortest session that brokers allow by default: so long does it take until a killed leader is missed.
SESSION_MS = 6_000
FAILOVER_DEADLINE_S = 180.0
# Nobody there, nobody leads, or the leader went away while it was asked: what a client tries again.
RETRIED_CODES = frozenset({50001, 50002, 50003, 50004})


@pytest.fixture
def instances(kafka: BrokerProcess, tmp_path: Path) -> Iterator[list[RegistryProcess]]:
    """Instances on a topic of their own."""
    name = f"failover-{secrets.token_hex(4)}"
    settings = {
        "kafkastore.topic": name,
        "schema.registry.group.id": name,
        "kafkagroup.session.timeout.ms": str(SESSION_MS),
        "kafkagroup.heartbeat.interval.ms": "200",
    }
    started = [
        RegistryProcess(tmp_path / str(number), kafka.address, free_port(), settings) for number in range(INSTANCES)
    ]
    for instance in started:
        instance.start()
    yield started
    for instance in started:
        if instance.is_running():
            instance.stop()


def leader_of(instances: Sequence[RegistryProcess]) -> RegistryProcess:
    """The leader that all running instances agree on."""

    def agreed() -> str | None:
        leaders = {ask(one.url, "GET", "/_health").body["status"]["leader"] for one in instances if one.is_running()}
        return leaders.pop() if len(leaders) == 1 else None

    wait_for(lambda: agreed() is not None, "a leader", FAILOVER_DEADLINE_S)
    url = agreed()
    return next(instance for instance in instances if instance.url == url)


def register(urls: Sequence[str], subject: str, schema: str) -> int:
    """Register as a client with several addresses does: where one fails, it asks the next."""
    for _, url in zip(range(ATTEMPTS_MAX), cycle(urls), strict=False):
        try:
            answer = ask(url, "POST", f"/subjects/{subject}/versions", {"schema": schema})
        except OSError:
            continue
        if answer.status == 200:
            schema_id = answer.body["id"]
            assert isinstance(schema_id, int)
            return schema_id
        assert answer.code in RETRIED_CODES, answer.raw
    raise AssertionError(f"{subject} could not be registered in {ATTEMPTS_MAX} attempts")


def test_every_instance_takes_writes_and_reads_them_back(instances: list[RegistryProcess]) -> None:
    leader_of(instances)
    for number, instance in enumerate(instances):
        text = record("A", *((f"f{index}", "int", 0) for index in range(number)))
        schema_id = ask(instance.url, "POST", "/subjects/s/versions", {"schema": text}).body["id"]
        for other in instances:
            assert ask(other.url, "GET", f"/schemas/ids/{schema_id}").body["schema"] == text
        assert ask(instance.url, "GET", "/subjects/s/versions/latest").body["id"] == schema_id
    assert ask(instances[-1].url, "PUT", "/config/s", {"compatibility": "NONE"}).body == {"compatibility": "NONE"}
    assert ask(instances[-1].url, "DELETE", "/subjects/s/versions/9").code == 40402
    assert ask(instances[-1].url, "DELETE", "/subjects/s").body == [1, 2, 3]


def test_a_write_waits_for_the_leader_after_a_killed_one(instances: list[RegistryProcess]) -> None:
    leader = leader_of(instances)
    follower = next(instance for instance in instances if instance is not leader)
    leader.kill()
    answer = ask(follower.url, "POST", "/subjects/s/versions", {"schema": record("A")})
    assert answer.status == 200, answer.raw


def test_a_killed_leader_costs_nothing(instances: list[RegistryProcess]) -> None:
    leader = leader_of(instances)
    acknowledged: dict[str, int] = {}
    half_done = threading.Event()

    def work(number: int) -> None:
        subject = f"s{number}"
        urls = [instances[(number + step) % INSTANCES].url for step in range(INSTANCES)]
        acknowledged[subject] = register(urls, subject, record("R", (f"f{number}", "int")))
        if len(acknowledged) > SCHEMAS // 2:
            half_done.set()

    with ThreadPoolExecutor(CLIENTS) as clients:
        waiting = [clients.submit(work, number) for number in range(SCHEMAS)]
        assert half_done.wait(FAILOVER_DEADLINE_S)
        leader.kill()
        for one in waiting:
            one.result()
    following = leader_of([instance for instance in instances if instance is not leader])
    assert following is not leader
    assert len(set(acknowledged.values())) == SCHEMAS, "an id was given twice"
    leader.start()
    for instance in instances:
        listed = ask(instance.url, "GET", f"/schemas?limit={SCHEMAS}").body
        found = {one["subject"]: one["id"] for one in listed}
        assert found == acknowledged
        assert all(json.loads(one["schema"])["fields"][0]["name"] == f"f{one['subject'][1:]}" for one in listed)
