"""Record what Kafka's own tools print: `python -m tests.kafka_tools.recording [--check] [SCENARIO …]`.

Each scenario runs on a fresh Apache Kafka with Kafka's tools, whose outcome is written to `recorded/`. Then it runs with our tools on
another fresh Apache Kafka and on a broker of ours: both must be alike. With --check nothing is recorded anew.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from pathlib import Path

from tests.clients.java_client import JavaTools
from tests.kafka_tools.fresh_broker import play, started
from tests.kafka_tools.scenario import Outcome, Scenario, differences, run_java, run_ours
from tests.kafka_tools.scenarios import SCENARIOS
from tests.provision import jars
from tests.provision import java as java_runtime


def main() -> int:
    parser = argparse.ArgumentParser(description="Record what Kafka's own tools print.")
    parser.add_argument("--check", action="store_true", help="compare ours with what was recorded before")
    parser.add_argument("scenario", nargs="*")
    arguments = parser.parse_args()
    home = java_runtime.find()
    if home is None:
        sys.exit("no Java runtime was found; set JAVA_HOME")
    tools = JavaTools(home / "bin" / "java", jars.provide(jars.KAFKA))
    wanted = [one for one in SCENARIOS if not arguments.scenario or one.name in arguments.scenario]
    failed = 0
    for scenario in wanted:
        if not arguments.check:
            _record(scenario, tools)
        for kind in ("kafka", "ours"):
            found = differences(_played(kind, scenario, tools, use_java=False), scenario.recorded())
            failed += len(found)
            for text in found:
                sys.stderr.write(f"{scenario.name} on {kind}: {text}\n")
    return 1 if failed else 0


def _record(scenario: Scenario, tools: JavaTools) -> None:
    outcomes = _played("kafka", scenario, tools, use_java=True)
    scenario.recording.parent.mkdir(exist_ok=True)
    text = json.dumps([dataclasses.asdict(outcome) for outcome in outcomes], indent=1, ensure_ascii=False)
    scenario.recording.write_text(text + "\n")


def _played(kind: str, scenario: Scenario, tools: JavaTools, *, use_java: bool) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with started(kind, folder / "broker", tools.java, tools.jars) as broker:
            (folder / "files").mkdir()
            return play(
                scenario,
                broker,
                folder / "files",
                (lambda line, places: run_java(tools, line, places)) if use_java else run_ours,
                None if use_java else scenario.recorded(),
            )


if __name__ == "__main__":
    sys.exit(main())
