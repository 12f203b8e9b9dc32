"""A Java runtime for the Java clients and for Spark."""

from __future__ import annotations

from deploy.java import ADVICE, provide
from streams_sql.spark.installation.java import JAVA_MINIMUM, find

__all__ = ["JAVA_MINIMUM", "find", "provide"]


def main() -> None:
    if provide() is None:
        print(
            f"Java {JAVA_MINIMUM} or newer is missing, and the tests of Java clients and Spark will be skipped; {ADVICE}"
        )


if __name__ == "__main__":
    main()
