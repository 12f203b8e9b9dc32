"""Transaction markers: the control batches that end a transaction."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.wire.batch import Record, build_batch, iterate_records
from core_broker.log.producer_state import Marker

_VERSION: Final = 0
_ABORT: Final = 0
_COMMIT: Final = 1
_KEY: Final = struct.Struct(">hh")  # version, type
_VALUE: Final = struct.Struct(">hi")  # version, coordinator epoch


def read_marker(batch: bytes | bytearray | memoryview) -> Marker | None:
    """The marker in a control batch; None if it is none: an empty batch (compaction did that) or another control record."""
    record = next(iterate_records(batch), None)
    if record is None or record.key is None or len(record.key) < _KEY.size:
        return None
    _, kind = _KEY.unpack_from(record.key)
    if kind not in (_ABORT, _COMMIT) or record.value is None or len(record.value) < _VALUE.size:
        return None
    _, coordinator_epoch = _VALUE.unpack_from(record.value)
    return Marker(kind == _COMMIT, coordinator_epoch)


def build_marker(producer_id: int, producer_epoch: int, marker: Marker, now_ms: int) -> bytearray:
    """The control batch that ends a producer's transaction."""
    key = _KEY.pack(_VERSION, _COMMIT if marker.commits else _ABORT)
    value = _VALUE.pack(_VERSION, marker.coordinator_epoch)
    return build_batch(
        [Record(0, now_ms, key, value)],
        transactional=True,
        control=True,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )
