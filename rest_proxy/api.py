"""The API as its OpenAPI document describes it."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.openapi import Api
from barnabas.kernel.http.schema import INT32, NAME, TOPIC_NAME

API: Final = Api(
    "Barnabas REST Proxy",
    # Of the newest API that is described, not of the service: clients need not care for that.
    "3",
    "Kafka over HTTP: produce, consume, stream and administer.",
    {
        "broker_id": (INT32, "The number of a broker."),
        "cluster_id": (NAME, "The id of the cluster, as /v3/clusters lists it."),
        "consumer_id": (NAME, "The id of a member of the group."),
        "group": (NAME, "A consumer group."),
        "group_id": (NAME, "A consumer group."),
        "instance": (NAME, "The consumer instance, as it was named when it was opened."),
        "name": (NAME, "The name of a config."),
        "partition": (INT32, "The number of a partition."),
        "partition_id": (INT32, "The number of a partition."),
        "topic": (TOPIC_NAME, "The name of a topic."),
        "topic_name": (TOPIC_NAME, "The name of a topic."),
    },
)
