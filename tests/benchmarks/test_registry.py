from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import comparison, karapace
from benchmarks.apicurio import Apicurio
from benchmarks.comparison import Aim, Comparison, Metric
from benchmarks.karapace import Karapace
from benchmarks.registries import Name, OurRegistry, PeerMissing
from benchmarks.registry_rows import LIFE_ROWS, LOAD_ROWS, LifeRow, Row, sample
from benchmarks.spread import at_least, at_most

HOME = Path("home")
RATE = Metric("requests_s", "read", "req/s", (Aim(at_least(5), "apicurio"), Aim(at_least(30), "karapace")))
MEMORY = Metric("mb", "memory", "MB", (Aim(at_most(120)),))
ROW = LifeRow("speed", (RATE, MEMORY), lambda *_: {})
SETTINGS = {"quick": False, "repeat": 3, "seconds": 1}


def compared(**figures: list[float]) -> Comparison:
    """The rates of each contestant; ours takes 150 MB."""
    found = Comparison((OurRegistry(HOME), Apicurio(HOME), Karapace(HOME)), (ROW,))
    names: tuple[Name, ...] = ("ours", "apicurio", "karapace")
    for name in names:
        for value in figures.get(name, []):
            found.results.add("speed", name, {"requests_s": value} | ({"mb": 150.0} if name == "ours" else {}))
    return found


def test_a_line_shows_every_registry_its_ratio_and_its_target() -> None:
    found = compared(ours=[9_000, 12_000, 15_000], apicurio=[2_000], karapace=[1_000])
    assert comparison.line(found, ROW, RATE) == (
        "| read, req/s | 12,000 (9,000-15,000) | 2,000 | 1,000 | 6.00 | 12.00 "
        "| ≥ 5 times Apicurio 3.3.3: hit, ≥ 30 times Karapace: **missed** |"
    )


def test_a_peer_without_a_figure_has_no_ratio_and_no_verdict() -> None:
    line = comparison.line(compared(ours=[100], karapace=[2]), ROW, RATE)
    assert line == "| read, req/s | 100 | - | 2 | - | 50.00 | ≥ 30 times Karapace: hit |"


def test_a_bound_on_the_figure_itself_needs_no_peer() -> None:
    assert comparison.misses(compared(ours=[100])) == ["speed, memory: 150, target ≤ 120"]


def test_the_page_tells_who_is_missing_what_failed_and_what_was_missed() -> None:
    found = compared(ours=[100], karapace=[10])
    found.absent["apicurio"] = "no Java"
    found.results.failures["speed"] = "Karapace: TimeoutError: waited\nin vain"
    page = comparison.page(found, SETTINGS, ())
    assert "Left out: apicurio: no Java" in page
    assert "**failed**: Karapace: TimeoutError: waited in vain |" in page
    assert "Missed targets: 2.\n* speed, read: 10, target ≥ 30 times Karapace" in page


def test_a_peer_that_is_left_out_is_not_judged() -> None:
    found = Comparison((OurRegistry(HOME),), (ROW,))
    found.results.add("speed", "ours", {"requests_s": 1.0, "mb": 1.0})
    assert "No target missed." in comparison.page(found, SETTINGS, ())


def test_the_document_holds_every_measurement() -> None:
    document = comparison.document(compared(ours=[100, 300, 200], apicurio=[100], karapace=[2]), SETTINGS)
    assert document["lines"][0]["ratios"] == {"apicurio": 2.0, "karapace": 100.0}
    assert document["lines"][0]["targets"] == {"≥ 5 times Apicurio 3.3.3": "missed", "≥ 30 times Karapace": "hit"}
    assert [figures["requests_s"] for figures in document["figures"]["speed"]["ours"]] == [100, 300, 200]


def test_every_row_has_a_name_of_its_own() -> None:
    rows: list[Row] = [*LOAD_ROWS, *LIFE_ROWS]
    names = [row.name for row in rows]
    assert len(set(names)) == len(names)


def test_a_sample_is_spread_over_all_schemas_and_has_the_last_one() -> None:
    words = sample(1_000)
    assert (len(words), words[0], words[-1]) == (100, "10", "1000")


def test_karapace_is_asked_for_when_it_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(PeerMissing, match="--karapace FOLDER"):
        karapace.find(HOME, None)
    with pytest.raises(PeerMissing, match=r"no pyproject\.toml"):
        karapace.find(HOME, tmp_path)


def test_a_dependency_at_an_address_becomes_a_released_one() -> None:
    assert karapace.released("avro @ https://example.org/avro.tar.gz#subdirectory=lang/py") == "avro"
    assert karapace.released("aiokafka<0.13.0") == "aiokafka<0.13.0"
