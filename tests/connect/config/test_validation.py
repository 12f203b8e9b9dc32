"""Every problem of a configuration at once, each with its setting."""

from __future__ import annotations

import pytest

from connect.config.validation import Validation, validate
from connect.plugins.catalogue import UnknownPlugin, installed

PLUGINS = installed()
DEFAULTS = {"key.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter": "StringConverter"}

SOURCE = {"name": "lines", "connector.class": "FileStreamSource", "topic": "t", "file": "in.txt"}
SINK = {"name": "out", "connector.class": "FileStreamSink", "topics": "t"}

# What Kafka Connect 4.3.0 tells for its two file connectors.
COMMON_NAMES = [
    "name", "connector.class", "connector.plugin.version", "tasks.max", "tasks.max.enforce", "key.converter", "key.converter.plugin.version",
    "value.converter", "value.converter.plugin.version", "header.converter", "header.converter.plugin.version", "transforms", "predicates",
    "config.action.reload", "errors.retry.timeout", "errors.retry.delay.max.ms", "errors.tolerance", "errors.log.enable",
    "errors.log.include.messages",
]  # fmt: skip
DEAD_LETTER_NAMES = [
    "errors.deadletterqueue.topic.name", "errors.deadletterqueue.topic.replication.factor", "errors.deadletterqueue.context.headers.enable",
]  # fmt: skip
SOURCE_NAMES = [
    "topic.creation.groups", "exactly.once.support", "transaction.boundary", "transaction.boundary.interval.ms", "offsets.storage.topic",
    "topic", "file", "batch.size",
]  # fmt: skip


def checked(config: dict[str, str]) -> Validation:
    return validate(PLUGINS, config, DEFAULTS)


def errors_of(config: dict[str, str]) -> dict[str, list[str]]:
    return {entry.key.name: entry.errors for entry in checked(config).entries if entry.errors}


@pytest.mark.parametrize("config", [SOURCE, SINK])
def test_a_right_configuration_has_no_errors(config: dict[str, str]) -> None:
    result = checked(config)
    assert (result.error_count, result.warnings) == (0, ())


def test_a_wrong_value_does_not_hide_what_is_wrong_elsewhere() -> None:
    """Of a connector that has a wrong value itself, nothing more is told: it may follow from that."""
    wrong = {
        **SINK,
        "tasks.max": "two",
        "fsync": "true",
        "value.converter": "StringConverter",
        "value.converter.converter.encoding": "utf-81",
    }
    assert list(errors_of(wrong)) == ["tasks.max", "file", "value.converter.converter.encoding"]
    assert list(errors_of({**wrong, "format": "xml"})) == ["tasks.max", "format", "value.converter.converter.encoding"]


@pytest.mark.parametrize(
    ("config", "names"),
    [
        (SOURCE, [*COMMON_NAMES, *SOURCE_NAMES]),
        (SINK, [*COMMON_NAMES, *DEAD_LETTER_NAMES, "topics", "topics.regex", "file"]),
    ],
    ids=["source", "sink"],
)
def test_every_setting_of_kafkas_file_connectors_is_there(config: dict[str, str], names: list[str]) -> None:
    assert set(names) <= {entry.key.name for entry in checked(config).entries}


