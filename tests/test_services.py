"""The table of services: what it promises is there."""

from __future__ import annotations

import pytest

from barnabas.services import SERVICES, Service
from tests.tidy.rules import ROOMS


@pytest.mark.parametrize("service", SERVICES.values(), ids=lambda service: service.name)
def test_a_service_has_its_settings_and_its_entry_point(service: Service) -> None:
    catalogue = service.catalogue()
    assert all(name in catalogue for name in (*service.folder_settings, *service.chosen))
    assert service.run_at.split(".")[0] in ROOMS
