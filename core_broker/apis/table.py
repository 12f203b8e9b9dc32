"""The APIs that this broker serves, each over the whole range of versions that it advertises: Apache Kafka 4.3.0's own ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Served(NamedTuple):
    """A range of versions, and the module whose `handle` answers them. It is imported when a client first asks."""

    min_version: int
    max_version: int
    module: str

    def covers(self, version: int) -> bool:
        return self.min_version <= version <= self.max_version


def _served(min_version: int, max_version: int, name: str) -> Served:
    return Served(min_version, max_version, f"core_broker.apis.{name}")


SERVED: Mapping[int, Served] = {
    # Produce below 3 cannot be read: Kafka advertises it for librdkafka's sake, which otherwise sends batches uncompressed.
    0: _served(0, 13, "produce"),
    1: _served(4, 18, "fetch"),
    2: _served(1, 11, "list_offsets"),
    3: _served(0, 13, "metadata"),
    8: _served(2, 10, "offset_commit"),
    9: _served(1, 10, "offset_fetch"),
    10: _served(0, 6, "find_coordinator"),
    11: _served(0, 9, "join_group"),
    12: _served(0, 4, "heartbeat"),
    13: _served(0, 5, "leave_group"),
    14: _served(0, 5, "sync_group"),
    15: _served(0, 6, "describe_groups"),
    16: _served(0, 5, "list_groups"),
    18: _served(0, 4, "api_versions"),
    19: _served(2, 7, "create_topics"),
    20: _served(1, 6, "delete_topics"),
    21: _served(0, 2, "delete_records"),
    22: _served(0, 5, "init_producer_id"),
    23: _served(2, 4, "offset_for_leader_epoch"),
    24: _served(0, 5, "add_partitions_to_txn"),
    25: _served(0, 4, "add_offsets_to_txn"),
    26: _served(0, 5, "end_txn"),
    27: _served(1, 2, "write_txn_markers"),
    28: _served(0, 5, "txn_offset_commit"),
    29: _served(1, 3, "describe_acls"),
    30: _served(1, 3, "create_acls"),
    31: _served(1, 3, "delete_acls"),
    32: _served(1, 4, "describe_configs"),
    33: _served(0, 2, "alter_configs"),
    34: _served(1, 2, "alter_replica_log_dirs"),
    35: _served(1, 5, "describe_log_dirs"),
    37: _served(0, 3, "create_partitions"),
    38: _served(1, 3, "create_delegation_token"),
    39: _served(1, 2, "renew_delegation_token"),
    40: _served(1, 2, "expire_delegation_token"),
    41: _served(1, 3, "describe_delegation_token"),
    42: _served(0, 2, "delete_groups"),
    43: _served(0, 2, "elect_leaders"),
    44: _served(0, 1, "incremental_alter_configs"),
    45: _served(0, 1, "alter_partition_reassignments"),
    46: _served(0, 0, "list_partition_reassignments"),
    47: _served(0, 0, "offset_delete"),
    48: _served(0, 1, "describe_client_quotas"),
    49: _served(0, 1, "alter_client_quotas"),
    50: _served(0, 0, "describe_user_scram_credentials"),
    51: _served(0, 0, "alter_user_scram_credentials"),
    55: _served(0, 2, "describe_quorum"),
    57: _served(0, 2, "update_features"),
    60: _served(0, 2, "describe_cluster"),
    61: _served(0, 0, "describe_producers"),
    64: _served(0, 0, "unregister_broker"),
    65: _served(0, 0, "describe_transactions"),
    66: _served(0, 2, "list_transactions"),
    68: _served(0, 1, "consumer_group_heartbeat"),
    69: _served(0, 1, "consumer_group_describe"),
    74: _served(0, 1, "list_config_resources"),
    75: _served(0, 0, "describe_topic_partitions"),
}
