"""All configurations of a broker."""

from __future__ import annotations

from barnabas.kernel.settings import Catalogue
from core_broker.configs import (
    controller,
    groups,
    log,
    metrics,
    network,
    node,
    quotas,
    remote_storage,
    replication,
    sasl,
    security,
    share_groups,
    ssl,
    transactions,
)
from core_broker.configs.setting import BrokerSetting

_BROKER_MODULES = (
    node,
    network,
    log,
    controller,
    replication,
    quotas,
    groups,
    share_groups,
    transactions,
    security,
    ssl,
    sasl,
    remote_storage,
    metrics,
)

BROKER_CATALOGUE: Catalogue[BrokerSetting] = Catalogue(
    setting for module in _BROKER_MODULES for setting in module.SETTINGS
)
"""What a file, the environment or a flag may set."""

DYNAMIC_CATALOGUE: Catalogue[BrokerSetting] = Catalogue([*BROKER_CATALOGUE.values(), *quotas.DYNAMIC_ONLY])
"""What AlterConfigs knows of a broker: the same, and a few settings that no file has."""
