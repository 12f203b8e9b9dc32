"""Our tools print what Kafka's own do: every scenario beside what was recorded with Kafka's tools on Apache Kafka.

With `--broker kafka` ours run on Apache Kafka, too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kafka_tools.fresh_broker import play, started
from tests.kafka_tools.scenario import Scenario, differences, run_ours
from tests.kafka_tools.scenarios import SCENARIOS


@pytest.fixture(params=SCENARIOS, ids=lambda scenario: scenario.name)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    found = request.param
    assert isinstance(found, Scenario)
    return found


def test_the_tools_print_and_return_what_kafkas_do(
    scenario: Scenario, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    expected = scenario.recorded()
    (tmp_path / "files").mkdir()
    for kind in request.config.getoption("--broker") or ["ours"]:
        java = request.getfixturevalue("java") if kind == "kafka" else None
        jars = request.getfixturevalue("kafka_jars") if kind == "kafka" else None
        with started(kind, tmp_path / kind, java, jars) as broker:
            found = differences(play(scenario, broker, tmp_path / "files", run_ours, expected), expected)
        assert found == [], f"on {kind}:\n" + "\n".join(found)


def test_each_line_of_a_scenario_has_been_recorded(scenario: Scenario) -> None:
    lines = [line for line in scenario.lines if not line.startswith("produce ")]
    assert [outcome.line for outcome in scenario.recorded()] == lines
