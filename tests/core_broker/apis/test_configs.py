"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs and ListConfigResources."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages import alter_configs, incremental_alter_configs
from barnabas.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from barnabas.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.wire.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.configs.topics import TOPIC_CATALOGUE
from core_broker.metadata.image import ResourceType
from core_broker.security.authorizer import CLUSTER_NAME, Operation
from core_broker.security.authorizer import ResourceType as Guarded
from tests.core_broker.apis.context import AdminBroker, Denies

TOPIC, BROKER, LOGGER = ResourceType.TOPIC, ResourceType.BROKER, ResourceType.BROKER_LOGGER
METRICS, GROUP = ResourceType.CLIENT_METRICS, ResourceType.GROUP
SET, DELETE, APPEND = 0, 1, 2


def describe(
    admin: AdminBroker, kind: int, name: str, *keys: str, version: int = 4, documentation: bool = False
) -> DescribeConfigsResult:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=list(keys) or None)
        ],
        include_synonyms=True,
        include_documentation=documentation,
    )
    (result,) = admin.ask(request, version, expect=DescribeConfigsResponse).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


def only(
    admin: AdminBroker, kind: int, name: str, key: str, *, documentation: bool = False
) -> DescribeConfigsResourceResult:
    (config,) = describe(admin, kind, name, key, documentation=documentation).configs
    return config


def synonyms(config: DescribeConfigsResourceResult) -> list[tuple[str, str | None, int]]:
    return [(synonym.name, synonym.value, synonym.source) for synonym in config.synonyms]


def alter(
    admin: AdminBroker, kind: int, name: str, *changes: tuple[str, int, str | None], validate_only: bool = False
) -> int:
    configs = [
        incremental_alter_configs.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    ]
    resource = incremental_alter_configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (response,) = admin.ask(request, expect=IncrementalAlterConfigsResponse).responses
    assert (response.resource_type, response.resource_name) == (kind, name)
    assert (response.error_message is None) == (response.error_code == 0)
    return response.error_code


def replace(admin: AdminBroker, kind: int, name: str, values: Mapping[str, str], version: int = 2) -> int:
    configs = [alter_configs.AlterableConfig(name=key, value=text) for key, text in values.items()]
    resource = alter_configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    (response,) = admin.ask(AlterConfigsRequest(resources=[resource]), version, expect=AlterConfigsResponse).responses
    return response.error_code


@pytest.mark.parametrize("version", range(1, 5))
def test_every_version_lists_every_configuration_of_a_topic(admin: AdminBroker, version: int) -> None:
    admin.create("t", retention_ms="5")
    result = describe(admin, TOPIC, "t", version=version)
    assert (result.error_code, result.error_message) == (0, "")
    assert [config.name for config in result.configs] == sorted(set(TOPIC_CATALOGUE) - {"internal.segment.bytes"})
    retention = next(config for config in result.configs if config.name == "retention.ms")
    assert (retention.value, retention.config_source, retention.read_only) == ("5", 1, False)
    assert retention.config_type == (5 if version >= 3 else 0)


def test_a_broker_lists_everything_that_kafka_lists(admin: AdminBroker) -> None:
    names = [config.name for config in describe(admin, BROKER, "1").configs]
    assert names == sorted(name for name, setting in BROKER_CATALOGUE.items() if not (setting.internal or setting.many))
    node = only(admin, BROKER, "1", "node.id")
    assert (node.value, node.read_only, node.config_type) == ("1", True, 3)


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    admin = AdminBroker(tmp_path, {"ssl.keystore.password": "hunter2"})
    config = only(admin, BROKER, "1", "ssl.keystore.password")
    assert (config.value, config.is_sensitive, config.config_type) == (None, True, 9)
    assert synonyms(config) == [("ssl.keystore.password", None, 4)]


