from __future__ import annotations

import pytest

from barnabas.kernel.environment import KAFKA_PREFIX, Audience, setting_name, setting_variables


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("KAFKA_LOG_RETENTION_MS", "log.retention.ms"),
        ("KAFKA_ONE__TWO", "one_two"),
        ("KAFKA_ONE___TWO", "one-two"),
        ("KAFKA_LISTENER_NAME_IN___SIDE_SSL_PROTOCOL", "listener.name.in-side.ssl.protocol"),
    ],
)
def test_underscores_stand_for_dots_underscores_and_dashes(variable: str, name: str) -> None:
    assert setting_name(variable, KAFKA_PREFIX) == name


@pytest.mark.parametrize(
    "variable",
    [
        "KAFKA_HEAP_OPTS",
        "KAFKA_OPTS",
        "KAFKA_LOG4J_ROOT_LOGLEVEL",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_JMX_PORT",
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
        "KAFKA_VERSION",
        "KAFKA_HOME",
        "PATH",
        "barnabas_listeners",
    ],
)
def test_variables_of_the_start_scripts_and_of_others_are_no_settings(variable: str) -> None:
    assert list(setting_variables({variable: "x"})) == []


def test_our_own_variables_come_last() -> None:
    found = list(setting_variables({"BARNABAS_A": "1", "KAFKA_A": "2", "KAFKA_B": "3"}))
    assert [(item.variable, item.name, item.text, item.audience) for item in found] == [
        ("KAFKA_A", "a", "2", Audience.IMAGE),
        ("KAFKA_B", "b", "3", Audience.IMAGE),
        ("BARNABAS_A", "a", "1", Audience.OURS),
    ]


def test_variables_of_our_commands_are_settings_of_services_that_have_them() -> None:
    environ = {"KAFKA_BOOTSTRAP_SERVERS": "a:1", "SCHEMA_REGISTRY_URL": "http://b", "SCHEMA_REGISTRY_DEBUG": "true"}
    found = list(setting_variables(environ, "SCHEMA_REGISTRY_"))
    assert [(item.name, item.audience) for item in found] == [
        ("bootstrap.servers", Audience.CLIENTS),
        ("schema.registry.url", Audience.CLIENTS),
    ]
