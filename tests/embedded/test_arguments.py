"""What tests give to a broker is written as Kafka writes it, or refused with its name, its value and what to give instead."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator

import pytest

from barnabas.embedded.broker import EmbeddedBroker
from barnabas.testing import platform


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker({"log.retention.ms": 7_000, "auto.create.topics.enable": False}) as running:
        yield running


@pytest.fixture
def kafka(shared: EmbeddedBroker) -> Iterator[EmbeddedBroker]:
    yield shared
    shared.faults.clear()


def test_configs_may_be_numbers_and_booleans(kafka: EmbeddedBroker) -> None:
    configs = {"retention.ms": 3_000, "preallocate": True, "min.cleanable.dirty.ratio": 0.25}
    topic = kafka.create_topic(configs=configs)
    kafka.produce(topic, "a")
    with pytest.raises(Exception, match=r"retention\.ms"):
        kafka.create_topic(configs={"retention.ms": True})


def test_headers_may_be_a_mapping_and_their_values_text(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    kafka.produce(topic, bytearray(b"a"), key=memoryview(b"k"), headers={"n": "1", "m": b"2", "none": None})
    kafka.produce(topic, "b", headers=[("n", "1"), ("n", b"2")])
    first, second = kafka.records(topic)
    assert (first.key, first.value) == (b"k", b"a")
    assert first.headers == (("n", b"1"), ("m", b"2"), ("none", None))
    assert second.headers == (("n", b"1"), ("n", b"2"))


BAD: dict[str, tuple[Callable[[EmbeddedBroker], object], type[Exception], str]] = {
    "a config": (
        lambda kafka: kafka.create_topic(configs={"retention.ms": None}),  # type: ignore[dict-item]
        TypeError,
        "configs['retention.ms'] is None (NoneType): give text, a number or a boolean",
    ),
    "configs": (lambda kafka: kafka.create_topic(configs="x"), TypeError, "configs is 'x' (str): give a mapping"),  # type: ignore[arg-type]
    "partitions": (
        lambda kafka: kafka.create_topic(partitions="2"),  # type: ignore[arg-type]
        TypeError,
        "partitions is '2' (str): give a whole number",
    ),
    "a name": (lambda kafka: kafka.create_topic(7), TypeError, "name is 7 (int): give text"),  # type: ignore[arg-type]
    "a value": (
        lambda kafka: kafka.produce("y", "a", {"a": 1}),  # type: ignore[arg-type]
        TypeError,
        "values[1] is {'a': 1} (dict): give bytes, text or None, such as json.dumps(…) makes",
    ),
    "a key": (lambda kafka: kafka.produce("y", "a", key=5), TypeError, "key is 5 (int): give bytes, text or None"),  # type: ignore[arg-type]
    "a header": (
        lambda kafka: kafka.produce("y", "a", headers=["ab"]),  # type: ignore[list-item]
        TypeError,
        "headers[0] is 'ab' (str): give a pair such as",
    ),
    "a header's name": (
        lambda kafka: kafka.produce("y", "a", headers={1: "a"}),  # type: ignore[dict-item]
        TypeError,
        "the name in headers[0] is 1 (int): give text",
    ),
    "a header's value": (
        lambda kafka: kafka.produce("y", "a", headers=[("a", 1)]),  # type: ignore[list-item]
        TypeError,
        "the value in headers[0] is 1 (int): give bytes, text or None",
    ),
    "headers": (lambda kafka: kafka.produce("y", "a", headers=1), TypeError, "headers is 1 (int): give a mapping"),  # type: ignore[arg-type]
    "a delay": (lambda kafka: kafka.faults.delay(-1), ValueError, "milliseconds is -1 (int): give a number from 0 up"),
    "a delay of text": (
        lambda kafka: kafka.faults.delay("a"),  # type: ignore[arg-type]
        TypeError,
        "milliseconds is 'a' (str): give a whole number",
    ),
    "time": (lambda kafka: kafka.faults.advance_clock(-5), ValueError, "time does not go back"),
    "an error": (
        lambda kafka: kafka.faults.fail_appends("ENOSPC"),  # type: ignore[arg-type]
        TypeError,
        "error_number is 'ENOSPC' (str): give a number of the system's errors, such as errno.ENOSPC, or None",
    ),
    "no error": (lambda kafka: kafka.faults.fail_appends(-7), ValueError, "error_number is -7 (int)"),
    "settings": (lambda _kafka: EmbeddedBroker({"num.partitions": []}), TypeError, "settings['num.partitions'] is []"),  # type: ignore[dict-item]
    "services": (
        lambda _kafka: platform(["brokr"]),
        ValueError,
        "services is ['brokr']: give a list of some of broker",
    ),
    "services in a text": (lambda _kafka: platform("broker"), ValueError, "services is 'broker': give a list"),
}


@pytest.mark.parametrize(("act", "kind", "words"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_meant_is_refused(
    kafka: EmbeddedBroker, act: Callable[[EmbeddedBroker], object], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        act(kafka)


def test_an_error_of_the_system_is_taken(kafka: EmbeddedBroker) -> None:
    topic = kafka.create_topic()
    kafka.faults.fail_appends(errno.EIO)
    with pytest.raises(Exception, match=topic):
        kafka.produce(topic, "a")
    kafka.faults.fail_appends(None)
    assert kafka.produce(topic, "a") == 0
