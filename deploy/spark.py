"""What Spark needs beyond its Python package: Java, the jars of its Kafka connector, an archive of its classes. `python -m deploy.spark`

It is quick when all is there.
"""

from __future__ import annotations

from deploy import java
from streams_sql.spark.installation import class_archive
from streams_sql.spark.installation.jar_sets import JarError, is_complete, provide
from streams_sql.spark.installation.jars import SPARK
from streams_sql.spark.installation.java import JAVA_MINIMUM


def main() -> None:
    """Whatever cannot be had is named. The platform starts all the same: its SQL server tries again, and tells of it."""
    java_home = java.provide()
    if java_home is None:
        print(f"Java {JAVA_MINIMUM} or newer is missing, and SQL queries wait for it; {java.ADVICE}")
        return
    if not is_complete(SPARK):
        print(f"fetching the jars of Spark's Kafka connector into {SPARK.folder()}", flush=True)
        try:
            provide(SPARK)
        except JarError as error:
            print(f"{error}\nSQL queries wait for these jars.")
            return
    if class_archive.is_missing(java_home):
        print("preparing Spark's classes, so that it starts in half the time", flush=True)
        if not class_archive.provide(java_home):
            print("They could not be prepared. SQL queries run all the same.")


if __name__ == "__main__":
    main()
