"""One partition to which every client has written with every codec: every client reads it all."""

import secrets

import pytest

from tests.broker import BrokerProcess
from tests.clients.confluent_client import create_topic
from tests.clients.conftest import LIBRARIES
from tests.clients.java_client import JavaClient, JavaTools
from tests.clients.kcat_client import KcatClient
from tests.clients.records import CODECS, KEEP_FOREVER, Client, Record, edge_cases, numbered

RECORDS_EACH = 10


@pytest.fixture(scope="module")
def mixed(broker: BrokerProcess, java_tools: JavaTools) -> tuple[str, list[Record]]:
    """The topic, and what it holds. Times are left out, since two of the clients cannot set them."""
    topic = f"mixed-{secrets.token_hex(4)}"
    create_topic(broker.address, topic, configs=KEEP_FOREVER)
    writers: list[Client] = [*LIBRARIES.values(), KcatClient(), JavaClient(java_tools)]
    written: list[Record] = []
    for writer in writers:
        # A run of the Java tool costs seconds: it writes with two codecs, of which one is not in the others' tests of it.
        for codec in ("snappy", "zstd") if writer.name == "java" else CODECS:
            candidates = numbered(RECORDS_EACH, f"{writer.name}-{codec}") + edge_cases()
            records = [record for record in candidates if writer.can_write(record)]
            writer.produce(broker.address, topic, records, codec)
            written += records
    return topic, [record.untimed() for record in written]


def test_everyone_reads_everything(broker_address: str, any_client: Client, mixed: tuple[str, list[Record]]) -> None:
    topic, written = mixed
    read = any_client.consume(broker_address, topic, len(written))
    assert [r.offset for r in read] == list(range(len(written)))
    assert [r.record.untimed() for r in read] == written
