"""A log that is served as a test tells it to be: for what a well-behaved broker cannot be made to do."""

from collections.abc import Callable

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.wire.scripted_broker import ScriptedBroker

HIGH_WATERMARK = 20
EARLIEST = -2


def scripted(serve: Callable[[int], bytes | ErrorCode], *, start: int = 0, end: int = HIGH_WATERMARK) -> ScriptedBroker:
    """Serves pages; `serve` is told how often the client has asked who leads. `start` and `end` are the log's offsets."""

    def metadata(request: MetadataRequest) -> MetadataResponse:
        host, _, port = broker.address.rpartition(":")
        partition = MetadataResponsePartition(partition_index=0, leader_id=1, replica_nodes=[1], isr_nodes=[1])
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=1, host=host, port=int(port))],
            topics=[MetadataResponseTopic(name="t", partitions=[partition])],
        )

    def fetch(request: FetchRequest) -> FetchResponse:
        served = serve(len(broker.seen(MetadataRequest)))
        data = PartitionData(partition_index=0, high_watermark=HIGH_WATERMARK, aborted_transactions=[])
        if isinstance(served, ErrorCode):
            data.error_code = served
        else:
            data.records = served
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])

    def list_offsets(request: ListOffsetsRequest) -> ListOffsetsResponse:
        wanted = request.topics[0].partitions[0].timestamp
        found = ListOffsetsPartitionResponse(partition_index=0, offset=start if wanted == EARLIEST else end)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[found])])

    broker = ScriptedBroker({MetadataRequest: metadata, FetchRequest: fetch, ListOffsetsRequest: list_offsets})
    return broker
