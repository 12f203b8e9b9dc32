"""What Spark's processes write as text is in our log, and what their Kafka clients tell is there once."""

from __future__ import annotations

import logging

import pytest

from streams_sql.spark.driver.lines import log_line


def test_clients_of_many_workers_tell_of_a_lost_broker_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log_line("%4|1700000000.1|REBALANCED|rdkafka#consumer-9| [thrd:main]: told before anything else")
    for number in range(5):
        log_line(f"%6|1700000000.{number}|GONE|rdkafka#producer-{number}| [thrd:a]: 127.0.0.1:9092/1: Disconnected")
    log_line("an exception of somebody's")
    log_line("Setting default log level to WARN")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "REBALANCED rdkafka#consumer-9| [thrd:main]: told before anything else"),
        ("INFO", "GONE rdkafka#producer-0| [thrd:a]: 127.0.0.1:9092/1: Disconnected"),
        ("INFO", "spark: an exception of somebody's"),
    ]
