"""Topic ids as Kafka's Java client uses them: an administrator describes by id, a consumer learns what its pattern matches by id."""

from pathlib import Path

import pytest

from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.java_client import JavaTools
from tests.clients.records import Record

PROGRAM = Path(__file__).parent / "TopicIds.java"


def test_a_java_client_describes_and_reads_by_topic_id(broker_address: str, java_tools: JavaTools, topic: str) -> None:
    if not java_tools.java.with_name("javac").exists():
        pytest.skip(f"{java_tools.java} is not part of a JDK: it cannot run {PROGRAM.name} from its source")
    first, second = f"{topic}-a", f"{topic}-b"
    for name, partitions in ((first, 1), (second, 3)):
        create_topic(broker_address, name, partitions)
        ConfluentClient().produce(broker_address, name, [Record(b"k", f"of {name}".encode())])
    printed = java_tools.run(str(PROGRAM), broker_address, topic, "2")
    assert sorted(printed.splitlines()) == [
        f"described {first} 1",
        f"described {second} 3",
        f"read {first} of {first}",
        f"read {second} of {second}",
        "unknown UnknownTopicIdException",
    ]