def test_documentation_says_what_has_no_effect(admin: AdminBroker) -> None:
    assert only(admin, BROKER, "1", "num.io.threads").documentation is None
    text = only(admin, BROKER, "1", "num.io.threads", documentation=True).documentation
    assert (
        text
        == "Threads that handle requests. Has no effect here: one event loop reads, handles and answers all requests."
    )


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "bad name", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (BROKER, "x", ErrorCode.INVALID_REQUEST),
        (LOGGER, "", ErrorCode.INVALID_REQUEST),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST),
        (METRICS, "", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (3, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_described(admin: AdminBroker, kind: int, name: str, code: ErrorCode) -> None:
    result = describe(admin, kind, name)
    assert (result.error_code, result.configs) == (code, [])
    assert result.error_message


def test_a_change_of_the_broker_reaches_its_topics_and_goes_again(admin: AdminBroker) -> None:
    admin.create("t")
    assert alter(admin, BROKER, "1", ("log.retention.ms", SET, "5000")) == 0
    assert alter(admin, BROKER, "", ("log.retention.ms", SET, "6000")) == 0
    topic = only(admin, TOPIC, "t", "retention.ms")
    assert (topic.value, topic.config_source) == ("5000", 2)
    assert synonyms(topic) == [
        ("log.retention.ms", "5000", 2),
        ("log.retention.ms", "6000", 3),
        ("log.retention.hours", "168", 5),
    ]
    assert [(config.name, config.value) for config in describe(admin, BROKER, "").configs] == [
        ("log.retention.ms", "6000"),
        ("min.insync.replicas", "1"),
    ]
    assert alter(admin, BROKER, "1", ("log.retention.ms", DELETE, None)) == 0
    assert only(admin, TOPIC, "t", "retention.ms").value == "6000"
    assert alter(admin, BROKER, "", ("log.retention.ms", DELETE, None)) == 0
    assert synonyms(only(admin, TOPIC, "t", "retention.ms")) == []


def test_validation_alone_changes_nothing(admin: AdminBroker) -> None:
    admin.create("t")
    assert alter(admin, TOPIC, "t", ("retention.ms", SET, "5"), validate_only=True) == 0
    assert alter(admin, TOPIC, "t", ("retention.ms", SET, "x"), validate_only=True) == ErrorCode.INVALID_CONFIG
    assert only(admin, TOPIC, "t", "retention.ms").config_source == 5


def test_all_changes_of_a_resource_succeed_or_none(admin: AdminBroker) -> None:
    admin.create("t")
    assert alter(admin, TOPIC, "t", ("retention.ms", SET, "5"), ("segment.bytes", SET, "3")) == ErrorCode.INVALID_CONFIG
    assert only(admin, TOPIC, "t", "retention.ms").config_source == 5


@pytest.mark.parametrize("version", range(3))
def test_the_older_request_gives_a_resource_exactly_what_it_says(admin: AdminBroker, version: int) -> None:
    admin.create("t", retention_ms="5")
    assert replace(admin, TOPIC, "t", {"segment.ms": "6"}, version) == 0
    assert dict(admin.metadata.image.config(TOPIC, "t")) == {"segment.ms": "6"}
    assert replace(admin, TOPIC, "nope", {"segment.ms": "6"}, version) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert replace(admin, LOGGER, "1", {"root": "INFO"}, version) == ErrorCode.INVALID_REQUEST


def test_what_a_client_read_it_may_write_back(admin: AdminBroker) -> None:
    """Read all, change one, write all: what older clients do, for want of the newer request."""
    admin.create("t")
    values = {config.name: config.value or "" for config in describe(admin, TOPIC, "t").configs}
    assert replace(admin, TOPIC, "t", {**values, "retention.ms": "77"}) == 0
    assert only(admin, TOPIC, "t", "retention.ms").value == "77"


def test_a_resource_that_comes_twice_is_refused_both_times(admin: AdminBroker) -> None:
    admin.create("t")
    resource = incremental_alter_configs.AlterConfigsResource(resource_type=TOPIC, resource_name="t")
    request = IncrementalAlterConfigsRequest(resources=[resource, resource])
    responses = admin.ask(request, expect=IncrementalAlterConfigsResponse).responses
    assert [response.error_code for response in responses] == [ErrorCode.INVALID_REQUEST] * 2
    older = alter_configs.AlterConfigsResource(resource_type=TOPIC, resource_name="t")
    answers = admin.ask(AlterConfigsRequest(resources=[older, older]), expect=AlterConfigsResponse).responses
    assert [response.error_code for response in answers] == [ErrorCode.INVALID_REQUEST] * 2


def test_groups_and_subscriptions_have_their_own_values(admin: AdminBroker) -> None:
    key = "consumer.session.timeout.ms"
    assert synonyms(only(admin, GROUP, "g", key)) == [(f"group.{key}", "45000", 5)]
    assert alter(admin, GROUP, "g", (key, SET, "50000")) == 0
    assert synonyms(only(admin, GROUP, "g", key)) == [(key, "50000", 8), (f"group.{key}", "45000", 5)]
    assert synonyms(only(admin, GROUP, "g", "share.auto.offset.reset")) == [("share.auto.offset.reset", "latest", 5)]
    assert alter(admin, METRICS, "s", ("interval.ms", SET, "1000")) == 0
    values = [(config.name, config.value, config.config_source) for config in describe(admin, METRICS, "s").configs]
    assert values == [("interval.ms", "1000", 7), ("match", "", 5), ("metrics", "", 5)]


def test_the_level_of_a_logger_changes_at_once_and_is_not_recorded(admin: AdminBroker) -> None:
    name = "core_broker.metadata.store"
    logger = logging.getLogger(name)
    before = admin.metadata.image
    try:
        assert alter(admin, LOGGER, "1", (name, SET, "ERROR"), validate_only=True) == 0
        assert logger.level == logging.NOTSET
        assert alter(admin, LOGGER, "1", (name, SET, "ERROR")) == 0
        assert logger.level == logging.ERROR
        config = only(admin, LOGGER, "1", name)
        assert (config.value, config.config_source, config.config_type, config.documentation) == ("ERROR", 6, 0, "")
        assert alter(admin, LOGGER, "1", (name, DELETE, None)) == 0
        assert logger.level == logging.NOTSET
    finally:
        logger.setLevel(logging.NOTSET)
    assert admin.metadata.image is before
    assert alter(admin, LOGGER, "1", (name, APPEND, "INFO")) == ErrorCode.INVALID_REQUEST
    assert alter(admin, LOGGER, "2", (name, SET, "INFO")) == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("kind", "name", "guarded", "target", "code"),
    [
        (TOPIC, "t", Guarded.TOPIC, "t", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        (GROUP, "g", Guarded.GROUP, "g", ErrorCode.GROUP_AUTHORIZATION_FAILED),
        (BROKER, "1", Guarded.CLUSTER, CLUSTER_NAME, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        (LOGGER, "1", Guarded.CLUSTER, CLUSTER_NAME, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
        (METRICS, "s", Guarded.CLUSTER, CLUSTER_NAME, ErrorCode.CLUSTER_AUTHORIZATION_FAILED),
    ],
)
def test_reading_and_changing_take_permission(
    admin: AdminBroker, kind: int, name: str, guarded: Guarded, target: str, code: ErrorCode
) -> None:
    admin.create("t")
    admin.authorizer = Denies((Operation.DESCRIBE_CONFIGS, guarded, target), (Operation.ALTER_CONFIGS, guarded, target))
    assert describe(admin, kind, name).error_code == code
    assert alter(admin, kind, name) == code
    assert replace(admin, kind, name, {}) == code


def resources(admin: AdminBroker, *kinds: int, version: int = 1) -> tuple[int, list[tuple[int, str]]]:
    request = ListConfigResourcesRequest(resource_types=list(kinds))
    response = admin.ask(request, version, expect=ListConfigResourcesResponse)
    return response.error_code, [(found.resource_type, found.resource_name) for found in response.config_resources]


def test_what_has_configurations_is_listed(admin: AdminBroker) -> None:
    admin.create("t")
    alter(admin, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    alter(admin, METRICS, "s", ("interval.ms", SET, "1000"))
    assert resources(admin) == (0, [(GROUP, "g"), (METRICS, "s"), (LOGGER, "1"), (BROKER, "1"), (TOPIC, "t")])
    assert resources(admin, TOPIC, GROUP) == (0, [(TOPIC, "t"), (GROUP, "g")])
    assert resources(admin, version=0) == (0, [(METRICS, "s")])
    assert resources(admin, 7) == (ErrorCode.UNSUPPORTED_VERSION, [])
    admin.authorizer = Denies((Operation.DESCRIBE_CONFIGS, Guarded.CLUSTER, CLUSTER_NAME))
    assert resources(admin) == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, [])
