from __future__ import annotations

import random

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, PartitionData
from core_broker.fetch_sessions import EPOCH_MAX, SESSION_MIN_AGE_MS, FetchSessions

BY_NAME, BY_ID = 12, 13


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


def ask(
    session_id: int = 0, epoch: int = 0, indexes: tuple[int, ...] = (), forget: tuple[int, ...] = ()
) -> FetchRequest:
    topics = [FetchTopic(topic="t", partitions=[FetchPartition(partition=i, fetch_offset=i) for i in indexes])]
    forgotten = [ForgottenTopic(topic="t", partitions=list(forget))]
    return FetchRequest(
        session_id=session_id,
        session_epoch=epoch,
        topics=topics if indexes else [],
        forgotten_topics_data=forgotten if forget else [],
    )


def sessions(slots: int = 2, clock: Clock | None = None) -> FetchSessions:
    return FetchSessions(slots, clock or Clock(), random.Random(1))


def open_session(cache: FetchSessions, *indexes: int) -> int:
    session = cache.resolve(ask(indexes=indexes or (0,)), BY_NAME).session
    assert session is not None
    return session.id


def test_without_a_session_only_the_request_counts() -> None:
    fetch = sessions().resolve(ask(epoch=-1, indexes=(0, 1)), BY_NAME)
    assert fetch.session is None
    assert [target.index for target in fetch.targets] == [0, 1]


def test_a_session_remembers_adds_and_forgets() -> None:
    cache = sessions()
    session_id = open_session(cache, 0, 1)
    fetch = cache.resolve(ask(session_id, 1, indexes=(2,), forget=(0,)), BY_NAME)
    assert fetch.incremental
    assert [target.index for target in fetch.targets] == [1, 2]
    assert [target.index for target in cache.resolve(ask(session_id, 2), BY_NAME).targets] == [1, 2]


def test_an_unknown_session_a_wrong_epoch_and_mixed_topic_ids_are_errors() -> None:
    cache = sessions()
    session_id = open_session(cache)
    for request, version, code in (
        (ask(session_id + 1, 1), BY_NAME, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (ask(session_id, 2), BY_NAME, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (ask(session_id, 1), BY_ID, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ):
        with pytest.raises(KafkaError) as raised:
            cache.resolve(request, version)
        assert raised.value.code == code


def test_the_epoch_wraps_to_one() -> None:
    cache = sessions()
    session = cache.resolve(ask(indexes=(0,)), BY_NAME).session
    assert session is not None
    session.epoch = EPOCH_MAX
    cache.resolve(ask(session.id, EPOCH_MAX), BY_NAME)
    assert session.epoch == 1


def test_a_session_ends_by_request_and_when_it_is_empty() -> None:
    cache = sessions()
    cache.resolve(ask(open_session(cache), -1, indexes=(0,)), BY_NAME)
    assert len(cache) == 0
    fetch = cache.resolve(ask(open_session(cache), 1, forget=(0,)), BY_NAME)
    assert fetch.session is None
    assert len(cache) == 0


def test_a_full_cache_evicts_only_what_is_old() -> None:
    clock = Clock()
    cache = sessions(slots=1, clock=clock)
    first = open_session(cache)
    assert cache.resolve(ask(indexes=(0,)), BY_NAME).session is None
    clock.now_ms += SESSION_MIN_AGE_MS + 1
    assert open_session(cache) != first
    assert len(cache) == 1


def test_only_news_is_told() -> None:
    target = sessions().resolve(ask(indexes=(0,)), BY_NAME).targets[0]
    quiet = PartitionData(high_watermark=5, log_start_offset=0, records=b"")
    assert target.is_news(quiet)
    assert not target.is_news(quiet)
    assert target.is_news(PartitionData(high_watermark=6, log_start_offset=0, records=b""))
    assert target.is_news(PartitionData(high_watermark=6, log_start_offset=1, records=b""))
    assert target.is_news(PartitionData(high_watermark=6, log_start_offset=1, records=b"x"))
    failed = PartitionData(
        error_code=ErrorCode.OFFSET_OUT_OF_RANGE, high_watermark=-1, log_start_offset=-1, records=b""
    )
    assert target.is_news(failed)
    assert target.is_news(failed)
    assert target.is_news(PartitionData(high_watermark=6, log_start_offset=1, records=b""))
