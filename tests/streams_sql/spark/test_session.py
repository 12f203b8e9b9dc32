"""What Spark's Java is started with."""

from __future__ import annotations

import pytest

from streams_sql.spark.driver.session import java_options

OPTIONS = "spark.driver.extraJavaOptions"
SMALL_HEAP = "-XX:+UseSerialGC"


def test_options_of_the_user_come_last() -> None:
    assert java_options({OPTIONS: "-Dx=1"}).endswith(f"{SMALL_HEAP} -Dx=1")


@pytest.mark.parametrize(
    "settings", [{OPTIONS: "-XX:+UseZGC -Dx=1"}, {OPTIONS: "-Xmx4g"}, {"spark.driver.memory": "4g"}]
)
def test_a_large_heap_or_a_collector_of_the_users_is_left_alone(settings: dict[str, str]) -> None:
    assert SMALL_HEAP not in java_options(settings)
