"""Producer ids never come twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.struct import Message
from core_broker.log.disk import Disk
from core_broker.metadata.producer_ids import BLOCK_IDS, ProducerIds
from core_broker.metadata.store import MetadataStore
from core_broker.metadata.topics import Node


def opened(path: Path) -> MetadataStore:
    store = MetadataStore.open(path, Node(1, bytes(16)), disk=Disk(), clock_ms=lambda: 0)
    store.begin([], None, unclean=False)
    return store


async def take(ids: ProducerIds, count: int) -> list[int]:
    return [await ids.next() for _ in range(count)]


def test_a_block_is_durable_before_its_first_id_is_used(tmp_path: Path) -> None:
    store = opened(tmp_path)
    ids = ProducerIds(store, store.append_off_loop)
    assert asyncio.run(take(ids, 3)) == [0, 1, 2]
    assert store.image.next_producer_id == BLOCK_IDS
    again = opened(tmp_path)
    assert asyncio.run(ProducerIds(again, again.append_off_loop).next()) == BLOCK_IDS


def test_ids_go_on_over_the_end_of_a_block(tmp_path: Path) -> None:
    store = opened(tmp_path)
    ids = ProducerIds(store, store.append_off_loop)
    assert asyncio.run(take(ids, 2 * BLOCK_IDS + 1)) == list(range(2 * BLOCK_IDS + 1))


def test_many_at_once_get_different_ids_from_one_block(tmp_path: Path) -> None:
    store = opened(tmp_path)
    ids = ProducerIds(store, store.append_off_loop)

    async def together() -> list[int]:
        return await asyncio.gather(*(ids.next() for _ in range(50)))

    assert sorted(asyncio.run(together())) == list(range(50))
    assert store.image.next_producer_id == BLOCK_IDS


def test_a_block_that_cannot_be_written_is_not_used(tmp_path: Path) -> None:
    store = opened(tmp_path)

    async def refuse(records: Sequence[Message]) -> None:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "full")

    ids = ProducerIds(store, refuse)
    with pytest.raises(KafkaError, match="full"):
        asyncio.run(ids.next())
    with pytest.raises(KafkaError, match="full"):
        asyncio.run(ids.next())
