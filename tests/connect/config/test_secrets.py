"""Secrets can be set, and are never told again."""

from __future__ import annotations

import pytest

from barnabas.kernel.settings import MASK
from connect.config.secrets import hidden, masked, secret_values, unmasked
from connect.plugins.catalogue import installed

PLUGINS = installed()
CONFIG = {
    "connector.class": "http-sink",
    "http.url": "http://127.0.0.1:1",
    "http.headers.authorization": "Bearer abc",
    "unknown": "kept",
}


def test_secrets_are_masked_and_nothing_else_changes() -> None:
    assert masked(PLUGINS, CONFIG) == {**CONFIG, "http.headers.authorization": MASK}


@pytest.mark.parametrize("name", ["producer.override.sasl.jaas.config", "consumer.override.ssl.keystore.password"])
def test_secrets_of_kafka_clients_are_masked(name: str) -> None:
    assert masked(PLUGINS, {**CONFIG, name: "s3cret"})[name] == MASK


def test_other_settings_of_kafka_clients_are_told() -> None:
    config = {"connector.class": "http-sink", "consumer.override.max.poll.records": "5", "topics": "password"}
    assert masked(PLUGINS, config) == config


def test_what_sounds_like_a_secret_of_a_plugin_that_is_gone_is_masked() -> None:
    config = {"connector.class": "gone", "db.Password": "s3cret", "db.url": "told"}
    assert masked(PLUGINS, config) == {**config, "db.Password": MASK}
    assert unmasked(PLUGINS, {**config, "db.Password": MASK}, config) == config


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:s3cret@h:1/db", f"postgresql://u:{MASK}@h:1/db"),
        ("jdbc:mysql://u:s3cret@h:1/db?password=s4cret&x=1", f"jdbc:mysql://u:{MASK}@h:1/db?password={MASK}&x=1"),
        ("jdbc:sqlserver://h:1;databaseName=d;Password=s3cret;x=1", f"jdbc:sqlserver://h:1;databaseName=d;Password={MASK};x=1"),
        ("jdbc:postgresql://h:1/db?user=u&password=${env:PW}", None),
        ("http://h:8080/a@b?tokens=", None),
        ("jdbc:sqlite:/tmp/password.db", None),
    ],
)  # fmt: skip
def test_secrets_within_urls_are_masked_and_come_back(url: str, shown: str | None) -> None:
    config = {"connector.class": "JdbcSink", "connection.url": url}
    told = {**config, "connection.url": shown or url}
    assert masked(PLUGINS, config) == told
    assert unmasked(PLUGINS, told, config) == config
    elsewhere = {name: text.replace("h:1", "h:2") for name, text in told.items()}
    assert unmasked(PLUGINS, elsewhere, config)["connection.url"] == url.replace("h:1", "h:2")


def test_no_message_may_tell_what_is_masked() -> None:
    config = {
        "connector.class": "JdbcSink",
        "connection.url": "postgresql://u:s3cret@h/db",
        "connection.password": "ab",
    }
    assert secret_values(PLUGINS, {**config, "connection.password": "s3cret-too"}) == ["s3cret-too", "s3cret"]
    assert secret_values(PLUGINS, config) == ["s3cret"], "a text of two letters is in too many words"
    assert hidden("s3cret-too is no s3cret", ["s3cret-too", "s3cret"]) == f"{MASK} is no {MASK}"


def test_a_reference_is_no_secret() -> None:
    config = {**CONFIG, "http.headers.authorization": "${env:TOKEN}"}
    assert masked(PLUGINS, config) == config


def test_a_mask_that_comes_back_means_the_former_secret() -> None:
    edited = {**masked(PLUGINS, CONFIG), "http.url": "http://127.0.0.1:2"}
    assert unmasked(PLUGINS, edited, CONFIG) == {**CONFIG, "http.url": "http://127.0.0.1:2"}


def test_a_new_secret_replaces_the_former() -> None:
    edited = {**CONFIG, "http.headers.authorization": "Bearer def"}
    assert unmasked(PLUGINS, edited, CONFIG) == edited
