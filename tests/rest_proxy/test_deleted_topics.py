"""Topics that are not there any more, and that the cluster does not make for those who write to them."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka.admin import AdminClient

from tests.conftest import StartBroker
from tests.registry import ask
from tests.rest import RestProcess
from tests.rest_proxy.v3.v3_service import V3Service

DEADLINE_S = 60.0
V2 = {"Content-Type": "application/vnd.kafka.json.v2+json"}
RECORDS = {"records": [{"value": 1}, {"value": 2}]}
RECORD = {"value": {"type": "JSON", "data": 1}}


def test_writes_are_refused_with_the_reason(start_broker: StartBroker, tmp_path: Path) -> None:
    broker = start_broker(auto_create_topics_enable="false")
    # A record's own time is longer than a request of the tests may take.
    proxy = RestProcess(
        tmp_path / "rest", broker.address, "http://127.0.0.1:1", {"producer.delivery.timeout.ms": "300000"}
    )
    proxy.start()
    try:
        v3 = V3Service.at(proxy.url, broker.address)
        v3.create("deleted")
        assert ask(proxy.url, "POST", "/topics/deleted", RECORDS, V2).status == 200
        admin = AdminClient({"bootstrap.servers": broker.address})
        admin.delete_topics(["deleted"])["deleted"].result(DEADLINE_S)
        for topic in ("deleted", "never-there"):
            for _ in range(2):
                answer = ask(proxy.url, "POST", f"/topics/{topic}", RECORDS, V2)
                assert (answer.status, answer.code) == (404, 40401), topic
                assert v3.ask("POST", f"/topics/{topic}/records", RECORD).code == 40403
    finally:
        # Records that were given up hold nobody up.
        proxy.stop()
