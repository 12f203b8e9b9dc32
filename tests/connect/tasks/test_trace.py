"""What a status tells about a failure."""

from __future__ import annotations

from connect.tasks.trace import trace_of


def failed() -> ValueError:
    try:
        try:
            raise OSError("no disk")
        except OSError as error:
            raise ValueError("no file named hush") from error
    except ValueError as error:
        return error


def test_each_cause_is_told_once_and_each_place() -> None:
    trace = trace_of(failed(), secrets=("hush",))
    first, second, blank, *places = trace.splitlines()
    assert second == "Caused by: OSError: no disk"
    assert first.startswith("ValueError: no file named ")
    assert (blank, trace.count("no disk"), "hush" in trace) == ("", 2, False)
    assert [line for line in places if line.startswith("Where ")] == [
        "Where ValueError came up (most recent call last):",
        "Where OSError came up (most recent call last):",
    ]
