"""The names of configurations that `kafka-configs --help` lists for each type of entity."""

from __future__ import annotations

from barnabas.kafka_tools.configs.client_quotas import ADDRESS_QUOTAS, QUOTAS
from barnabas.kafka_tools.configs.scram_credentials import MECHANISMS


def names_of_types() -> dict[str, list[str]]:
    """Sorted names by type of entity."""
    from core_broker.configs.broker import DYNAMIC_CATALOGUE
    from core_broker.configs.group_overrides import GROUP_CATALOGUE
    from core_broker.configs.setting import UpdateMode
    from core_broker.configs.topics import TOPIC_CATALOGUE

    return {
        "topics": sorted(TOPIC_CATALOGUE),
        "brokers": sorted(
            name for name, setting in DYNAMIC_CATALOGUE.items() if setting.mode is not UpdateMode.READ_ONLY
        ),
        "users": sorted((*MECHANISMS, *QUOTAS)),
        "clients": sorted(QUOTAS),
        "ips": sorted(ADDRESS_QUOTAS),
        "client-metrics": ["interval.ms", "match", "metrics"],
        "groups": sorted(GROUP_CATALOGUE),
    }
