"""What becomes of a query when its topics do not stay as they were."""

from __future__ import annotations

import json

from confluent_kafka import TopicPartition

from streams_sql.spark.driver.messages import FailureKind, Noted, Progress, QueryFailed, Stopped
from tests.clients.confluent_client import AdminClient, NewPartitions, create_topic
from tests.clients.records import KEEP_FOREVER
from tests.streams_sql.spark.query_plans import counted, doubled, order
from tests.streams_sql.spark.query_runs import Found, QueryRun
from tests.waiting import wait_for

ADMIN_DEADLINE_S = 90.0


def delete(run: QueryRun, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": run.topics.address})
    admin.delete_topics([topic])[topic].result(ADMIN_DEADLINE_S)


def remove_records(run: QueryRun, topic: str, before: int) -> None:
    """As retention would."""
    admin = AdminClient({"bootstrap.servers": run.topics.address})
    (kept,) = admin.delete_records([TopicPartition(topic, 0, before)]).values()
    kept.result(ADMIN_DEADLINE_S)


def make_again(run: QueryRun, topic: str, partitions: int = 1) -> None:
    create_topic(run.topics.address, topic, partitions, KEEP_FOREVER)


def ids(found: list[Found]) -> list[int]:
    return [each.value["ID"] for each in found]


def test_a_topic_that_was_made_again_is_read_from_its_beginning(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(number, "anna", 50.0, number) for number in range(5)])
    run.start(doubled(topic, sink))
    run.settled(5)
    delete(run, topic)
    assert run.expect(QueryFailed).kind is FailureKind.TOPICS_CHANGED
    run.events.clear()
    query_id = run.restart()
    missing = run.expect(QueryFailed)
    assert missing.kind is FailureKind.TOPIC_MISSING
    assert missing.cause.startswith(
        f"Topic {topic}, from which the query reads, is not there any more. Create it again"
    )
    run.events.clear()
    make_again(run, topic)
    # More than before, so that Spark itself would not see that it is another topic.
    run.write(topic, [order(number, "anna", 50.0, number) for number in range(10, 20)])
    assert run.restart() == query_id
    assert run.expect(Noted).text == f"Topic {topic} was deleted and made again. It is read from its beginning."
    assert ids(run.read(sink, 15)) == [*range(5), *range(10, 20)]


def test_a_topic_that_is_made_again_at_once_is_noticed(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 50.0, 1)])
    run.start(doubled(topic, sink))
    run.settled(1)
    run.stop(run.query_id)
    delete(run, topic)
    make_again(run, topic, partitions=2)
    run.restart()
    run.expect(Noted)
    delete(run, topic)
    make_again(run, topic)
    run.host.look_at_topics()
    assert run.expect(QueryFailed).kind is FailureKind.TOPICS_CHANGED


def test_a_missing_sink_is_told(run: QueryRun) -> None:
    topic = run.topic("in")
    run.launch(doubled(topic, f"{topic}-nowhere"))
    missing = run.expect(QueryFailed)
    assert missing.kind is FailureKind.TOPIC_MISSING
    assert f"Topic {topic}-nowhere, to which the query writes, is not there" in missing.cause


def test_records_that_retention_took_before_they_were_read_are_told_and_passed(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(number, "anna", 50.0, number) for number in range(5)])
    run.start(counted(topic, sink))
    run.settled(5)
    run.stop(run.query_id)
    run.write(topic, [order(number, "anna", 50.0, number) for number in range(5, 15)])
    remove_records(run, topic, before=10)
    run.restart()
    assert run.expect(Noted).text == (
        f"Topic {topic}, partition 0: the records from offset 5 to 9 were removed by its retention before they were read. The query "
        "goes on behind them."
    )
    # What it knew of the first five is kept.
    assert run.read(sink, 2)[-1].value["N"] == 10


def test_records_that_go_while_a_batch_is_planned_are_no_end(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(number, "anna", 50.0, number) for number in range(5)])
    run.start(doubled(topic, sink))
    run.settled(5)
    run.stop(run.query_id)
    run.write(topic, [order(number, "anna", 50.0, number) for number in range(5, 15)])
    # As if the driver had died in the batch that was to read them.
    done = max(int(entry.name) for entry in run.checkpoint("commits"))
    planned = (run.folder / "checkpoint" / "offsets" / str(done)).read_text().replace('"0":5}', '"0":15}')
    (run.folder / "checkpoint" / "offsets" / str(done + 1)).write_text(planned)
    (run.folder / "checkpoint" / "offsets" / f".{done + 1}.crc").unlink(missing_ok=True)
    remove_records(run, topic, before=15)
    run.write(topic, [order(20, "anna", 50.0, 20)])
    run.restart()
    assert "offset 5 to 14" in run.expect(Noted).text
    assert ids(run.read(sink, 6)) == [0, 1, 2, 3, 4, 20]


def test_partitions_that_are_added_are_read_from_their_beginning_without_a_restart(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 50.0, 1)])
    run.start(doubled(topic, sink))
    run.settled(1)
    admin = AdminClient({"bootstrap.servers": run.topics.address})
    (grown,) = admin.create_partitions([NewPartitions(topic, 3)]).values()
    grown.result(ADMIN_DEADLINE_S)
    _, value, timestamp = order(2, "bob", 60.0, 2)
    run.topics.write_to(topic, 2, json.dumps(value).encode(), timestamp)
    assert ids(run.read(sink, 2)) == [1, 2]
    assert not [event for event in run.events if isinstance(event, Stopped | QueryFailed)]


def test_a_checkpoint_that_was_never_used_begins_anew(run: QueryRun) -> None:
    """Nothing was read before the topic was made again: there is no position that could be put right."""
    topic, sink = run.topic("in"), run.topic("out")
    query_id = run.start(doubled(topic, sink))
    wait_for(lambda: run.checkpoint("sources"), "the first positions")
    run.stop(query_id)
    delete(run, topic)
    make_again(run, topic)
    run.write(topic, [order(1, "anna", 50.0, 1)])
    run.restart()
    assert ids(run.read(sink, 1)) == [1]
    run.expect(Progress)
