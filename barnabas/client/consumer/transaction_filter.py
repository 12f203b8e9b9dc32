"""What a consumer sees of fetched bytes: no control batches, and with read_committed nothing of aborted transactions."""

import heapq
import struct
from collections.abc import Iterator, Sequence

from barnabas.wire.batch import BatchHeader, iterate_batches, iterate_records
from barnabas.wire.fields import Blob
from barnabas.wire.messages.fetch import AbortedTransaction
from barnabas.wire.records.control import ControlType

_control_key = struct.Struct(">hh")  # version, type


def visible_batches(
    records: Blob, aborted: Sequence[AbortedTransaction] | None
) -> Iterator[tuple[int, BatchHeader, bool]]:
    """Position, header and visibility of each whole batch. `aborted` is None where everything is to be seen."""
    upcoming = [(transaction.first_offset, transaction.producer_id) for transaction in aborted or ()]
    heapq.heapify(upcoming)
    aborting: set[int] = set()
    for position, header in iterate_batches(records):
        while upcoming and upcoming[0][0] <= header.last_offset:
            aborting.add(heapq.heappop(upcoming)[1])
        if header.is_control:
            if header.producer_id in aborting and _is_abort(records, position):
                aborting.discard(header.producer_id)
            yield position, header, False
        else:
            yield position, header, not (header.is_transactional and header.producer_id in aborting)


def _is_abort(records: Blob, position: int) -> bool:
    marker = next(iterate_records(records, position), None)
    if marker is None or marker.key is None or len(marker.key) < _control_key.size:
        return False
    return bool(_control_key.unpack_from(marker.key)[1] == ControlType.ABORT)
