"""Log lines that come again and again."""

import logging

from rest_proxy.kafka.repeated_lines import LINES_KEPT_MAX, SAID_AGAIN_AFTER_S, RepeatedLines


def line(text: str) -> logging.LogRecord:
    return logging.LogRecord("librdkafka", logging.ERROR, "", 0, text, None, None)


def test_a_line_is_said_once_and_again_after_a_while() -> None:
    now_s = 0.0
    lines = RepeatedLines(lambda: now_s)
    assert lines.filter(line("broker: refused (after 1ms in state CONNECT)"))
    assert not lines.filter(line("broker: refused (after 2ms in state CONNECT)"))
    assert lines.filter(line("broker: closed"))
    now_s = SAID_AGAIN_AFTER_S
    assert lines.filter(line("broker: refused (after 3ms in state CONNECT)"))


def test_lines_that_are_all_different_are_not_kept_for_ever() -> None:
    lines = RepeatedLines(lambda: 0.0)
    assert all(lines.filter(line(str(number))) for number in range(LINES_KEPT_MAX))
    assert not lines.filter(line("0"))
    assert lines.filter(line("one more"))
    assert lines.filter(line("0"))
