"""The jars of Spark's Kafka connector and of Avro, which pyspark does not carry."""

from __future__ import annotations

import logging
from typing import Final

from streams_sql.spark.installation.jar_sets import Artifact, JarSet, is_complete, provide

_logger = logging.getLogger(__name__)

# The connector's own dependencies are pinned here instead of resolved: the release of the token provider that the
# connector names is not on every mirror, and Spark brings all the rest.
SPARK: Final = JarSet(
    "spark",
    (
        Artifact(
            "org.apache.spark",
            "spark-sql-kafka-0-10_2.13",
            "4.2.0",
            "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
        ),
        Artifact(
            "org.apache.spark",
            "spark-token-provider-kafka-0-10_2.13",
            "4.0.0",
            "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
        ),
        Artifact(
            "org.apache.spark",
            "spark-avro_2.13",
            "4.1.1",
            "6a19d90bc3b6e88d8db0fa36a19273aa10fea2dbd7a62bb60e4cedd73051b32d",
        ),
        Artifact(
            "org.apache.kafka",
            "kafka-clients",
            "3.9.2",
            "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
        ),
        Artifact(
            "org.apache.commons",
            "commons-pool2",
            "2.13.1",
            "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
        ),
    ),
    transitive=False,
)


def class_path() -> str:
    """The jars as Spark's setting `spark.jars` takes them; they are fetched if they are not there."""
    if not is_complete(SPARK):
        _logger.warning("the jars of Spark's Kafka connector are fetched into %s", SPARK.folder())
    folder = provide(SPARK)
    return ",".join(str(folder / artifact.file_name) for artifact in SPARK.artifacts)
