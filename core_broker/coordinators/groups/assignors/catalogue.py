"""The assignors by the names that members and `group.consumer.assignors` use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from core_broker.coordinators.groups.assignors.group_spec import Assignor
from core_broker.coordinators.groups.assignors.range_assignor import assign_range
from core_broker.coordinators.groups.assignors.uniform_assignor import assign_uniform

ASSIGNORS: Final[Mapping[str, Assignor]] = MappingProxyType({"uniform": assign_uniform, "range": assign_range})
