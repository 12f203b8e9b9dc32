"""`barnabas connectors dlq`: the records that a connector could not process, and what was wrong with each."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.command_parser import whole_number
from barnabas.cli.confirmation import confirm
from barnabas.cli.connectors.arguments import add_form, add_name, add_worker, add_yes, client_of
from barnabas.cli.connectors.client import path_of
from barnabas.cli.output import Column
from barnabas.cli.service_address import address_of, default_text

PREFIX: Final = "__connect.errors."
SHOW: Final = "show"
GROUP: Final = "connect-dlq-replay-{connector}"
"""The consumer group whose offsets say how far letters were sent again."""
NOTHING_NEW: Final = ": there are no new letters, and --all sends old ones, too"
READ_TIMEOUT_S: Final = 10.0
DELIVERY_TIMEOUT_S: Final = 30.0
QUEUE_RECORDS: Final = 50_000
"""Records that wait for their delivery; librdkafka takes twice as many."""
QUEUE_POLL_S: Final = 0.1
VALUE_SHOWN_CHARACTERS: Final = 200
NO_HEADERS: Final = (
    "without errors.deadletterqueue.context.headers.enable=true, dead letters do not say where they came from"
)

_SILENT: Final = logging.getLogger("barnabas.cli.librdkafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    parser.add_argument("verb", choices=("show", "replay"), help="replay sends them to the topics that they came from")
    add_name(parser)
    parser.add_argument("--limit", "-n", type=whole_number(1), metavar="N", help="the first N alone")
    parser.add_argument("--from-offset", type=whole_number(0), metavar="N", help="begin there")
    parser.add_argument("--all", action="store_true", help="for replay: also letters that were sent again before")
    parser.add_argument("--bootstrap-servers", "-b", metavar="LIST", help=f"brokers; {default_text('broker')}")
    add_form(parser)
    add_yes(parser)


def run(arguments: Namespace) -> int:
    config = client_of(arguments).call("GET", path_of(arguments.name, "/config"))
    topic = config.get("errors.deadletterqueue.topic.name")
    if not topic:
        raise CommandError(
            f"{arguments.name} has no dead letters",
            "Set errors.tolerance=all and errors.deadletterqueue.topic.name for it.",
        )
    return {SHOW: _show, "replay": _replay}[arguments.verb](topic, arguments)


def _show(topic: str, arguments: Namespace) -> int:
    rows = []
    for message in _letters(topic, arguments):
        context = _context(message)
        rows.append(
            (
                message.offset(),
                _place(context),
                context.get("stage"),
                context.get("exception.message"),
                _text(message.key()),
                _text(message.value()),
            )
        )
    columns = [Column("letter"), Column("from"), Column("stage"), Column("reason"), Column("key"), Column("value")]
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0


def _replay(topic: str, arguments: Namespace) -> int:
    """Write each letter to the topic that it came from, as it was, and note how far this came. The letters themselves stay."""
    targets = Counter(_target(message) for message in _letters(topic, arguments))
    count = targets.total()
    if not count:
        text = f"sent 0 records again{'' if _begins_anew(arguments) else NOTHING_NEW}"
        output.report(arguments.output, {"name": arguments.name, "sent": 0}, text)
        return 0
    if not arguments.yes:
        confirm(f"send {count} records to {', '.join(sorted(targets))} again?")
    reached: dict[int, int] = {}
    # Those that came since are another matter, and the user was not asked about them.
    failures = _send(_noted(islice(_letters(topic, arguments), count), reached), _bootstrap_servers(arguments))
    if failures:
        raise CommandError(f"{len(failures)} of {count} records were not written: {failures[0]}")
    _remember(topic, reached, arguments)
    output.report(arguments.output, {"name": arguments.name, "sent": count}, f"sent {count} records again")
    return 0


def _noted(letters: Iterable[Any], reached: dict[int, int]) -> Iterator[Any]:
    """The same, with the offset behind the last one of each partition."""
    for message in letters:
        reached[message.partition()] = message.offset() + 1
        yield message


def _send(letters: Iterable[Any], servers: str) -> list[str]:
    """Why records could not be written, one reason for each."""
    from confluent_kafka import Producer

    failures: list[str] = []
    # Failures of the client come back with the records: its log would be read by no one.
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "logger": _SILENT})

    def note(error: Any, _message: Any) -> None:
        if error is not None:
            failures.append(str(error))

    for message in letters:
        headers = [(name, value) for name, value in message.headers() or [] if not name.startswith(PREFIX)]
        while len(producer) >= QUEUE_RECORDS:
            producer.poll(QUEUE_POLL_S)
        producer.produce(
            _target(message), message.value(), message.key(), headers=headers, timestamp=message.timestamp()[1], on_delivery=note
        )  # fmt: skip
        producer.poll(0)
    left = producer.flush(DELIVERY_TIMEOUT_S)
    return failures + ["no answer in time"] * left


def _letters(topic: str, arguments: Namespace) -> Iterator[Any]:
    """The letters from where the command begins, up to those that are there now."""
    from confluent_kafka import TopicPartition

    with _consumer(topic, arguments) as consumer:
        found = consumer.list_topics(topic, READ_TIMEOUT_S).topics[topic]
        if found.error is not None:
            # It is made with the first letter.
            return
        left = arguments.limit
        for partition in found.partitions:
            place = TopicPartition(topic, partition)
            first, end = consumer.get_watermark_offsets(place, READ_TIMEOUT_S)
            place.offset = max(first, _begin(consumer, place, end, arguments))
            consumer.assign([place])
            for message in _until(consumer, end) if place.offset < end else ():
                if left == 0:
                    return
                left = None if left is None else left - 1
                yield message


def _bootstrap_servers(arguments: Namespace) -> str:
    servers: str = arguments.bootstrap_servers or address_of("broker")
    return servers


@contextmanager
def _consumer(topic: str, arguments: Namespace) -> Iterator[Any]:
    """A consumer of the group that remembers how far letters were sent again. It takes no part in the group."""
    from confluent_kafka import Consumer, KafkaException

    consumer = Consumer(
        {
            "bootstrap.servers": _bootstrap_servers(arguments),
            "group.id": GROUP.format(connector=arguments.name),
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "allow.auto.create.topics": False,
            "logger": _SILENT,
        }
    )
    try:
        yield consumer
    except KafkaException as error:
        raise CommandError(
            f"the dead letters in {topic} cannot be read: {error.args[0].str()}",
            "Is --bootstrap-servers right?",
        ) from None
    finally:
        consumer.close()


def _begins_anew(arguments: Namespace) -> bool:
    return arguments.verb == SHOW or arguments.all or arguments.from_offset is not None


def _begin(consumer: Any, place: Any, end: int, arguments: Namespace) -> int:
    if _begins_anew(arguments):
        return arguments.from_offset or 0
    sent = _sent(consumer, place)
    # What lies beyond the end was sent from another topic of the name, which is gone.
    return sent if sent <= end else 0


def _sent(consumer: Any, place: Any) -> int:
    """The offset behind the last letter that was sent again; below 0 if none was."""
    from confluent_kafka import KafkaException

    (found,) = consumer.committed([place], READ_TIMEOUT_S)
    if found.error is not None:
        raise KafkaException(found.error)
    return int(found.offset)


def _remember(topic: str, reached: Mapping[int, int], arguments: Namespace) -> None:
    from confluent_kafka import KafkaException, TopicPartition

    with _consumer(topic, arguments) as consumer:
        places = [TopicPartition(topic, partition, offset) for partition, offset in reached.items()]
        further = [place for place in places if _sent(consumer, TopicPartition(topic, place.partition)) < place.offset]
        if not further:
            return
        try:
            consumer.commit(offsets=further, asynchronous=False)
        except KafkaException as error:
            raise CommandError(
                f"the records were sent, but that could not be noted: {error.args[0].str()}",
                "The next replay sends them once more, unless --from-offset says where to begin.",
            ) from None


def _until(consumer: Any, end: int) -> Iterator[Any]:
    """Up to the end: the offset, or where there is nothing more, since not each offset is a record."""
    from confluent_kafka import KafkaError

    while True:
        message = consumer.poll(READ_TIMEOUT_S)
        if message is None:
            raise CommandError(f"the dead letters could not be read within {READ_TIMEOUT_S:.0f} s")
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise CommandError(str(error))
        if error is None and message.offset() < end:
            yield message
        if error is not None or message.offset() >= end - 1:
            return


def _context(message: Any) -> Mapping[str, str]:
    return {
        name.removeprefix(PREFIX): value.decode("utf-8", "replace") if value is not None else ""
        for name, value in message.headers() or []
        if name.startswith(PREFIX)
    }


def _place(context: Mapping[str, str]) -> str | None:
    if "topic" not in context:
        return None
    if "partition" not in context:
        # The record of a source was on its way there.
        return context["topic"]
    return f"{context['topic']}-{context['partition']}@{context.get('offset', '?')}"


def _target(message: Any) -> str:
    topic = _context(message).get("topic")
    if not topic:
        raise CommandError(f"the letter at offset {message.offset()} cannot be sent again: {NO_HEADERS}")
    return topic


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")[:VALUE_SHOWN_CHARACTERS]
