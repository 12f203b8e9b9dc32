"""What tests of the registry share."""

import pytest

from tests.broker import BrokerProcess


@pytest.fixture(params=["barnabas", "apache_kafka"])
def kafka(request: pytest.FixtureRequest) -> BrokerProcess:
    """Each broker that the registry must work on, one after the other. Tests share them and must not stop them."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, BrokerProcess)
    return found
