"""The broker goes away and comes back: requests are refused soon, with the reason, and the service recovers by itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

from tests.conftest import StartBroker
from tests.registry import Answer, ask
from tests.rest import RestProcess
from tests.waiting import wait_for

RECOVERY_DEADLINE_S = 90.0
REFUSED_WITHIN_S = 3.0
"""Each of them: for so long a request waits for a broker that has just gone."""
CAUGHT_WITHIN_S = 9.0
"""Less than the ten seconds for which librdkafka asks for metadata."""
LOG_MAX_LINES = 35
ONE = "/consumers/g/instances/one"
INSTANCE = {"Content-Type": "application/vnd.kafka.v2+json"}
V2 = {"Content-Type": "application/vnd.kafka.json.v2+json"}
JSON = {"Accept": "application/vnd.kafka.json.v2+json"}
V3 = {"Content-Type": "application/json"}
VALUE = {"value": {"type": "JSON", "data": 1}}
REQUESTS: list[tuple[str, str, Any, dict[str, str]]] = [
    ("POST", "/topics/away", {"records": [{"value": 1}]}, V2),
    ("POST", "/v3/clusters/c/topics/away/records", VALUE, V3),
    ("POST", "/v3/clusters/c/topics/away/records:batch", {"entries": [{"id": "1", **VALUE}]}, V3),
    ("GET", "/topics", None, {}),
    ("GET", "/v3/clusters", None, {}),
    ("GET", "/topics/away/partitions/0/records?offset=0", None, {}),
    ("GET", "/consumers/g/instances/one/records?timeout=20000", None, JSON),
]
CAUGHT: list[tuple[str, str, Any, dict[str, str]]] = [
    ("GET", "/topics", None, {}),
    ("GET", "/v3/clusters", None, {}),
    ("GET", "/topics/away/partitions/0/records?offset=end&timeout=20000", None, {}),
    ("GET", "/v3/clusters/{cluster}/topics/away/records", None, {"Accept": "text/event-stream"}),
    REQUESTS[-1],
]
"""What is under way when the broker goes."""


def test_requests_are_refused_soon_while_no_broker_is_there(start_broker: StartBroker, tmp_path: Path) -> None:
    broker = start_broker()
    proxy = RestProcess(tmp_path / "rest", broker.address, "http://127.0.0.1:1")
    proxy.start()

    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        return ask(proxy.url, method, path, body, headers)

    try:
        assert send(*REQUESTS[0]).status == 200
        assert send("GET", "/_health", None, {}).body["healthy"] is True
        cluster = send("GET", "/v3/clusters", None, {}).body["data"][0]["cluster_id"]
        send("POST", "/consumers/g", {"name": "one", "format": "json"}, INSTANCE)
        assert send("POST", f"{ONE}/subscription", {"topics": ["away"]}, INSTANCE).status == 204
        assert send("GET", f"{ONE}/records", None, JSON).status == 200
        broker.kill()
        with ThreadPoolExecutor(len(CAUGHT)) as threads:
            began_s = monotonic()
            caught = [
                threads.submit(send, method, path.format(cluster=cluster), body, headers)
                for method, path, body, headers in CAUGHT
            ]
            for asked, sent in zip(CAUGHT, caught, strict=True):
                assert (sent.result().status, sent.result().code) == (503, 50003), asked
            assert monotonic() - began_s < CAUGHT_WITHIN_S
        wait_for(lambda: "no broker can be reached" in proxy.log.read_text(), "the loss", RECOVERY_DEADLINE_S)
        for request in REQUESTS:
            began_s = monotonic()
            answer = send(*request)
            assert monotonic() - began_s < REFUSED_WITHIN_S, request
            assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, 50003, "1"), request
            assert f"Kafka at {broker.address} cannot be reached: " in answer.body["message"], request
            assert "Connection refused" in answer.body["message"], request
        health = send("GET", "/_health", None, {})
        assert (health.status, health.body["healthy"]) == (503, False)
        assert health.body["status"]["bootstrap_servers"] == broker.address
        assert "Connection refused" in health.body["status"]["broker_error"]
        assert send("GET", "/status/ready", None, {}).status == 503
        broker.start()
        wait_for(lambda: send("GET", "/status/ready", None, {}).status == 200, "the return", RECOVERY_DEADLINE_S)
        wait_for(lambda: send(*REQUESTS[0]).status == 200, "a record", RECOVERY_DEADLINE_S)
        assert "can be reached again" in proxy.log.read_text()
        assert len(proxy.log.read_text().splitlines()) <= LOG_MAX_LINES
    finally:
        proxy.stop()
