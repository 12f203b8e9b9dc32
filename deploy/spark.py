"""What Spark needs beyond its Python package, Java and the jars of its Kafka connector: `python -m deploy.spark`. Quick when all is there."""

from __future__ import annotations

from deploy import java
from streams_sql.spark.jar_sets import JarError, is_complete, provide
from streams_sql.spark.jars import SPARK
from streams_sql.spark.java import JAVA_MINIMUM


def main() -> None:
    """Whatever cannot be had is named. The platform starts all the same: its SQL server tries again, and tells of it."""
    if java.provide() is None:
        print(f"Java {JAVA_MINIMUM} or newer is missing, and SQL queries wait for it; {java.ADVICE}")
        return
    if is_complete(SPARK):
        return
    print(f"fetching the jars of Spark's Kafka connector into {SPARK.folder()}", flush=True)
    try:
        provide(SPARK)
    except JarError as error:
        print(f"{error}\nSQL queries wait for these jars.")


if __name__ == "__main__":
    main()