def test_values_are_told_as_kafka_tells_them() -> None:
    told = {entry.key.name: entry.value for entry in checked(SOURCE).entries}
    assert told["tasks.max"] == "1"
    assert told["tasks.max.enforce"] == "true"
    assert told["key.converter"] == DEFAULTS["key.converter"]
    assert told["transaction.boundary.interval.ms"] is None


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({"tasks.max": "a"}, {"tasks.max": "Invalid value 'a' for configuration tasks.max: expected a whole number"}),
        ({"tasks.max": "0"}, {"tasks.max": "Invalid value '0' for configuration tasks.max: expected at least 1"}),
        ({"errors.tolerance": "some"}, {"errors.tolerance": "Invalid value 'some' for configuration errors.tolerance: expected one of none, all"}),
        ({"transforms": "a", "transforms.a.type": "Nope"}, {"transforms.a.type": "Class Nope could not be found"}),
        ({"transforms": "a"}, {"transforms.a.type": 'Missing required configuration "transforms.a.type"'}),
        ({"transforms": "a,a", "transforms.a.type": "Filter"}, {"transforms": "a name occurs twice"}),
        ({"transforms": "a", "transforms.a.type": "Filter", "transforms.a.predicate": "p"}, {"transforms.a.predicate": "Predicate p is none of"}),
        (
            {"predicates": "p", "predicates.p.type": "TopicNameMatches"},
            {"predicates.p.pattern": 'Missing required configuration "predicates.p.pattern" which has no default value.'},
        ),
        ({"transforms": "a", "transforms.a.type": "InsertField$Value"}, {"transforms.a.topic.field": "No field insertion configured"}),
        ({"value.converter": "Nope"}, {"value.converter": "Class Nope could not be found"}),
        ({"transaction.boundary": "connector"}, {"transaction.boundary": "choose poll or interval"}),
        ({"format": "csv", "columns": "a:int99"}, {"columns": "int99 is no type"}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_source_is_said_where_it_stands(change: dict[str, str], errors: dict[str, str]) -> None:
    found = errors_of({**SOURCE, **change})
    assert found.keys() == errors.keys()
    for name, text in errors.items():
        assert text in found[name][0]


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"topics": ""}, {"topics", "topics.regex"}),
        ({"topics.regex": "a.*"}, {"topics", "topics.regex"}),
        ({"topics": "", "topics.regex": "a("}, {"topics.regex"}),
        ({"errors.deadletterqueue.topic.name": "t"}, {"topics"}),
        ({"topics": "", "topics.regex": "a.*", "errors.deadletterqueue.topic.name": "ab"}, {"topics.regex"}),
        ({"topics": "", "topics.regex": "a.*", "errors.deadletterqueue.topic.name": "ba"}, set()),
        ({"name": " "}, {"name"}),
        ({"name": "a\nb"}, {"name"}),
    ],
)
def test_a_sink_reads_topics_or_a_pattern_of_them(change: dict[str, str], names: set[str]) -> None:
    assert errors_of({**SINK, **change}).keys() == names


def test_all_errors_come_at_once() -> None:
    found = errors_of({"name": "x", "connector.class": "FileStreamSource", "tasks.max": "-1", "batch.size": "0"})
    assert found.keys() == {"topic", "tasks.max", "batch.size"}


def test_a_name_that_nobody_knows_is_warned_of_with_the_nearest() -> None:
    result = checked({**SOURCE, "batch.sise": "7", "topic.creation.default.partitions": "3"})
    assert result.error_count == 0
    assert result.warnings == ("there is no setting batch.sise; did you mean batch.size?",)


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("transforms.r.blacklist", "there is no setting transforms.r.blacklist: it is called transforms.r.exclude"),
        ("transforms.r.whitelist", "there is no setting transforms.r.whitelist: it is called transforms.r.include"),
        ("value.converter.schemas.enable", "value.converter.schemas.enable counts only together with value.converter"),
    ],
)
def test_a_name_of_old_or_at_a_wrong_place_is_explained(name: str, warning: str) -> None:
    replacing = {"transforms": "r", "transforms.r.type": "ReplaceField$Value", "transforms.r.renames": "a:b"}
    (told,) = checked({**SOURCE, **replacing, name: "true"}).warnings
    assert told.startswith(warning)


def test_settings_of_clients_are_known() -> None:
    result = checked({**SOURCE, "producer.override.acks": "1"})
    assert result.warnings == ()
    assert {entry.key.name: entry.value for entry in result.entries}["producer.override.acks"] == "1"


def test_a_converter_of_the_connector_brings_its_settings() -> None:
    result = checked({**SOURCE, "value.converter": "JsonConverter", "value.converter.schemas.enable": "maybe"})
    assert [entry.key.name for entry in result.entries if entry.errors] == ["value.converter.schemas.enable"]


def test_secrets_are_never_told() -> None:
    config = {
        **SINK,
        "connector.class": "http-sink",
        "http.url": "http://127.0.0.1:1",
        "http.headers.authorization": "Bearer abc",
    }
    assert "abc" not in repr([(entry.value, entry.errors) for entry in checked(config).entries])


def test_groups_are_in_the_order_of_their_settings() -> None:
    groups = checked({**SOURCE, "transforms": "a", "transforms.a.type": "Filter"}).groups
    assert groups == [
        "Common", "Transforms", "Predicates", "Error Handling", "Topic Creation", "Exactly Once Support", "offsets.topic", "Transforms: a",
    ]  # fmt: skip


def test_a_class_that_is_none_is_named_with_those_there_are() -> None:
    with pytest.raises(
        UnknownPlugin,
        match=r"implements Connector and which name matches FileStreamSauce \(did you mean FileStreamSource\?\), available connectors are: ",
    ):
        checked({**SOURCE, "connector.class": "FileStreamSauce"})
