"""Kafka Streams (Java 4.3.0): its own word count, exactly once, which takes groups, transactions and compacted topics."""

from collections import Counter
from pathlib import Path

from confluent_kafka import Consumer

from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.java_client import JavaTools
from tests.clients.records import EPOCH_MS, Record
from tests.waiting import wait_for

# The names are the demo's own.
INPUT, OUTPUT = "streams-plaintext-input", "streams-wordcount-output"
LINES = ("All streams lead to Kafka", "Hello Kafka Streams", "Join Kafka Summit", "kafka kafka")
STREAMS_DEADLINE_S = 90


def test_word_count_exactly_once(broker_address: str, java_tools: JavaTools, tmp_path: Path) -> None:
    create_topic(broker_address, INPUT, 2)
    create_topic(broker_address, OUTPUT, 2)
    settings = tmp_path / "streams.properties"
    settings.write_text(
        f"bootstrap.servers={broker_address}\nprocessing.guarantee=exactly_once_v2\n"
        f"state.dir={tmp_path / 'state'}\ncommit.interval.ms=100\n"
    )
    expected = Counter(word for line in LINES for word in line.lower().split())
    counts: dict[str, list[int]] = {}
    with java_tools.running(
        "org.apache.kafka.streams.examples.wordcount.WordCountDemo", str(settings), log=tmp_path / "streams.log"
    ):
        for number, line in enumerate(LINES):
            record = Record(None, line.encode(), (), EPOCH_MS)
            ConfluentClient().produce(broker_address, INPUT, [record], partition=number % 2)
        consumer = Consumer(
            {
                "bootstrap.servers": broker_address,
                "group.id": "word-count-reader",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
            }
        )
        consumer.subscribe([OUTPUT])

        def all_counted() -> bool:
            for message in consumer.consume(100, timeout=0.2):
                word, count = message.key(), message.value()
                assert word is not None
                assert count is not None
                counts.setdefault(word.decode(), []).append(int.from_bytes(count, "big"))
            return {word: seen[-1] for word, seen in counts.items()} == expected

        try:
            wait_for(all_counted, f"the counts {dict(expected)}", STREAMS_DEADLINE_S)
        finally:
            consumer.close()
    # Exactly once: a count never goes back and none is told twice.
    assert all(seen == sorted(set(seen)) for seen in counts.values())
