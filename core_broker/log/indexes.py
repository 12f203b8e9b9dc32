"""Reading the index files of a segment, and building anew those that are missing or damaged."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import Final

from core_broker.log.disk import Disk
from core_broker.log.epochs import LeaderEpochs
from core_broker.log.offset_index import OffsetIndex
from core_broker.log.producer_snapshot import decode_snapshot
from core_broker.log.producer_state import Producers
from core_broker.log.segment import (
    LOG,
    OFFSET_INDEX,
    PRODUCER_SNAPSHOT,
    TIME_INDEX,
    TRANSACTION_INDEX,
    Segment,
)
from core_broker.log.segment_walk import SegmentWalk
from core_broker.log.time_index import TimeIndex
from core_broker.log.transaction_index import TransactionIndex

_REBUILT_INTERVAL_BYTES: Final = 4096

_logger = logging.getLogger(__name__)


def read_indexes(segment: Segment, disk: Disk) -> bool:
    """Take the indexes from their files; False, and nothing taken, if one is missing or damaged."""
    try:
        offsets = OffsetIndex.parse(disk.read_file(segment.path(OFFSET_INDEX)), segment.size)
        times = TimeIndex.parse(disk.read_file(segment.path(TIME_INDEX)))
    except FileNotFoundError:
        return False
    transactions: TransactionIndex | None = TransactionIndex()
    if segment.may_have_aborted:
        with suppress(FileNotFoundError):
            transactions = TransactionIndex.parse(disk.read_file(segment.path(TRANSACTION_INDEX)), segment.base_offset)
    if offsets is None or times is None or transactions is None:
        return False
    segment.offset_index, segment.time_index, segment.transaction_index = offsets, times, transactions
    segment.has_index_files = True
    segment.learn_max_timestamp()
    return True


def load_indexes(segment: Segment, disk: Disk) -> None:
    """Take the indexes of a sealed segment from their files, or build them from its batches and write the files."""
    if read_indexes(segment, disk):
        return
    _logger.warning("an index of %s is missing or damaged: building it from the records", segment.path(LOG))
    producers = Producers(os.path.basename(segment.directory))
    # Transactions that were open when the segment began are needed to tell which of its markers abort something.
    with suppress(FileNotFoundError, ValueError):
        producers.restore(decode_snapshot(disk.read_file(segment.path(PRODUCER_SNAPSHOT))))
    segment.reset_indexes()
    walk = SegmentWalk(
        segment,
        disk,
        producers=producers,
        epochs=LeaderEpochs.empty(segment.directory, disk),
        index_interval_bytes=_REBUILT_INTERVAL_BYTES,
        index_from=0,
        producers_from=segment.base_offset,
        collects_aborted=True,
    )
    end = walk.run()
    if end != segment.size:
        raise segment.damaged(end)
    segment.close_time_index()
    segment.write_indexes(disk)
