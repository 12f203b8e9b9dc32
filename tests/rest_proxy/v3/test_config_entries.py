"""What is read out of the sources of a broker's config."""

from __future__ import annotations

import pytest

from rest_proxy.kafka.admin_types import ConfigEntry
from rest_proxy.v3.config_entries import cluster_wide

NAME = "log.retention.ms"
OWN, WIDE, DEFAULT = 2, 3, 5


def entry(name: str, source: int, *synonyms: ConfigEntry) -> ConfigEntry:
    by_name = {synonym.name: synonym for synonym in synonyms}
    return ConfigEntry(name, f"of {source}", source=source, synonyms=by_name)  # type: ignore[arg-type] # As it comes.


@pytest.mark.parametrize(
    ("config", "value"),
    [
        (entry(NAME, WIDE, entry("log.retention.hours", DEFAULT)), "of 3"),
        (entry(NAME, OWN, entry(NAME, WIDE)), "of 3"),
        (entry(NAME, OWN, entry("log.retention.minutes", WIDE)), None),
        (entry(NAME, DEFAULT), None),
    ],
)
def test_a_cluster_wide_value_shows_through(config: ConfigEntry, value: str | None) -> None:
    found = cluster_wide(config)
    assert (found and found.value) == value
