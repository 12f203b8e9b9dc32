"""Which APIs there are: key, name, declarations and header versions. Declarations are imported when first asked for."""

import re
from functools import cache, lru_cache
from importlib import import_module
from typing import Final

from barnabas.wire.fields import Versions
from barnabas.wire.struct import Message
from barnabas.wire.wire_error import WireError

API_NAMES: Final[dict[int, str]] = {
    0: "Produce",
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    8: "OffsetCommit",
    9: "OffsetFetch",
    10: "FindCoordinator",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    15: "DescribeGroups",
    16: "ListGroups",
    17: "SaslHandshake",
    18: "ApiVersions",
    19: "CreateTopics",
    20: "DeleteTopics",
    21: "DeleteRecords",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    27: "WriteTxnMarkers",
    28: "TxnOffsetCommit",
    29: "DescribeAcls",
    30: "CreateAcls",
    31: "DeleteAcls",
    32: "DescribeConfigs",
    33: "AlterConfigs",
    34: "AlterReplicaLogDirs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    37: "CreatePartitions",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    40: "ExpireDelegationToken",
    41: "DescribeDelegationToken",
    42: "DeleteGroups",
    43: "ElectLeaders",
    44: "IncrementalAlterConfigs",
    45: "AlterPartitionReassignments",
    46: "ListPartitionReassignments",
    47: "OffsetDelete",
    48: "DescribeClientQuotas",
    49: "AlterClientQuotas",
    50: "DescribeUserScramCredentials",
    51: "AlterUserScramCredentials",
    55: "DescribeQuorum",
    57: "UpdateFeatures",
    60: "DescribeCluster",
    61: "DescribeProducers",
    64: "UnregisterBroker",
    65: "DescribeTransactions",
    66: "ListTransactions",
    68: "ConsumerGroupHeartbeat",
    69: "ConsumerGroupDescribe",
    74: "ListConfigResources",
    75: "DescribeTopicPartitions",
    76: "ShareGroupHeartbeat",
    77: "ShareGroupDescribe",
    78: "ShareFetch",
    79: "ShareAcknowledge",
    80: "AddRaftVoter",
    81: "RemoveRaftVoter",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
    88: "StreamsGroupHeartbeat",
    89: "StreamsGroupDescribe",
    90: "DescribeShareGroupOffsets",
    91: "AlterShareGroupOffsets",
    92: "DeleteShareGroupOffsets",
}

API_VERSIONS_KEY: Final = 18
# Far more than there are; a bound, since peers may ask for any key and version.
HEADER_VERSIONS_MAX: Final = 2048


@cache
def request_class(key: int) -> type[Message]:
    """The declaration of the API's request; WireError for a key that Kafka's broker listeners do not know."""
    return _declaration(key, "Request")


@cache
def response_class(key: int) -> type[Message]:
    """The declaration of the API's response; WireError for a key that Kafka's broker listeners do not know."""
    return _declaration(key, "Response")


def known_versions(key: int) -> Versions:
    """The versions of the API that the codec can read and write."""
    return request_class(key).VERSIONS


@lru_cache(HEADER_VERSIONS_MAX)
def request_header_version(key: int, version: int) -> int:
    """1, or 2 (with a tag section) where the request itself is flexible. An unknown key counts as not flexible."""
    return 2 if key in API_NAMES and request_class(key).FLEXIBLE.has(version) else 1


@lru_cache(HEADER_VERSIONS_MAX)
def response_header_version(key: int, version: int) -> int:
    """0, or 1 (with a tag section) where the response is flexible.

    ApiVersions is answered with 0 in every version: its reader cannot know yet what the broker speaks.
    """
    return 1 if key != API_VERSIONS_KEY and response_class(key).FLEXIBLE.has(version) else 0


def _declaration(key: int, suffix: str) -> type[Message]:
    name = API_NAMES.get(key)
    if name is None:
        raise WireError(f"no API has the key {key}")
    module = import_module(f"barnabas.wire.messages.{re.sub('(?<!^)(?=[A-Z])', '_', name).lower()}")
    declaration: type[Message] = getattr(module, name + suffix)
    return declaration
