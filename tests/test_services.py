"""The table of services: what it promises is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.kernel.setting_errors import SettingError
from barnabas.services import BROKER, CONNECT, REGISTRY, SERVICES, Service, resolve_all
from tests.tidy.rules import ROOMS


@pytest.mark.parametrize("service", SERVICES.values(), ids=lambda service: service.name)
def test_a_service_has_its_settings_and_its_entry_point(service: Service) -> None:
    catalogue = service.catalogue()
    assert all(name in catalogue for name in (*service.folder_settings, *service.chosen))
    assert service.program_at.split(".")[0] in ROOMS


@pytest.mark.parametrize(
    ("flags", "environ", "platform", "expected"),
    [
        ({"listeners": "http://127.0.0.1:1"}, {}, False, "http://127.0.0.1:1"),
        ({"listeners": "PLAINTEXT://127.0.0.1:1"}, {}, True, "http://127.0.0.1:8081"),
        ({"registry.listeners": "http://127.0.0.1:1"}, {}, True, "http://127.0.0.1:1"),
        ({}, {"BARNABAS_LISTENERS": "PLAINTEXT://127.0.0.1:1"}, False, "http://127.0.0.1:8081"),
        ({}, {"BARNABAS_REGISTRY_LISTENERS": "http://127.0.0.1:1"}, True, "http://127.0.0.1:1"),
        ({}, {"SCHEMA_REGISTRY_LISTENERS": "http://127.0.0.1:1"}, True, "http://127.0.0.1:1"),
        (
            {},
            {"SCHEMA_REGISTRY_LISTENERS": "http://127.0.0.1:1", "BARNABAS_REGISTRY_LISTENERS": "http://127.0.0.1:2"},
            False,
            "http://127.0.0.1:2",
        ),
    ],
)
def test_a_name_that_services_share_means_one_of_them(
    flags: dict[str, str], environ: dict[str, str], platform: bool, expected: str
) -> None:
    settings = REGISTRY.resolve(flags, environ, None, platform=platform).settings
    assert settings.items_of("listeners") == (expected,)


def test_the_broker_has_a_prefix_too_beside_names_of_kafka_that_begin_with_it() -> None:
    flags = {"broker.listeners": "PLAINTEXT://127.0.0.1:1", "listeners": "PLAINTEXT://127.0.0.1:2", "broker.id": "7"}
    settings = BROKER.resolve(flags, {}, None, platform=True).settings
    assert (settings.items_of("listeners"), settings.integer("broker.id")) == (("PLAINTEXT://127.0.0.1:1",), 7)


def test_in_a_platform_connectors_store_their_offsets_more_often() -> None:
    alone, among = (CONNECT.resolve({}, {}, None, platform=platform).settings for platform in (False, True))
    given = CONNECT.resolve({"offset.flush.interval.ms": "700"}, {}, None, platform=True).settings
    found = [settings.integer("offset.flush.interval.ms") for settings in (alone, among, given)]
    assert found == [60_000, 5_000, 700]


def test_in_a_platform_the_variables_of_clients_do_not_count() -> None:
    environ = {"KAFKA_BOOTSTRAP_SERVERS": "elsewhere:9092"}
    alone, among = (REGISTRY.resolve({}, environ, None, platform=platform).settings for platform in (False, True))
    assert (alone.items_of("bootstrap.servers"), among.is_given("bootstrap.servers")) == (("elsewhere:9092",), False)


def test_a_name_that_no_service_knows_is_an_error() -> None:
    with pytest.raises(SettingError, match="no such setting"):
        REGISTRY.resolve({"kafkastore.topics": "x"}, {}, None)


def test_mistakes_in_the_settings_of_several_services_are_told_at_once_and_each_once() -> None:
    flags = {
        "num.partitons": "3",
        "registry.schema.compatibility.level": "fulll",
        "sql.ksql.streams.auto.offset.reset": "earlyest",
        "processing.guarantee": "twice",
    }
    with pytest.raises(SettingError) as caught:
        resolve_all(SERVICES.values(), flags, {}, None)
    assert [(error.name, error.value) for error in caught.value.each] == [
        ("num.partitons", "'3'"),
        ("schema.compatibility.level", "'fulll'"),
        ("processing.guarantee", "'twice'"),
        ("ksql.streams.auto.offset.reset", "'earlyest'"),
    ]


def test_a_package_whose_parent_is_missing_is_missing() -> None:
    service = replace(REGISTRY, packages=("no_such_parent.child", "json.no_such_child", "json"))
    assert service.missing_packages() == ["no_such_parent.child", "json.no_such_child"]
