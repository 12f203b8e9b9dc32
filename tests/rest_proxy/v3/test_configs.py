"""Configs of topics and brokers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rest_proxy.v3.v3_service import V3Service
from tests.waiting import wait_for

RETENTION = "retention.ms"


def value_of(v3: V3Service, topic: str, name: str = RETENTION) -> str:
    value = v3.get(f"/topics/{topic}/configs/{name}")["value"]
    assert isinstance(value, str)
    return value


def wait_for_value(v3: V3Service, topic: str, value: str) -> None:
    wait_for(lambda: value_of(v3, topic) == value, f"{RETENTION}={value}")


def test_a_config_says_where_its_value_comes_from(v3: V3Service, two_partitions: str) -> None:
    path = f"/topics/{two_partitions}/configs/{RETENTION}"
    default = v3.get(path)
    assert (default["source"], default["is_default"]) == ("DEFAULT_CONFIG", True)
    assert v3.ask("PUT", path, {"value": 5000}).status == 204
    wait_for_value(v3, two_partitions, "5000")
    config = v3.get(path)
    assert config["synonyms"][0] == {"name": RETENTION, "value": "5000", "source": "DYNAMIC_TOPIC_CONFIG"}
    expected = {
        "kind": "KafkaTopicConfig",
        "metadata": {
            "self": f"{v3.base}{path}",
            "resource_name": f"{v3.name}/topic={two_partitions}/config={RETENTION}",
        },
        "cluster_id": v3.cluster_id,
        "name": RETENTION,
        "value": "5000",
        "is_read_only": False,
        "is_sensitive": False,
        "source": "DYNAMIC_TOPIC_CONFIG",
        "synonyms": config["synonyms"],
        "topic_name": two_partitions,
        "is_default": False,
    }
    assert (config, list(config)) == (expected, list(expected))
    listing = v3.get(f"/topics/{two_partitions}/configs")
    assert listing["metadata"] == {"self": f"{v3.base}/topics/{two_partitions}/configs", "next": None}
    assert config in listing["data"]
    assert config in v3.get("/topics/-/configs")["data"]
    assert v3.ask("DELETE", path).status == 204
    wait_for_value(v3, two_partitions, default["value"])


def test_several_configs_are_changed_at_once(v3: V3Service, two_partitions: str) -> None:
    path = f"/topics/{two_partitions}/configs:alter"
    before = value_of(v3, two_partitions)
    changes = [{"name": RETENTION, "value": "7000"}, {"name": "cleanup.policy", "value": "compact"}]
    assert v3.ask("POST", path, {"data": changes, "validate_only": True}).status == 204
    assert value_of(v3, two_partitions) == before
    assert v3.ask("POST", path, {"data": changes}).status == 204
    wait_for_value(v3, two_partitions, "7000")
    assert value_of(v3, two_partitions, "cleanup.policy") == "compact"
    back = [{"name": RETENTION, "operation": "DELETE"}]
    assert v3.ask("POST", path, {"data": back}).status == 204
    wait_for_value(v3, two_partitions, before)


def test_configs_of_several_topics_are_changed_at_once(v3: V3Service, two_partitions: str) -> None:
    other = f"{two_partitions}-other"
    v3.create(other)
    wait_for(lambda: v3.ask("GET", f"/topics/{other}").status == 200, "the other topic")

    def change(first: str, second: str) -> dict[str, Any]:
        values = {two_partitions: first, other: second}
        topics = [{"topic_name": name, "configs": [{"name": RETENTION, "value": values[name]}]} for name in values]
        return {"data": topics}

    assert v3.ask("POST", "/topics/-/configs:alter", change("1000", "2000")).status == 204
    wait_for_value(v3, two_partitions, "1000")
    wait_for_value(v3, other, "2000")
    partly = v3.ask("POST", "/topics/-/configs:alter", change("long", "3000"))
    assert partly.status == 207
    (failure,) = partly.body["failures"]
    assert (failure["topic_name"], failure["error_code"]) == (two_partitions, 40002)
    wait_for_value(v3, other, "3000")


def test_a_broker_has_configs(v3: V3Service) -> None:
    path = "/brokers/1/configs"
    listing = v3.get(path)
    assert listing["metadata"]["self"] == f"{v3.base}{path}"
    names = [config["name"] for config in listing["data"]]
    assert names == sorted(names)
    config = v3.get(f"{path}/num.partitions")
    assert (config["kind"], config["broker_id"], config["value"]) == ("KafkaBrokerConfig", 1, "1")
    assert config["metadata"]["resource_name"] == f"{v3.name}/broker=1/config=num.partitions"
    assert v3.get("/brokers/-/configs")["data"] == listing["data"]


def test_a_value_that_hides_others_comes_first(v3: V3Service) -> None:
    path = "/brokers/1/configs/log.cleaner.threads"
    assert v3.ask("PUT", path, {"value": "2"}).status == 204
    changed = wait_for(lambda: (found := v3.get(path))["value"] == "2" and found, "two threads")
    assert changed["synonyms"] == [
        {"name": "log.cleaner.threads", "value": "2", "source": "DYNAMIC_BROKER_CONFIG"},
        {"name": "log.cleaner.threads", "value": "1", "source": "DEFAULT_CONFIG"},
    ]
    reset = {"data": [{"name": "log.cleaner.threads", "operation": "DELETE"}]}
    assert v3.ask("POST", "/brokers/1/configs:alter", reset).status == 204
    wait_for(lambda: v3.get(path)["value"] == "1", "one thread")


def test_what_all_brokers_have_in_common_is_told(v3: V3Service) -> None:
    listing = v3.get("/broker-configs")
    assert listing["kind"] == "KafkaClusterConfigList"
    for config in listing["data"]:
        assert config["source"] == "DYNAMIC_DEFAULT_BROKER_CONFIG"
        assert v3.get(f"/broker-configs/{config['name']}") == config
    assert v3.ask("GET", "/broker-configs/nope").status == 404


def test_what_all_brokers_have_in_common_is_changed(v3: V3Service) -> None:
    path, name = "/broker-configs/log.cleaner.io.buffer.size", "log.cleaner.io.buffer.size"

    def value() -> str | None:
        found = v3.ask("GET", path)
        return found.body["value"] if found.status == 200 else None

    assert v3.ask("PUT", path, {"value": "600000"}).status == 204
    wait_for(lambda: value() == "600000", "the value of a PUT")
    assert v3.get(f"/brokers/1/configs/{name}")["value"] == "600000"
    changes = [{"name": name, "value": "700000"}]
    assert v3.ask("POST", "/broker-configs:alter", {"data": changes, "validate_only": True}).status == 204
    assert value() == "600000"
    assert v3.ask("POST", "/broker-configs:alter", {"data": changes}).status == 204
    wait_for(lambda: value() == "700000", "the value of an alter")
    assert v3.ask("DELETE", path).status == 204
    wait_for(lambda: value() is None, "the end of the value")
    again = v3.ask("DELETE", path)
    message = f"Config {name} cannot be found for BROKER  in cluster {v3.cluster_id}."
    assert (again.status, again.body) == (404, {"error_code": 404, "message": message})


@pytest.mark.parametrize(
    ("name", "value"), [("log.cleaner.threads", "many"), ("node.id", "7")], ids=["no number", "not dynamic"]
)
def test_what_all_brokers_refuse_is_a_bad_request(v3: V3Service, name: str, value: str) -> None:
    refused = v3.ask("PUT", f"/broker-configs/{name}", {"value": value})
    assert (refused.status, refused.body["error_code"]) == (400, 40002)
    assert name in refused.body["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/topics/{topic}/configs/nope", None, 404, 404),
        ("PUT", "/topics/{topic}/configs/nope", {"value": "1"}, 404, 404),
        ("DELETE", "/topics/{topic}/configs/nope", None, 404, 404),
        ("PUT", "/topics/{topic}/configs/retention.ms", {"value": "long"}, 400, 40002),
        ("PUT", "/topics/{topic}/configs/retention.ms", {"value": None}, 400, 40002),
        ("PUT", "/topics/{topic}/configs/retention.ms", {"value": "1\0"}, 400, 400),
        ("PUT", "/topics/{topic}/configs/retention.ms", None, 422, 42206),
        ("GET", "/topics/no-such-topic/configs", None, 404, 40403),
        ("PUT", "/topics/no-such-topic/configs/retention.ms", {"value": "1"}, 404, 40403),
        ("POST", "/topics/{topic}/configs:alter", {}, 400, 400),
        ("POST", "/topics/{topic}/configs:alter", {"data": [{"name": "nope", "value": "1"}]}, 404, 404),
        ("POST", "/topics/{topic}/configs:alter", {"data": [{"name": "retention.ms"}]}, 400, 40002),
        ("POST", "/topics/{topic}/configs:alter", {"data": [{"name": "a", "operation": "APPEND"}]}, 400, 400),
        ("POST", "/topics/{topic}/configs:alter", {"data": [{"name": "a", "value": "1"}] * 2}, 400, 40002),
        ("POST", "/topics/-/configs:alter", {"data": [{"topic_name": "no-such-topic", "configs": []}]}, 404, 40403),
        ("POST", "/topics/-/configs:alter", {"data": [{"topic_name": "a", "configs": []}] * 2}, 400, 400),
        ("GET", "/brokers/1/configs/nope", None, 404, 404),
        ("GET", "/brokers/77/configs", None, 404, 404),
        ("PUT", "/brokers/77/configs/log.cleaner.threads", {"value": "1"}, 404, 404),
        ("PUT", "/brokers/1/configs/log.dirs", {"value": "/tmp"}, 400, 40002),
    ],
)
def test_bad_changes_are_refused(
    v3: V3Service, two_partitions: str, method: str, path: str, body: object, status: int, code: int
) -> None:
    answer = v3.ask(method, path.format(topic=two_partitions), body)
    assert (answer.status, answer.code) == (status, code), answer.raw


@pytest.mark.parametrize("path", ["/topics/{topic}/configs:alter", "/topics/-/configs:alter"])
def test_no_change_is_fine(v3: V3Service, two_partitions: str, path: str) -> None:
    assert v3.ask("POST", path.format(topic=two_partitions), {"data": []}).status == 204
