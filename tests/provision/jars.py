"""Fetch the Java libraries that the tests and the benchmarks run: Apache Kafka's tools and Spark's Kafka connector.

Run it with `python -m tests.provision.jars`.
"""

from streams_sql.spark.installation.jar_sets import Artifact, JarError, JarSet, is_complete, provide
from streams_sql.spark.installation.jars import SPARK

__all__ = ["APICURIO", "KAFKA", "SPARK", "Artifact", "JarError", "JarSet", "is_complete", "provide"]

KAFKA = JarSet(
    "kafka-4.3.0",
    (
        Artifact("org.apache.kafka", "kafka_2.13", "4.3.0"),
        Artifact("org.apache.kafka", "kafka-tools", "4.3.0"),
        # Clients of the broker in the tests: a Connect worker with its file connectors, MirrorMaker, a word count on Streams.
        Artifact("org.apache.kafka", "connect-file", "4.3.0"),
        Artifact("org.apache.kafka", "connect-mirror", "4.3.0"),
        Artifact("org.apache.kafka", "kafka-streams-examples", "4.3.0"),
        # Kafka logs through slf4j 1.7, which is what log4j-slf4j-impl (not slf4j2-impl) serves.
        Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
        Artifact("org.apache.logging.log4j", "log4j-core", "2.25.4"),
    ),
    transitive=True,
)

# A whole program, not a class path: an archive to unpack. The benchmark of the registry fetches it, no test does.
APICURIO = JarSet(
    "apicurio-3.3.3",
    (
        Artifact(
            "io.apicurio",
            "apicurio-registry-app",
            "3.3.3",
            "8bc6751c76d963734224b01d5e7f84ccb3cb61c87d3bd77c36c35f10a5cbed63",
            classifier="all",
            extension="tar.gz",
        ),
    ),
    transitive=False,
)

SETS = (KAFKA, SPARK)


def main() -> None:
    for jars in SETS:
        if is_complete(jars):
            continue
        print(f"fetching the jars {jars.name} into {jars.folder()}", flush=True)
        try:
            provide(jars)
        except JarError as error:
            print(f"{error}\nThe tests that need these jars will be skipped.")


if __name__ == "__main__":
    main()
