"""What tasks write, read back from the broker."""

from __future__ import annotations

import secrets

from streams_sql.spark.jobs.producers import PlainProducer
from streams_sql.spark.sources.broker_access import KafkaAccess
from tests.broker import BarnabasBroker
from tests.streams_sql.spark.query_runs import Topics


def test_a_row_of_the_first_instant_is_not_written_with_the_current_time(barnabas: BarnabasBroker) -> None:
    topics = Topics(barnabas.address, f"p{secrets.token_hex(4)}")
    topic = topics.create("times")
    producer = PlainProducer(KafkaAccess(barnabas.address))
    assert producer.produce(topic, [b"a", b"b"], [b"1", b"2"], [0, 7]) == []
    producer.finish()
    assert [found.timestamp for found in topics.read(topic, 2)] == [1, 7]
