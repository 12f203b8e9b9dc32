from __future__ import annotations

from benchmarks import report
from benchmarks.report import Results
from benchmarks.rows import Metric, OwnRow, Row
from benchmarks.spread import at_least

ROW: Row = OwnRow("speed", (Metric("mb_s", "produce", "MB/s", at_least(1.5), "floor_mb_s"),), lambda *_: {})
SETTINGS: report.Json = {"quick": False, "repeat": 3, "seconds": 1}


def results(ours: list[float], kafka: list[float]) -> Results:
    found = Results(floor=[{"floor_mb_s": 390.0}, {"floor_mb_s": 400.0}])
    for value in ours:
        found.add("speed", "ours", {"mb_s": value})
    for value in kafka:
        found.add("speed", "kafka", {"mb_s": value})
    return found


def test_a_line_shows_both_sides_the_ratio_the_verdict_and_the_floor() -> None:
    line = report.line(results([190, 200, 300], [90, 100, 110]), ROW, ROW.metrics[0])
    assert line == "| produce, MB/s | 200 (190-300) | 100 (90-110) | 2.00 | ≥ 1.5 | hit | 400 | 0.50 |"


def test_the_floor_is_the_best_of_its_turns() -> None:
    turns = [{"sent_mb_s": 100.0, "p50_us": 30.0}, {"sent_mb_s": 200.0, "p50_us": 50.0}]
    assert Results(floor=turns).best_floor("sent_mb_s") == 200
    assert Results(floor=turns).best_floor("p50_us") == 30
    assert Results().best_floor("sent_mb_s") is None


def test_a_missed_target_stands_out_and_is_listed() -> None:
    found = results([100], [100])
    assert "**missed**" in report.line(found, ROW, ROW.metrics[0])
    assert report.misses(found, [ROW]) == ["speed, produce: 1.00, target ≥ 1.5"]


def test_one_side_alone_has_no_ratio_and_misses_nothing() -> None:
    found = results([], [100])
    assert report.line(found, ROW, ROW.metrics[0]) == "| produce, MB/s | - | 100 | - | ≥ 1.5 |  | 400 |  |"
    assert report.misses(found, [ROW]) == []


def test_a_row_that_failed_says_why() -> None:
    found = Results(failures={"speed": "ours: OSError: no room"})
    assert "**failed**: ours: OSError: no room" in report.table(found, [ROW])


def test_the_document_holds_every_measurement() -> None:
    (line,) = report.document(results([190, 200, 300], [100]), [ROW], SETTINGS)["lines"]
    assert (line["ours"], line["kafka"], line["ratio"], line["verdict"]) == ((190, 200, 300), (100,), 2.0, "hit")


def test_the_page_counts_missed_targets() -> None:
    assert "Missed targets: 1." in report.page(results([100], [100]), [ROW], SETTINGS)
    assert "No target missed." in report.page(results([200], [100]), [ROW], SETTINGS)


def test_numbers_keep_three_digits_or_all_of_the_integer() -> None:
    assert [report.number(value) for value in (0.12345, 12.345, 1234.5, 1234567.0)] == [
        "0.123",
        "12.3",
        "1,234",
        "1,234,567",
    ]
