"""The connector SDK: what the author of a connector imports.

from barnabas.connect import Record, Sink, setting, sink
"""

from connect.api.declaration import sink, source
from connect.api.record import Header, Record
from connect.api.settings import Importance, setting
from connect.api.sink import RejectedRecord, Sink, TopicPartition
from connect.api.source import Batch, Idle, Offsets, RejectedInput, Shard, Source, SourceOffset
from connect.data.schema import Schema, Type
from connect.errors import ConnectError, DataError, InvalidOffsets, Problem, Retry

__all__ = [
    "Batch", "ConnectError", "DataError", "Header", "Idle", "Importance", "InvalidOffsets", "Offsets", "Problem", "Record", "RejectedInput",
    "RejectedRecord", "Retry", "Schema", "Shard", "Sink", "Source", "SourceOffset", "TopicPartition", "Type", "setting", "sink", "source",
]  # fmt: skip
